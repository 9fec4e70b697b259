"""Signs of where engines run: how soon their logs are thrown away, and whether clocks agree."""

import math
from dataclasses import dataclass

from deployments.planning.text import text
from deployments.telemetry.signs import RIGHT, UNSURE, Sign, State

OUTAGE_S = 600
"""So long may nobody read without a line being lost, with half of the log to spare."""
KEPT_AGAIN_S = 1.5 * 2 * OUTAGE_S
CLOCK_OFF_MS, CLOCK_RIGHT_MS = 2000, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGrowth:
    """How fast the log of a container grows, in bytes a second, and how many bytes are kept of it."""

    container: str
    bytes_per_s: float
    kept_bytes: int

    @property
    def kept_s(self) -> float:
        """How long a line stays there, in seconds."""
        return self.kept_bytes / self.bytes_per_s if self.bytes_per_s else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOff:
    """How many milliseconds the clock of a host is ahead of the panel's."""

    host: str
    offset_ms: int


def log_rate(log: LogGrowth | None) -> Sign:
    """Whether lines stay in the log for twice the time that nobody may read."""
    if log is None:
        return UNSURE
    if log.kept_s >= KEPT_AGAIN_S:
        return RIGHT
    if log.kept_s >= 2 * OUTAGE_S:
        return UNSURE
    return Sign(
        state=State.WRONG,
        text=text(
            "The log of {container} grows by {rate} kB a second, and Docker keeps {kept} MB of it: "
            "a line is gone after {minutes} minutes. If the panel cannot read for ten minutes, "
            "windows of acceptance and the reason of a crash can be lost. Let the plan keep more "
            "(max-size, max-file), or let the engine log less, such as no line for every request.",
            container=log.container,
            rate=f"{log.bytes_per_s / 1000:.1f}",
            kept=f"{log.kept_bytes / 1e6:.1f}",
            minutes=f"{log.kept_s / 60:.1f}",
        ),
        evidence={
            "bytes_per_s": round(log.bytes_per_s),
            "kept_bytes": log.kept_bytes,
            "kept_s": round(log.kept_s),
            "threshold_s": 2 * OUTAGE_S,
            "source": "log",
        },
    )


def clock(seen: ClockOff | None) -> Sign:
    """Whether host and panel agree on the time."""
    if seen is None:
        return UNSURE
    if abs(seen.offset_ms) <= CLOCK_RIGHT_MS:
        return RIGHT
    if abs(seen.offset_ms) <= CLOCK_OFF_MS:
        return UNSURE
    seconds, limit = f"{abs(seen.offset_ms) / 1000:.1f}", CLOCK_OFF_MS // 1000
    return Sign(
        state=State.WRONG,
        text=text(
            "The clock of {host} is {seconds} seconds ahead of the panel's; up to {limit} are "
            "allowed. Its log lines carry its own time, so acceptance is charted that much too "
            "late, and lines can be missed when the clock is set back. Start chrony or "
            "systemd-timesyncd there.",
            host=seen.host,
            seconds=seconds,
            limit=limit,
        )
        if seen.offset_ms > 0
        else text(
            "The clock of {host} is {seconds} seconds behind the panel's; up to {limit} are "
            "allowed. Its log lines carry its own time, so acceptance is charted that much too "
            "early. Start chrony or systemd-timesyncd there.",
            host=seen.host,
            seconds=seconds,
            limit=limit,
        ),
        evidence={
            "offset_ms": seen.offset_ms,
            "threshold_ms": CLOCK_OFF_MS,
            "source": "host",
        },
    )
