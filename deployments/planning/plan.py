"""Plan: the immutable result of planning one revision, its document and its digest."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.canonical import Json, digest_of
from deployments.planning.container import ContainerSpec
from deployments.planning.documents import from_document, to_document
from deployments.planning.errors import PlanningError
from deployments.planning.measured import Measured
from deployments.planning.text import Text, text

SCHEMA_VERSION = 1
PLANNER_VERSION = "1"
HEALTH_PATH = "/health"
USUAL = (("health_path", HEALTH_PATH), ("lists_models", True), ("canary", False))
"""Values of a replica that its document leaves out."""


class Role(StrEnum):
    """What a replica does in its deployment."""

    COMBINED = "combined"
    PREFILL = "prefill"
    DECODE = "decode"
    ROUTER = "router"


class Severity(StrEnum):
    """How much a finding matters: an error will not start or gives wrong output."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The outcome of one rule.

    A ``source`` that is no ``Text`` is a title, and stays as it is in every language.
    """

    code: str
    category: str
    severity: Severity
    message: Text
    fix: Text
    source: Text | str
    evidence: str = ""


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, errors first, in an order that never changes."""
    return tuple(
        sorted(
            set(findings),
            key=lambda one: (_RANK[one.severity], one.code, one.evidence, one.message),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionStep:
    """One answered question of the decision tree."""

    question: Text
    answer: Text
    because: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodVerdict:
    """One speculative method beside the chosen one: open, or closed with the reason."""

    method: str
    open: bool
    because: Text
    num_speculative_tokens: int | None = None
    drafter: str | None = None
    evidence: str = "assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The answer of the decision tree with its path and every method's verdict, best first."""

    method: str
    num_speculative_tokens: int | None
    drafter: str | None
    path: tuple[DecisionStep, ...]
    methods: tuple[MethodVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedSpeculation:
    """What the start-up log of a replica must show: vLLM's own spelling of method and count."""

    method: str
    num_speculative_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedReplica:
    """One container of a plan on one host.

    ``devices`` are host device numbers. ``health_port`` is the host port that answers
    ``health_path`` and, where ``lists_models``, ``/v1/models``; ``None`` for a headless replica.
    ``ready_deadline_s`` is how long loading and graph capture may take. ``canary`` says that it
    drafts in another way than the rest, to be compared with them. The document leaves out
    what is vLLM's own, and a canary that is none.
    """

    role: Role
    rank: int
    host: str
    devices: tuple[int, ...]
    container: ContainerSpec
    served_model_name: str
    speculation: ExpectedSpeculation | None
    health_port: int | None
    ready_deadline_s: int = 1800
    practice: bool = False
    health_path: str = HEALTH_PATH
    lists_models: bool = True
    canary: bool = False


class Basis(StrEnum):
    """Who says a number: a document or the files, arithmetic over known facts, or an assumption."""

    KNOWN = "known"
    DERIVED = "derived"
    ASSUMED = "assumed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPart:
    """One part of a device's memory; ``kind`` is weights, drafter, verification, activations, graphs or reserve."""

    kind: str
    size_bytes: int | None
    basis: Basis
    source: Text | str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMemory:
    """The memory of the fullest device of a role; ``None`` is unknown.

    ``budget_bytes`` is what gpu_memory_utilization allows the engine. ``kv_bytes`` is what the parts
    leave of it for the KV cache, negative where they do not fit, ``kv_tokens`` the tokens that it
    holds for one data parallel rank. ``kv_bytes_per_token`` includes the drafter's cache,
    ``state_bytes_per_sequence`` is what a sequence takes at any length. ``sequences`` of the
    workload's ``sequence_tokens`` are served at once, ``sequences_wanted`` by the workload.
    ``largest_context`` is the longest max_model_len that starts. ``headroom_bytes`` is what the
    wanted sequences leave free, or one of full length if that is more. ``fits`` is false where the
    engine would not start, and where ``documented`` says that more devices are needed.
    """

    role: Role
    tensor_parallel_size: int
    data_parallel_size: int
    device_bytes: int | None
    budget_bytes: int | None
    parts: tuple[MemoryPart, ...]
    kv_bytes: int | None
    kv_bytes_per_token: int | None
    state_bytes_per_sequence: int | None
    kv_basis: Basis
    kv_source: Text | str
    kv_tokens: int | None
    sequence_tokens: int
    sequences: int | None
    sequences_wanted: int
    max_model_len: int | None
    largest_context: int | None
    headroom_bytes: int | None
    fits: bool | None
    documented: Text | None = None
    proposals: tuple[Text, ...] = ()

    def size_of(self, kind: str) -> int | None:
        """The bytes of one part."""
        return next((one.size_bytes for one in self.parts if one.kind == kind), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class GainPoint:
    """Speed-up at one concurrency in thousandths; ``low`` to ``high`` holds nine of ten measurements."""

    concurrency: int
    speedup: int | None
    low: int | None
    high: int | None
    best_num_speculative_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What speculation is expected to bring where replies are written; ``None`` is unknown.

    ``concurrency`` is what the workload brings to one instance. ``tokens_per_step`` is in thousandths. ``kind`` is ``measured``, ``published`` or ``assumed``.
    ``break_even`` is the highest concurrency that still pays (0 for none, ``None`` for unknown or
    beyond 4096), with the range in which half of the measurements are expected to turn.
    ``measured`` is what was seen on the deployment itself and went into it; the document leaves it
    out where there is nothing.
    """

    method: str
    num_speculative_tokens: int
    concurrency: int
    tokens_per_step: int
    points: tuple[GainPoint, ...]
    best_num_speculative_tokens: int | None
    break_even: int | None
    break_even_low: int | None
    break_even_high: int | None
    measured_up_to: int
    kind: str
    source: Text
    sentence: Text
    warnings: tuple[Text, ...]
    measured: tuple[Measured, ...] = ()

    def at(self, concurrency: int) -> GainPoint | None:
        """The point of that concurrency."""
        return next(
            (one for one in self.points if one.concurrency == concurrency), None
        )


class ReplaceStrategy(StrEnum):
    """How a running release gives way to the next one."""

    CREATE_THEN_REMOVE = "create_then_remove"
    REMOVE_THEN_CREATE = "remove_then_create"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will run, why, and from what it was computed. It has no state and is never edited.

    ``snapshot_digests`` holds (host, digest of its decision inputs). ``revision`` is the document of
    the RevisionSpec that was planned. ``memory`` and ``gain`` inform whoever decides; no container
    depends on them, and the document leaves them out where there are none.
    """

    deployment: str
    revision: dict[str, Json]
    engine: str
    engine_version: str
    model: str
    checkpoint: str
    decision: Decision
    replicas: tuple[PlannedReplica, ...]
    findings: tuple[Finding, ...]
    snapshot_digests: tuple[tuple[str, str], ...]
    replace: ReplaceStrategy = ReplaceStrategy.REMOVE_THEN_CREATE
    schema_version: int = SCHEMA_VERSION
    planner_version: str = PLANNER_VERSION
    memory: tuple[RoleMemory, ...] = ()
    gain: Gain | None = None

    @property
    def can_submit(self) -> bool:
        """Whether there is something to approve: replicas, and no error among the findings."""
        return bool(self.replicas) and all(
            finding.severity is not Severity.ERROR for finding in self.findings
        )

    @property
    def practice(self) -> bool:
        """Whether any replica runs the practice image, which serves no real model."""
        return any(replica.practice for replica in self.replicas)

    @property
    def num_speculative_tokens(self) -> int | None:
        """What the replicas that write replies draft per step, canary apart; the decision only recommends.

        ``None`` without drafting.
        """
        counts = (
            one.speculation.num_speculative_tokens
            for one in self.replicas
            if one.speculation and one.role is not Role.PREFILL and not one.canary
        )
        return next(counts, self.decision.num_speculative_tokens)

    @property
    def canary(self) -> PlannedReplica | None:
        """The replica that answers requests and drafts in another way than the rest, if any."""
        return next(
            (one for one in self.replicas if one.canary and one.health_port), None
        )

    @property
    def document(self) -> dict[str, Json]:
        """The plan as JSON values, exactly what the digest covers."""
        document = to_document(self)
        if not isinstance(document, dict):
            raise TypeError("a plan is a JSON object")
        for name in ("memory", "gain"):
            if not document[name]:
                del document[name]
        gain = document.get("gain")
        if isinstance(gain, dict) and not gain["measured"]:
            del gain["measured"]
        replicas = document["replicas"]
        for replica in replicas if isinstance(replicas, list) else ():
            if isinstance(replica, dict):
                _drop_usual(replica)
        return document

    @property
    def digest(self) -> str:
        """``sha256:...`` over the canonical document."""
        return digest_of(self.document)


def _drop_usual(replica: dict[str, Json]) -> None:
    for name, usual in USUAL:
        if replica[name] == usual:
            del replica[name]
    container = replica["container"]
    if isinstance(container, dict):
        for name in ("volumes", "secrets", "log_directories"):
            if not container[name]:
                del container[name]


def plan_from_document(document: Json) -> Plan:
    """Rebuild a stored plan.

    Raises:
        PlanningError: the document is of another schema version or not a plan at all.
    """
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version is None:
        raise PlanningError(
            text(
                "This plan does not say with which schema version it was made. Plan the revision "
                "again."
            )
        )
    if version != SCHEMA_VERSION:
        raise PlanningError(
            text(
                "This plan was made with schema version {version}; this panel reads version "
                "{schema_version}. Plan the revision again.",
                version=str(version),
                schema_version=SCHEMA_VERSION,
            )
        )
    plan = from_document(Plan, document)
    if plan.document != document:
        raise PlanningError(
            text(
                "The stored plan holds more than this panel reads. Plan the revision again."
            )
        )
    return plan
