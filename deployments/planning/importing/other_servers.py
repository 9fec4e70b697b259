"""Launches of other servers: enough of their speculation to say what is asked for."""

import re

from deployments.planning.canonical import Json
from deployments.planning.importing.arguments import Arguments
from deployments.planning.importing.launch import ATOM, SGLANG
from deployments.planning.importing.speculation import Speculation, normalised

SGLANG_PARTS = (
    "--speculative-num-steps",
    "--speculative-eagle-topk",
    "--speculative-num-draft-tokens",
)
_SGLANG = {
    "--speculative-algorithm": "method",
    "--speculative-draft-model-path": "model",
    "--speculative-num-draft-tokens": "num_speculative_tokens",
}
_ATOM = {
    "--method": "method",
    "--num-speculative-tokens": "num_speculative_tokens",
    "--draft-model": "model",
}


def other_speculation(program: str, arguments: Arguments) -> Speculation | None:
    """Return how SGLang or ATOM drafts; ``None`` for other programs and without drafting."""
    names = {SGLANG: _SGLANG, ATOM: _ATOM}.get(program, {})
    config: dict[str, Json] = {}
    for one in arguments.flags:
        if one.name in names and one.value is not None:
            config[names[one.name]] = (
                int(one.value) if re.fullmatch(r"-?\d{1,9}", one.value) else one.value
            )
    method, count, model = (
        config.get(key) for key in ("method", "num_speculative_tokens", "model")
    )
    if method is None and model is None:
        return None
    return Speculation(
        method=normalised(method) if isinstance(method, str) else None,
        method_as_written=method if isinstance(method, str) else None,
        num_speculative_tokens=count if isinstance(count, int) else None,
        drafter=model if isinstance(model, str) else None,
        drafter_resolved=model if isinstance(model, str) else None,
        config=config,
    )
