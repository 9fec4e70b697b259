"""The panel's own plan beside each documented launch, flag by flag.

Inputs are the role and hardware of the documents and what an operator decides: name, address and
port, lengths, sequences, memory share, parallel layout, method, drafter, feature switches. All
other flags are compared in name and value, JSON as values.
"""

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deployments.planning.canonical import Json
from deployments.planning.engines.arguments import flag_values
from deployments.planning.features import features_for
from deployments.planning.plan import Plan, Role
from deployments.planning.planner import make_plan
from deployments.planning.platforms import PLATFORMS
from deployments.planning.platforms.devices import DEVICES_PER_HOST, device_memory
from deployments.planning.revision import (
    Limits,
    RevisionSpec,
    RoleSpec,
    SpeculationChoice,
    Topology,
)
from deployments.planning.shipped_yaml import read_shipped_yaml
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from tests.planning.builders import all_shipped, shipped
from tests.planning.documented.launches import DocumentedLaunch, documented_launches

ENGINE = "vllm-ascend==0.23.0"
OPERATORS = frozenset(
    f"--{name}"
    for name in (
        "served-model-name",
        "host",
        "port",
        "max-model-len",
        "max-num-seqs",
        "max-num-batched-tokens",
        "gpu-memory-utilization",
        "tensor-parallel-size",
        "pipeline-parallel-size",
        "prefill-context-parallel-size",
        "decode-context-parallel-size",
        "cp-kv-cache-interleave-size",
        "data-parallel-size",
        "data-parallel-size-local",
        "data-parallel-address",
        "data-parallel-rpc-port",
        "data-parallel-start-rank",
        "data-parallel-rank",
        "headless",
    )
)
PLACES = frozenset(("kv_port", "engine_id"))
"""Keys of a transfer config that are ports and names of this fleet."""
_OPEN = re.compile(r"[$<]|^your_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Where a documented launch runs and what it serves."""

    launch: DocumentedLaunch
    model: str
    checkpoint: str
    platform: str
    role: Role

    @property
    def known(self) -> bool:
        """Whether catalog and platforms hold what it needs."""
        models = {one.key: one for one in all_shipped()}
        if self.model not in models or self.platform not in PLATFORMS:
            return False
        keys = {one.key for one in models[self.model].checkpoints}
        return self.checkpoint in keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One flag: ``documented`` and ``planned``, ``None`` where a side lacks it."""

    situation: Situation
    flag: str
    documented: Json
    planned: Json

    @property
    def agrees(self) -> bool:
        """Whether name and value are the same."""
        return self.documented == self.planned


@functools.cache
def situations() -> tuple[Situation, ...]:
    """Every documented launch that names a target model of known hardware."""
    path = Path(__file__).parent / "situations.yaml"
    by_place = {(one.document, one.line): one for one in documented_launches()}
    return tuple(
        Situation(
            launch=by_place[row["document"], line],
            model=row["model"],
            checkpoint=row["checkpoint"],
            platform=row["platform"],
            role=Role(row["role"]),
        )
        for row in read_shipped_yaml(path.read_text(encoding="utf-8"))
        for line in row["lines"]
    )


@functools.cache
def compared() -> tuple[Compared, ...]:
    """Every remaining flag of every launch whose model the catalog knows."""
    return tuple(
        one
        for situation in situations()
        if situation.known
        for one in _flags(situation)
    )


def _flags(situation: Situation) -> Iterator[Compared]:
    documented = {
        flag: _value(value)
        for flag, value in _dotted(situation.launch.flags).items()
        if flag not in OPERATORS
    }
    planned = {
        flag: _value(True if value is None else value)
        for flag, value in _planned(situation).items()
        if flag not in OPERATORS
    }
    for flag in sorted(documented.keys() | planned.keys()):
        yield Compared(
            situation=situation,
            flag=flag,
            documented=documented.get(flag),
            planned=_closed(planned.get(flag), documented.get(flag)),
        )


def _dotted(flags: dict[str, str | bool]) -> dict[str, str | bool]:
    """``--flag.key value`` is the same flag as ``--flag '{"key": value}'``."""
    whole: dict[str, str | bool] = {}
    parts: dict[str, dict[str, Json]] = {}
    for flag, value in flags.items():
        name, dot, key = flag.partition(".")
        if not dot:
            whole[flag] = value
            continue
        number = isinstance(value, str) and value.isdigit()
        parts.setdefault(name, {})[key.replace("-", "_")] = (
            int(value) if number else value
        )
    return {**whole, **{name: json.dumps(value) for name, value in parts.items()}}


def _value(value: Json) -> Json:
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    try:
        return _without_places(json.loads(value))
    except json.JSONDecodeError:
        return value


def _without_places(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: _last_part(inner) if key == "model" else _without_places(inner)
            for key, inner in value.items()
            if key not in PLACES
        }
    if isinstance(value, list):
        return [_without_places(one) for one in value]
    return value


def _last_part(value: Json) -> Json:
    return value.rsplit("/", 1)[-1] if isinstance(value, str) else value


def _closed(planned: Json, documented: Json) -> Json:
    """The drafter that a document leaves to the reader is whichever the plan mounts."""
    if not isinstance(planned, dict) or not isinstance(documented, dict):
        return planned
    named = documented.get("model")
    if isinstance(named, str) and _OPEN.search(named) and "model" in planned:
        return {**planned, "model": named}
    return planned


def _planned(situation: Situation) -> dict[str, str | None]:
    made = plan_of(situation)
    mine = [one for one in made.replicas if one.role is situation.role]
    follower = situation.launch.flags.get("--headless") is True
    index = 1 if follower and len(mine) > 1 else 0
    return flag_values(mine[index].container.command)


def plan_of(situation: Situation) -> Plan:
    """The plan that the panel makes for the same operator on the same hardware."""
    layout = _Layout.of(situation)
    hosts: list[HostSnapshot] = []
    roles: list[RoleSpec] = []
    for role, (ranks, tensor) in layout.sizes.items():
        present = DEVICES_PER_HOST[situation.platform]
        count = max(layout.hosts, -(-ranks * tensor // present))
        first = len(hosts)
        hosts += [_host(situation.platform, first + one) for one in range(count)]
        roles.append(
            RoleSpec(
                role=role,
                hosts=tuple(one.name for one in hosts[first:]),
                tensor_parallel_size=tensor,
                data_parallel_size=ranks,
                devices_per_host=tensor * ranks // count,
            )
        )
    spec = RevisionSpec(
        name="documented",
        model=situation.model,
        checkpoint=situation.checkpoint,
        engine=ENGINE,
        roles=tuple(roles),
        topology=Topology.COMBINED if len(roles) == 1 else Topology.DISAGGREGATED,
        speculation=_choice(situation),
        limits=_limits(situation.launch),
        features=_switches(situation),
    )
    return make_plan(spec, shipped(situation.model), hosts, ClusterSettings())


def _host(platform: str, number: int) -> HostSnapshot:
    return HostSnapshot(
        name=f"host-{number}",
        platform=platform,
        device_count=DEVICES_PER_HOST[platform],
        device_memory_bytes=device_memory(platform, None),
        architecture="aarch64",
        address=f"10.0.0.{number + 1}",
        interface="enp1s0",
        model_root="/data/models",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """(data parallel, tensor parallel) ranks of each role; a lower bound of hosts."""

    sizes: dict[Role, tuple[int, int]]
    hosts: int = 1

    @classmethod
    def of(cls, situation: Situation) -> "_Layout":
        flags = situation.launch.flags
        if situation.role is Role.COMBINED:
            ranks = _number(situation.launch, "--data-parallel-size") or 1
            local = _number(situation.launch, "--data-parallel-size-local") or ranks
            tensor = _number(situation.launch, "--tensor-parallel-size") or 1
            return cls(sizes={Role.COMBINED: (ranks, tensor)}, hosts=ranks // local)
        found = _sizes_in(json.loads(str(flags["--kv-transfer-config"])))
        return cls(
            sizes={
                role: (found[role.value]["dp_size"], found[role.value]["tp_size"])
                for role in (Role.PREFILL, Role.DECODE)
            }
        )


def _sizes_in(config: dict[str, Any]) -> dict[str, Any]:
    extra: dict[str, Any] = config["kv_connector_extra_config"]
    return _sizes_in(extra["connectors"][0]) if "connectors" in extra else extra


def _number(launch: DocumentedLaunch, flag: str) -> int | None:
    """The value, looked up among the launch's own variables where it names one."""
    value = str(launch.flags.get(flag, ""))
    value = launch.environment.get(value.removeprefix("$"), value)
    return int(value) if value.isdigit() else None


def _choice(situation: Situation) -> SpeculationChoice:
    value = _dotted(situation.launch.flags).get("--speculative-config")
    if not isinstance(value, str):
        speculates = situation.role is Role.PREFILL and _decode_drafts(situation)
        return SpeculationChoice(method="auto" if speculates else "off")
    config = json.loads(value)
    model = str(config.get("model", "$"))
    known = {one.repository for one in shipped(situation.model).drafters}
    return SpeculationChoice(
        method=config["method"], drafter=model if model in known else None
    )


def _switches(situation: Situation) -> tuple[tuple[str, bool], ...]:
    """A feature is on where the document gives one of its flags; the values are the catalog's."""
    known = features_for(shipped(situation.model).features, situation.platform)
    return tuple(
        (key, any(flag in situation.launch.flags for flag in one.flags))
        for key, one in known.items()
    )


def _decode_drafts(situation: Situation) -> bool:
    """Whether the same document drafts where replies are written."""
    return any(
        one.role is Role.DECODE
        and one.launch.document == situation.launch.document
        and "--speculative-config" in one.launch.flags
        for one in situations()
    )


def _limits(launch: DocumentedLaunch) -> Limits:
    share = str(launch.flags.get("--gpu-memory-utilization", ""))
    return Limits(
        max_model_len=_number(launch, "--max-model-len"),
        max_num_seqs=_number(launch, "--max-num-seqs"),
        max_num_batched_tokens=_number(launch, "--max-num-batched-tokens"),
        gpu_memory_utilization_percent=round(float(share.split(maxsplit=1)[0]) * 100)
        if share
        else None,
    )
