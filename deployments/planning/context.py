"""PlanContext: everything that was settled before the replicas and the findings are written."""

from dataclasses import dataclass, replace

from deployments.planning.catalog import Checkpoint, Drafter, TargetModel
from deployments.planning.counts import Count
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.engines.speculative import SpeculativeConfig
from deployments.planning.measured import Measured
from deployments.planning.methods import Method
from deployments.planning.plan import Decision, PlannedReplica, Role, RoleMemory
from deployments.planning.platforms.platform import Beyond, Platform
from deployments.planning.revision import RevisionSpec
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from deployments.planning.topology import RoleLayout


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """One role: its layout, how it drafts, and the sizes its engines run with.

    ``speculative`` is ``None`` where the role does not draft; ``count`` is then ``None`` too.
    ``max_num_seqs`` and ``max_num_batched_tokens`` are per data parallel rank; ``None`` leaves
    them to the engine. ``shortened_from`` is the longer context that the devices cannot hold.
    """

    layout: RoleLayout
    speculative: SpeculativeConfig | None
    count: Count | None
    max_model_len: int | None
    max_num_seqs: int
    max_num_batched_tokens: int | None
    gpu_memory_utilization: str | None
    shortened_from: int | None = None

    @property
    def role(self) -> Role:
        """The role."""
        return self.layout.role

    @property
    def of_one_length(self) -> "RoleSettings":
        """The same with a drafter whose context is no longer than the target's: engines refuse one.

        Source: vLLM 0.32.0, ``speculative_max_model_len`` "cannot be larger than" the target's.
        """
        speculative, longest = self.speculative, self.max_model_len
        if speculative is None or longest is None:
            return self
        if (speculative.max_model_len or 0) <= longest:
            return self
        return replace(self, speculative=replace(speculative, max_model_len=longest))

    @property
    def num_speculative_tokens(self) -> int:
        """Tokens drafted per step, 0 without drafting."""
        return self.speculative.num_speculative_tokens if self.speculative else 0

    @property
    def tokens_per_step(self) -> int:
        """Tokens that a full decode batch of one rank puts through the target in one step."""
        return self.max_num_seqs * (self.num_speculative_tokens + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTrouble:
    """What a host could not give: (wanted, free) devices, and ports asked for that are taken."""

    host: str
    shortages: tuple[tuple[int, int], ...] = ()
    clashes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    """The settled inputs of a plan; the rules read it. ``documented_for`` as in Question."""

    spec: RevisionSpec
    settings: ClusterSettings
    model: TargetModel
    checkpoint: Checkpoint
    platform: Platform
    documented_for: str
    profile: EngineProfile
    practice: bool
    decision: Decision
    method: Method | None
    drafter: Drafter | None
    hosts: tuple[HostSnapshot, ...]
    roles: tuple[RoleSettings, ...] = ()
    replicas: tuple[PlannedReplica, ...] = ()
    troubles: tuple[HostTrouble, ...] = ()
    beyond: tuple[Beyond, ...] = ()
    memory: tuple[RoleMemory, ...] = ()
    measured: tuple[Measured, ...] = ()

    def role(self, wanted: Role) -> RoleSettings | None:
        """Return the settings of a role, ``None`` when the plan has no such role."""
        return next((one for one in self.roles if one.role is wanted), None)
