"""RevisionSpec: the desired state of a deployment, as a person chose it."""

from dataclasses import dataclass, field
from enum import StrEnum

from deployments.planning.plan import Role


class Topology(StrEnum):
    """Whether prefill and decode share their replicas."""

    COMBINED = "combined"
    DISAGGREGATED = "disaggregated"


class Goal(StrEnum):
    """What the operator wants most of the workload."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"
    BALANCED = "balanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationChoice:
    """``method`` is ``auto``, ``off`` or a method of ``methods.py``; ``None`` leaves a value to the planner."""

    method: str = "auto"
    num_speculative_tokens: int | None = None
    drafter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSpec:
    """One role of the deployment: the hosts that serve it, by name, and its own settings.

    ``devices_per_host`` is the number of devices taken on each host, ``None`` for what the planner
    finds right. ``pipeline_parallel_size`` cuts the layers into stages on devices of one host. ``port``
    is the host port of the first API server of the role.
    """

    role: Role
    hosts: tuple[str, ...]
    num_speculative_tokens: int | None = None
    devices_per_host: int | None = None
    tensor_parallel_size: int | None = None
    data_parallel_size: int | None = None
    pipeline_parallel_size: int | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Typical request in tokens, requests served at once, and the goal."""

    input_tokens: int = 2000
    output_tokens: int = 500
    concurrency: int = 16
    goal: Goal = Goal.BALANCED


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Engine limits a person may set; ``None`` is left to the planner."""

    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization_percent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionSpec:
    """An immutable desired state: everything that planning needs besides catalog and fleet.

    ``model`` and ``checkpoint`` are catalog keys, ``engine`` reads ``vllm==0.32.0``, ``image``
    overrides the platform's image, and ``extra_flags`` are (flag, value) pairs where an empty value
    is a switch. ``features`` are (key, on) pairs that differ from what the catalog has on unasked.
    ``api_key`` names the stored secret that clients must send; ``off`` serves without one on purpose.
    ``environment`` are (name, value) pairs for the engines' containers. ``canary`` is another way of
    drafting that one replica tries beside the others.
    """

    name: str
    model: str
    roles: tuple[RoleSpec, ...]
    checkpoint: str | None = None
    engine: str | None = None
    image: str | None = None
    speculation: SpeculationChoice = field(default_factory=SpeculationChoice)
    topology: Topology = Topology.COMBINED
    workload: Workload = field(default_factory=Workload)
    limits: Limits = field(default_factory=Limits)
    served_model_name: str | None = None
    extra_flags: tuple[tuple[str, str], ...] = ()
    features: tuple[tuple[str, bool], ...] = ()
    api_key: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    number: int = 1
    canary: SpeculationChoice | None = None
