"""A first look at a log whose beginning may be gone."""

from collections.abc import Sequence
from typing import cast

import pytest

from deployments.docker_api.frames import timestamp_ns
from deployments.docker_api.log_lines import STORED_BESIDE
from deployments.docker_api.logs import LogIncrement, LogLine, LostLines
from deployments.models import Replica
from deployments.services.log_runs import FirstLook, Run

STARTED = "2026-11-29T15:04:05.5Z"
STARTED_NS = timestamp_ns(STARTED) or 0
KEPT = 20_000


def part(first_s: int, last_s: int, lines: int) -> LogIncrement:
    """Lines that take 100 bytes each, between two times after the start."""
    step_ns = (last_s - first_s) * 10**9 // (lines - 1)
    return LogIncrement(
        lines=[
            LogLine(
                stream="stdout",
                ts_ns=STARTED_NS + first_s * 10**9 + number * step_ns,
                sequence=0,
                text="x" * (100 - STORED_BESIDE),
                truncated=False,
            )
            for number in range(lines)
        ],
        before=(),
        cursors={},
    )


def losses(parts: Sequence[LogIncrement], kept: int | None) -> list[LostLines | None]:
    """What a first look says of each part."""
    run = Run(
        replica=cast("Replica", None),
        container_id="c",
        started_at=STARTED,
        kept_bytes=kept,
    )
    first = FirstLook(run)
    return [first.lost(one) for one in parts]


@pytest.mark.parametrize(
    ("first_s", "last_s"), [(61, 4000), (10, 11)], ids=["late", "fast"]
)
def test_a_beginning_that_was_thrown_away_is_told_once(
    first_s: int, last_s: int
) -> None:
    one = part(first_s, last_s, 60)
    gap = LostLines(from_ns=STARTED_NS, to_ns=STARTED_NS + first_s * 10**9)
    assert losses([one, one, one], KEPT) == [None, gap, None]


@pytest.mark.parametrize(
    ("first_s", "last_s", "lines", "kept"),
    [(61, 4000, 99, KEPT), (9, 4000, 200, KEPT), (61, 4000, 200, None)],
    ids=["short", "from the start", "without a limit"],
)
def test_a_log_that_may_be_whole_is_not_called_cut(
    first_s: int, last_s: int, lines: int, kept: int | None
) -> None:
    assert losses([part(first_s, last_s, lines)], kept) == [None]
