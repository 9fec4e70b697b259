"""Whether a config.json is a drafter's, of which method, and what target it was trained for."""

import re
from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.methods import Method
from deployments.planning.model_config.values import Config
from deployments.planning.text import Text, text

_SPECULATORS = {
    "eagle": Method.EAGLE,
    "eagle3": Method.EAGLE3,
    "peagle": Method.EAGLE3,
    "dflash": Method.DFLASH,
    "dspark": Method.DSPARK,
    "mlp_speculator": Method.MLP_SPECULATOR,
}
_ARCHITECTURES = (
    (re.compile(r"Eagle3|EAGLE3|PEagle|Peagle"), Method.EAGLE3),
    (re.compile(r"^Eagle|EagleModel$|EagleForCausalLM$"), Method.EAGLE),
    (re.compile(r"DFlash"), Method.DFLASH),
    (re.compile(r"DSpark"), Method.DSPARK),
    (re.compile(r"Medusa"), Method.MEDUSA),
    (re.compile(r"MLPSpeculator"), Method.MLP_SPECULATOR),
    (re.compile(r"^Gemma4\w*Assistant"), Method.MTP),
)
"""Names in the registry of vLLM 0.32.0."""
_TYPES = {
    "medusa": Method.MEDUSA,
    "mlp_speculator": Method.MLP_SPECULATOR,
    "eagle": Method.EAGLE,
    "gemma4_assistant": Method.MTP,
    "gemma4_unified_assistant": Method.MTP,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DrafterReading:
    """What the file says of a drafter.

    ``hidden_size`` is the width of the target's states that it reads, ``vocabulary_size`` the
    target's. ``verifier`` is the target that a speculators file names.
    """

    method: Method | None
    because: Text
    hidden_size: int | None = None
    vocabulary_size: int | None = None
    draft_vocabulary_size: int | None = None
    num_speculative_tokens: int | None = None
    verifier: str | None = None
    verifier_architectures: tuple[str, ...] = ()


def read_drafter(
    whole: Config, architectures: tuple[str, ...]
) -> DrafterReading | None:
    """Recognise a drafter; ``None`` for a model that serves by itself."""
    if whole.inner("speculators_config") is not None or whole.has(
        "speculators_model_type"
    ):
        return _speculators(whole)
    named = _named(whole, architectures)
    if named is None:
        return None
    method, because = named
    own = whole.inner("eagle_config") or whole.inner("dflash_config") or whole
    return DrafterReading(
        method=method,
        because=because,
        hidden_size=whole.count("target_hidden_size")
        or own.count("target_hidden_size")
        or whole.count("hidden_size"),
        vocabulary_size=whole.count("target_vocab_size", "vocab_size"),
        draft_vocabulary_size=whole.count("draft_vocab_size"),
        num_speculative_tokens=whole.count("block_size", "n_predict")
        if method in {Method.DSPARK, Method.DFLASH, Method.MLP_SPECULATOR}
        else None,
    )


def _named(whole: Config, architectures: tuple[str, ...]) -> tuple[Method, Text] | None:
    for name in architectures:
        for pattern, method in _ARCHITECTURES:
            if pattern.search(name):
                return method, text("architecture {name}", name=name)
    kind = whole.name("model_type") or ""
    if kind in _TYPES:
        return _TYPES[kind], text("model_type {name}", name=kind)
    if whole.has("draft_vocab_size"):
        return Method.EAGLE3, text("draft_vocab_size, which EAGLE-3 heads have")
    if whole.inner("dflash_config") is not None:
        return Method.DFLASH, text("dflash_config")
    if whole.has("medusa_num_heads"):
        return Method.MEDUSA, text("medusa_num_heads")
    return None


def _speculators(whole: Config) -> DrafterReading:
    settings = whole.inner("speculators_config") or Config({}, "speculators_config")
    written = whole.name("speculators_model_type") or settings.name("algorithm") or ""
    layer = whole.inner("transformer_layer_config") or whole
    verifier = settings.inner("verifier") or Config({}, "verifier")
    return DrafterReading(
        method=_SPECULATORS.get(written.lower()),
        because=text("speculators format, type {name}", name=written or "?"),
        hidden_size=whole.count("target_hidden_size") or layer.count("hidden_size"),
        vocabulary_size=whole.count("target_vocab_size") or layer.count("vocab_size"),
        draft_vocabulary_size=whole.count("draft_vocab_size"),
        num_speculative_tokens=_proposed(settings.values.get("proposal_methods")),
        verifier=verifier.name("name_or_path"),
        verifier_architectures=verifier.names("architectures"),
    )


def _proposed(methods: Json) -> int | None:
    first = methods[0] if isinstance(methods, list) and methods else None
    if not isinstance(first, dict):
        return None
    return Config(first).count("speculative_tokens") or None
