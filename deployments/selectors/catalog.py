"""One model of the catalog as its page shows it: the settings that documents give."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.serving import ServingProfile

LAYOUT = (
    ("tensor_parallel_size", "--tensor-parallel-size"),
    ("data_parallel_size", "--data-parallel-size"),
    ("data_parallel_size_local", "--data-parallel-size-local"),
    ("max_model_len", "--max-model-len"),
    ("max_num_seqs", "--max-num-seqs"),
    ("max_num_batched_tokens", "--max-num-batched-tokens"),
    ("gpu_memory_utilization", "--gpu-memory-utilization"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedSettings:
    """Settings that a document gives, with whom they are for, as lines of a command."""

    profile: ServingProfile
    text: str


def documented_settings(entry: CatalogEntry) -> tuple[DocumentedSettings, ...]:
    """The serving settings of an entry as a person would type them."""
    return tuple(
        DocumentedSettings(profile=profile, text="\n".join(_lines(profile)))
        for profile in entry.serving
    )


def _lines(profile: ServingProfile) -> Iterator[str]:
    for name, value in sorted(profile.environment.items()):
        yield f"{name}={value}"
    for field, flag in LAYOUT:
        value = getattr(profile, field)
        if value is not None:
            yield f"{flag} {value}"
    if profile.expert_parallel:
        yield "--enable-expert-parallel"
    for flag, argument in profile.flags.items():
        yield flag if argument is True else f"{flag} {_argument(argument)}"
    if profile.kv_connector:
        yield f"kv_connector {profile.kv_connector}"


def _argument(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return str(value)
