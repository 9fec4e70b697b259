"""What readers of logs share: a run of a container, its samples as rows, and being overtaken."""

from dataclasses import dataclass

from deployments.docker_api.frames import STREAMS, timestamp_ns
from deployments.docker_api.logs import LogIncrement, LostLines, bytes_of
from deployments.models import AcceptanceSample, Replica
from deployments.services.log_samples import FoundSample
from deployments.telemetry.acceptance_history import Counts

ROTATED = "rotated"
SPEAKS_WITHIN_NS = 60 * 10**9
"""An engine says its first words sooner than that after it was started."""


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


@dataclass(slots=True)
class FirstLook:
    """The first look at a log, of which the beginning may have been thrown away before it.

    The engine does not say so. But what it keeps is then at least half full, and either the first
    line that is left is no early one, or at the pace of what is left as much had gone before it.
    """

    run: Run
    _first_ns: int = 0
    _bytes: int = 0
    _declared: bool = False

    def lost(self, increment: LogIncrement) -> LostLines | None:
        """What is missing before the lines of the log, told once, as soon as it is known."""
        began_ns = timestamp_ns(self.run.started_at)
        if not increment.lines or self._declared or not began_ns:
            return None
        self._first_ns = self._first_ns or increment.lines[0].ts_ns
        self._bytes += sum(bytes_of(increment.lines, name) for name in STREAMS.values())
        half = (self.run.kept_bytes or 0) // 2
        if not half or self._bytes < half:
            return None
        silent_ns = self._first_ns - began_ns
        spoken_ns = max(1, increment.lines[-1].ts_ns - self._first_ns)
        if silent_ns < SPEAKS_WITHIN_NS and self._bytes * silent_ns < half * spoken_ns:
            return None
        self._declared = True
        return LostLines(from_ns=began_ns, to_ns=self._first_ns)
