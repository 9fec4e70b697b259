"""What readers of logs share: a run of a container, its samples as rows, and being overtaken."""

from dataclasses import dataclass

from deployments.models import AcceptanceSample, Replica
from deployments.services.log_samples import FoundSample
from deployments.telemetry.acceptance_history import Counts

ROTATED = "rotated"


class OvertakenError(Exception):
    """Another reader moved the cursor meanwhile; what was read here is its business now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a replica's container; ``from_ns`` and ``until_ns`` bound it where others touch it."""

    replica: Replica
    container_id: str
    started_at: str
    from_ns: int = 0
    until_ns: int | None = None
    ended: bool = False
    kept_bytes: int | None = None


def sample_row(run: Run, sample: FoundSample, fill: Counts) -> AcceptanceSample:
    """The row of a window, with what it adds to what was counted already."""
    return AcceptanceSample(
        deployment=run.replica.release.deployment,
        replica=run.replica,
        container_id=run.container_id,
        run_started_at=run.started_at,
        stream=sample.line.stream,
        timestamp_ns=sample.line.ts_ns,
        sequence=sample.line.sequence,
        engine_index=sample.engine_index,
        accepted=fill.accepted,
        drafted=fill.drafted,
        num_drafts=fill.num_drafts,
        per_position=list(fill.per_position),
        num_speculative_tokens=sample.record.num_speculative_tokens,
        window_s=sample.record.window_s,
    )
