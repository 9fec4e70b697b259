"""ServingProfile: settings that documents give for serving a model, merged for one replica."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from pydantic import ConfigDict

from deployments.planning.canonical import Json
from deployments.planning.plan import Role

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingProfile:
    """Documented settings for the replicas that its selectors match; empty selectors match all.

    Layout fields count what the documents show: ``data_parallel_size_local`` ranks on each host
    of an instance that has ``data_parallel_size`` ranks. ``context_from`` holds for a person's
    max_model_len from that many tokens on. ``flags`` maps a flag to its value
    (``true`` is a switch, an object is passed as compact JSON); decimals are text.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    source: str
    platforms: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    methods: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()
    hosts: int | None = None
    context_from: int | None = None
    tensor_parallel_size: int | None = None
    data_parallel_size: int | None = None
    data_parallel_size_local: int | None = None
    expert_parallel: bool | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization: str | None = None
    kv_connector: str | None = None
    kv_connector_extra: dict[str, Json] = field(default_factory=dict)
    shm_size_bytes: int | None = None
    flags: dict[str, Json] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def matches(self, wanted: "ServingQuery") -> bool:
        """Whether these settings are for such a replica."""
        return (
            _selects(self.platforms, wanted.platform)
            and _selects(self.roles, wanted.role)
            and _selects(self.methods, wanted.method)
            and _selects(self.checkpoints, wanted.checkpoint)
            and self.hosts in (None, wanted.hosts)
            and (self.context_from is None or wanted.context >= self.context_from)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingQuery:
    """What is to be served: the platform, the role on so many hosts, the method, the checkpoint.

    ``context`` is the max_model_len that a person asks for, 0 where nobody does.
    """

    platform: str
    role: Role
    hosts: int
    method: str
    checkpoint: str
    context: int = 0


def merge_serving(
    profiles: tuple[ServingProfile, ...], wanted: ServingQuery
) -> ServingProfile:
    """Merge the profiles that match, later ones winning value by value; sources are joined."""
    found = [profile for profile in profiles if profile.matches(wanted)]
    flags: dict[str, Json] = {}
    environment: dict[str, str] = {}
    extra: dict[str, Json] = {}
    for profile in found:
        extra.update(profile.kv_connector_extra)
        flags.update(profile.flags)
        environment.update(profile.environment)
    sources = dict.fromkeys(profile.source for profile in found)
    return ServingProfile(
        source="; ".join(sources) or "no documented settings",
        tensor_parallel_size=_last(one.tensor_parallel_size for one in found),
        data_parallel_size=_last(one.data_parallel_size for one in found),
        data_parallel_size_local=_last(one.data_parallel_size_local for one in found),
        expert_parallel=_last(one.expert_parallel for one in found),
        max_model_len=_last(one.max_model_len for one in found),
        max_num_seqs=_last(one.max_num_seqs for one in found),
        max_num_batched_tokens=_last(one.max_num_batched_tokens for one in found),
        gpu_memory_utilization=_last(one.gpu_memory_utilization for one in found),
        kv_connector=_last(one.kv_connector for one in found),
        kv_connector_extra=extra,
        shm_size_bytes=_last(one.shm_size_bytes for one in found),
        flags=flags,
        environment=environment,
    )


def _last(values: Iterable[T | None]) -> T | None:
    given = [value for value in values if value is not None]
    return given[-1] if given else None


def _selects(selector: tuple[str, ...], value: str) -> bool:
    return not selector or value in selector
