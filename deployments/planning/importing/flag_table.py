"""How flags of ``vllm serve`` are written: long names, short names, and which take a value."""

import functools
from dataclasses import dataclass

from deployments.planning.engines.accepted import Flag, ValueKind
from deployments.planning.engines.profile import shipped_profiles

OLD_SPECULATIVE = {
    "--speculative-model": "model",
    "--num-speculative-tokens": "num_speculative_tokens",
    "--speculative-draft-tensor-parallel-size": "draft_tensor_parallel_size",
    "--speculative-max-model-len": "max_model_len",
    "--speculative-disable-by-batch-size": "disable_by_batch_size",
    "--speculative-model-quantization": "quantization",
    "--ngram-prompt-lookup-max": "prompt_lookup_max",
    "--ngram-prompt-lookup-min": "prompt_lookup_min",
}
"""Flags up to vLLM 0.8.2 and the key that each became (vLLM sources 0.6.6 to 0.8.5)."""

_OLD = (
    *(Flag(name=name) for name in OLD_SPECULATIVE),
    Flag(name="--speculative-disable-mqa-scorer", kind=ValueKind.SWITCH),
    Flag(name="--spec-decoding-acceptance-method"),
    Flag(name="--typical-acceptance-sampler-posterior-threshold"),
    Flag(name="--typical-acceptance-sampler-posterior-alpha"),
    Flag(name="--disable-logprobs-during-spec-decoding", kind=ValueKind.SWITCH),
    Flag(name="--use-v2-block-manager", kind=ValueKind.SWITCH),
    Flag(name="--disable-log-requests", kind=ValueKind.SWITCH),
    Flag(name="--engine-use-ray", kind=ValueKind.SWITCH),
    Flag(name="--worker-use-ray", kind=ValueKind.SWITCH),
    Flag(name="--num-scheduler-steps"),
    Flag(name="--guided-decoding-backend"),
    Flag(name="--enable-reasoning", kind=ValueKind.SWITCH),
    Flag(name="--swap-space"),
    Flag(name="--task"),
)
OLD_NAMES = frozenset(flag.name for flag in _OLD)
_SHORT = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-dp": "--data-parallel-size",
    "-sc": "--speculative-config",
    "-q": "--quantization",
    "-O": "--compilation-config",
    "-cc": "--compilation-config",
    "-ep": "--enable-expert-parallel",
}


@dataclass(frozen=True, slots=True)
class FlagTable:
    """Every flag that any shipped version knows, by every spelling."""

    by_name: dict[str, Flag]
    negated: frozenset[str]

    def canonical(self, written: str) -> str:
        """Return the long name with dashes; a dotted key stays behind its flag."""
        name, dot, rest = written.partition(".")
        name = _SHORT.get(name, name)
        if name.startswith("--"):
            name = name.replace("_", "-")
        if name.startswith("--no-") and name in self.negated:
            return name
        flag = self.by_name.get(name)
        return (flag.name if flag else name) + dot + rest

    def flag(self, canonical: str) -> Flag | None:
        """Return the flag of a canonical name without its dotted key."""
        return self.by_name.get(canonical.partition(".")[0])

    def takes_value(self, canonical: str) -> bool | None:
        """Whether a value follows; ``None`` for a flag that no version knows."""
        if "." in canonical:
            return True
        if canonical in self.negated:
            return False
        flag = self.flag(canonical)
        return None if flag is None else flag.takes_value

    def takes_several(self, canonical: str) -> bool:
        """Whether several words may follow."""
        flag = self.flag(canonical)
        return flag is not None and flag.many


@functools.cache
def flag_table() -> FlagTable:
    """Return the table of the shipped versions, newest spelling first."""
    by_name: dict[str, Flag] = {flag.name: flag for flag in _OLD}
    negated: set[str] = set()
    for profile in shipped_profiles():
        for flag in profile.arguments:
            by_name.update(dict.fromkeys(flag.names, flag))
            if flag.negated:
                negated.add(flag.negated)
    return FlagTable(by_name, frozenset(negated))
