"""ServingProfile: settings that documents give for serving a model, merged for one replica."""

from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

from pydantic import ConfigDict

from deployments.planning.canonical import Json
from deployments.planning.plan import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingProfile:
    """Documented settings for the replicas that its selectors match; empty selectors match all.

    Layout fields count what the documents show: ``data_parallel_size_local`` ranks on each host
    of an instance that has ``data_parallel_size`` ranks. ``flags`` maps a flag to its value
    (``true`` is a switch, an object is passed as compact JSON); decimals are text.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    source: str
    platforms: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    methods: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()
    hosts: int | None = None
    tensor_parallel_size: int | None = None
    data_parallel_size: int | None = None
    data_parallel_size_local: int | None = None
    expert_parallel: bool | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization: str | None = None
    kv_connector: str | None = None
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
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingQuery:
    """What is to be served: the platform, the role on so many hosts, the method, the checkpoint."""

    platform: str
    role: Role
    hosts: int
    method: str
    checkpoint: str


_SELECTORS = frozenset(("source", "platforms", "roles", "methods", "checkpoints", "hosts"))


def merge_serving(profiles: tuple[ServingProfile, ...], wanted: ServingQuery) -> ServingProfile:
    """Merge the profiles that match, later ones winning value by value; sources are joined."""
    matching = [profile for profile in profiles if profile.matches(wanted)]
    values: dict[str, object] = {}
    flags: dict[str, Json] = {}
    environment: dict[str, str] = {}
    for profile in matching:
        for item in fields(ServingProfile):
            value = getattr(profile, item.name)
            if item.name not in _SELECTORS and value not in (None, {}):
                values[item.name] = value
        flags.update(profile.flags)
        environment.update(profile.environment)
    values.update(flags=flags, environment=environment)
    source = "; ".join(dict.fromkeys(profile.source for profile in matching))
    return replace(ServingProfile(source=source or "no documented settings"), **values)


def _selects(selector: tuple[str, ...], value: str) -> bool:
    return not selector or value in selector
