"""The nearest known name for a flag, key, method or metric that a version does not know."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from deployments.planning.engines.definition import EngineProfile
from deployments.planning.engines.profile import profiles_of
from deployments.planning.methods import Method

LIKENESS = 0.72
"""How alike two names must be (0 to 1) to be offered; lower, and unrelated flags turn up."""
FLAG_SUCCESSORS = {
    "--speculative-model": "--speculative-config",
    "--num-speculative-tokens": "--speculative-config",
    "--speculative-draft-tensor-parallel-size": "--speculative-config",
    "--speculative-max-model-len": "--speculative-config",
    "--speculative-disable-by-batch-size": "--speculative-config",
    "--speculative-disable-mqa-scorer": "--speculative-config",
    "--speculative-model-quantization": "--speculative-config",
    "--speculative-token-tree": "--speculative-config",
    "--ngram-prompt-lookup-max": "--speculative-config",
    "--ngram-prompt-lookup-min": "--speculative-config",
    "--disable-log-requests": "--no-enable-log-requests",
    "--guided-decoding-backend": "--structured-outputs-config",
    "--cuda-graph-sizes": "--cudagraph-capture-sizes",
    "--rope-scaling": "--hf-overrides",
    "--rope-theta": "--hf-overrides",
    "--task": "--runner",
}
"""What took a removed flag's place (vLLM sources and release notes, 0.8.5 to 0.33.0)."""
KEY_SUCCESSORS = {
    "disable_by_batch_size": "num_speculative_tokens_per_batch_size",
    "ngram_prompt_lookup_max": "prompt_lookup_max",
    "ngram_prompt_lookup_min": "prompt_lookup_min",
    "num_spec_tokens": "num_speculative_tokens",
    "speculative_model": "model",
    "synthetic_acceptance_rate": "synthetic_acceptance_rates",
    "tensor_parallel_size": "draft_tensor_parallel_size",
}
"""What took a removed or mistaken key's place (vLLM sources, 0.8.5 to 0.33.0)."""
METRIC_SUCCESSORS = {
    "vllm:gpu_cache_usage_perc": "vllm:kv_cache_usage_perc",
    "vllm:gpu_prefix_cache_hits_total": "vllm:prefix_cache_hits_total",
    "vllm:gpu_prefix_cache_queries_total": "vllm:prefix_cache_queries_total",
    "vllm:time_per_output_token_seconds": "vllm:request_time_per_output_token_seconds",
}
"""What took a removed metric's place (vLLM sources, 0.8.5 to 0.33.0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSpan:
    """The oldest and the newest shipped release of an engine that know a name."""

    first: str
    last: str


def nearest_flag(profile: EngineProfile, flag: str) -> str | None:
    """The flag that was probably meant, ``None`` if nothing is like it."""
    plain = _as_flag(flag)
    if profile.knows(plain):
        return plain
    known = (*profile.flags, *profile.switches, *profile.negated)
    successor = FLAG_SUCCESSORS.get(plain)
    if successor is not None and successor in known:
        return successor
    return _nearest(plain, (name for name in known if name.startswith("--")))


def nearest_key(profile: EngineProfile, key: str) -> str | None:
    """The key of the speculative config that was probably meant, ``None`` if nothing is like it."""
    plain = key.strip().lower().replace("-", "_")
    successor = KEY_SUCCESSORS.get(plain)
    if successor is not None and successor in profile.speculative_keys:
        return successor
    return _nearest(plain, profile.speculative_keys)


def nearest_method(profile: EngineProfile, spelling: str) -> str | None:
    """The spelling of a method that was probably meant, one that runs and is not deprecated."""
    plain = spelling.strip().strip("[]").lower().replace("-", "_")
    running = [one.name for one in profile.spellings if one.runs and not one.deprecated]
    if plain.endswith("mtp") and Method.MTP in profile.methods:
        return profile.spell(Method.MTP)
    return _nearest(plain, running)


def nearest_metric(profile: EngineProfile, name: str) -> str | None:
    """The metric that was probably meant or took its place, ``None`` if nothing is like it."""
    known = [metric.name for metric in profile.metrics if not metric.hidden]
    successor = METRIC_SUCCESSORS.get(name)
    return successor if successor in known else _nearest(name, known)


def flag_span(engine: str, flag: str) -> KnownSpan | None:
    """The releases between which a flag is known, ``None`` if no shipped profile knows it."""
    return _span(one for one in profiles_of(engine) if one.knows(_as_flag(flag)))


def key_span(engine: str, key: str) -> KnownSpan | None:
    """The releases between which a key of the speculative config is known."""
    return _span(one for one in profiles_of(engine) if one.knows_key(key))


def method_span(engine: str, spelling: str) -> KnownSpan | None:
    """The releases between which a spelling of a method is taken and runs."""
    return _span(
        one
        for one in profiles_of(engine)
        if (found := one.spelling(spelling)) is not None and found.runs
    )


def _span(profiles: Iterable[EngineProfile]) -> KnownSpan | None:
    versions = [one.version for one in profiles]
    return KnownSpan(first=versions[0], last=versions[-1]) if versions else None


def _as_flag(flag: str) -> str:
    """The long spelling: dashes for underscores, dotted keys and ``=value`` cut off."""
    head = flag.strip().partition("=")[0].partition(".")[0]
    if head.startswith("-") and not head.startswith("--"):
        return head
    return "--" + head.lstrip("-").replace("_", "-")


def _nearest(name: str, known: Iterable[str]) -> str | None:
    found = get_close_matches(name, list(known), n=1, cutoff=LIKENESS)
    return found[0] if found else None
