"""What planning tests build from: shipped catalog entries, hosts, revisions."""

import functools
from pathlib import Path
from typing import Any

from deployments.planning.canonical import Json
from deployments.planning.catalog import (
    TargetModel,
    find_target_model,
    parse_target_model,
)
from deployments.planning.plan import Plan, Role
from deployments.planning.planner import make_plan
from deployments.planning.revision import RevisionSpec, RoleSpec, Topology
from deployments.planning.shipped_yaml import read_shipped_yaml
from deployments.planning.snapshot import ClusterSettings, HostSnapshot

CATALOG = Path(__file__).resolve().parents[2] / "deployments" / "catalog"
GOLDEN = Path(__file__).parent / "golden"
PRACTICE = "draftboard/practice-vllm:0.32.0"
GIGABYTE = 1_000_000_000


@functools.cache
def documents() -> tuple[Json, ...]:
    """Every shipped catalog document."""
    found: list[Json] = []
    for path in sorted(CATALOG.glob("*.yaml")):
        found.extend(read_shipped_yaml(path.read_text(encoding="utf-8")))
    return tuple(found)


@functools.cache
def shipped(name: str) -> TargetModel:
    """One shipped target model by key or name."""
    return find_target_model(documents(), name)


@functools.cache
def all_shipped() -> tuple[TargetModel, ...]:
    """Every shipped target model."""
    return tuple(parse_target_model(document) for document in documents())


def a3(name: str, address: str | None = "10.0.0.1", **more: Any) -> HostSnapshot:
    """An Atlas A3 host with everything known."""
    values: dict[str, Any] = {
        "device_count": 16,
        "device_memory_bytes": 64 << 30,
        "architecture": "aarch64",
        "interface": "enp1s0",
        "model_root": "/data/models",
        **more,
    }
    return HostSnapshot(name=name, platform="ascend-a3", address=address, **values)


def gpu(name: str = "gpu-1", **more: Any) -> HostSnapshot:
    """An NVIDIA host with eight H200."""
    values: dict[str, Any] = {
        "device": "H200",
        "device_count": 8,
        "device_memory_bytes": 141 * GIGABYTE,
        "architecture": "x86_64",
        "address": "10.0.1.1",
        "interface": "eth0",
        "model_root": "/data/models",
        **more,
    }
    return HostSnapshot(name=name, platform="nvidia", **values)


def cpu(name: str = "local", **more: Any) -> HostSnapshot:
    """A host without accelerators, as the local engine is registered."""
    return HostSnapshot(name=name, platform="cpu", **more)


def combined(
    model: str, *hosts: str, role: RoleSpec | None = None, **more: Any
) -> RevisionSpec:
    """A revision with the combined role."""
    roles = (role or RoleSpec(role=Role.COMBINED, hosts=hosts),)
    return RevisionSpec(name="chat", model=model, roles=roles, **more)


def apart(model: str, prefill: RoleSpec, decode: RoleSpec, **more: Any) -> RevisionSpec:
    """A revision with prefill and decode apart."""
    return RevisionSpec(
        name="chat",
        model=model,
        roles=(prefill, decode),
        topology=Topology.DISAGGREGATED,
        **more,
    )


def prefill(*hosts: str, **more: Any) -> RoleSpec:
    """The prefill role on hosts."""
    return RoleSpec(role=Role.PREFILL, hosts=hosts, **more)


def decode(*hosts: str, **more: Any) -> RoleSpec:
    """The decode role on hosts."""
    return RoleSpec(role=Role.DECODE, hosts=hosts, **more)


def plan(spec: RevisionSpec, *hosts: HostSnapshot, **settings: Any) -> Plan:
    """Plan a revision of a shipped model."""
    return make_plan(spec, shipped(spec.model), hosts, ClusterSettings(**settings))


def codes(made: Plan) -> set[str]:
    """The codes of a plan's findings."""
    return {finding.code for finding in made.findings}


def flags(made: Plan, index: int = 0) -> dict[str, str | None]:
    """The flags of one replica's command; switches map to ``None``."""
    found: dict[str, str | None] = {}
    words = list(made.replicas[index].container.command[3:])
    while words:
        flag = words.pop(0)
        found[flag] = words.pop(0) if words and not words[0].startswith("--") else None
    return found
