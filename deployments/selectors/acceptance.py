"""Acceptance history of a deployment: sums of what was stored, and nothing that is not in it."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from deployments.models import HOUR_S, Deployment, Release
from deployments.planning.plan import Role
from deployments.selectors.acceptance_events import (
    Lost,
    Marker,
    Stretch,
    live_times,
    markers_of,
    reading_of,
    releases_until,
)
from deployments.selectors.acceptance_parts import Part, parts_of
from deployments.selectors.acceptance_range import NANOSECONDS, Range
from deployments.telemetry.acceptance_history import Counts, total
from deployments.telemetry.advice import Advice, advise
from deployments.telemetry.baseline import Baseline, baseline_of

BASE_HOURS = 7 * 24
SHOWN_RELEASES = 6


class State(StrEnum):
    """What a step shows: figures, or one of three kinds of nothing, which are not the same."""

    DRAFTED = "drafted"
    NO_TRAFFIC = "no_traffic"
    NOT_SEEN = "not_seen"
    NOT_RUNNING = "not_running"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the chart; ``counts`` is ``None`` when nothing was drafted."""

    start_s: int
    end_s: int
    counts: Counts | None
    state: State

    @property
    def start(self) -> datetime:
        """When it begins."""
        return datetime.fromtimestamp(self.start_s, UTC)

    @property
    def end(self) -> datetime:
        """When it ends."""
        return datetime.fromtimestamp(self.end_s, UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBar:
    """One draft position over the range; ``rate`` is accepted / drafts."""

    position: int
    accepted: int
    drafts: int

    @property
    def rate(self) -> float:
        """The share of drafts in which this position was accepted, from 0 to 1."""
        return self.accepted / self.drafts

    @property
    def width(self) -> str:
        """The share as the per cent of a drawing, with a point whatever the language."""
        return f"{self.rate * 100:.2f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLine:
    """What one replica of the live release did in the range; ``name`` is like ``decode-0``."""

    name: str
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The other range or revision of a comparison."""

    key: str
    range: Range
    steps: tuple[Step, ...]
    totals: Counts
    release: Release | None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The acceptance history of one deployment over one range.

    ``totals`` are the sums of the range without prefill replicas, which decode one token a request;
    ``judged`` are those of the live release, which the advice is about; ``positions`` are of the same,
    or of all where nothing is live, and of ``position_drafts``; ``earlier`` are releases
    that one may compare with, newest first; ``read`` is when the log of each replica was last read.
    """

    range: Range
    only: str
    steps: tuple[Step, ...]
    totals: Counts
    windows: int
    judged: Counts
    judged_windows: int
    positions: tuple[PositionBar, ...]
    position_drafts: int | None
    replicas: tuple[ReplicaLine, ...]
    prefill: tuple[ReplicaLine, ...]
    roles: tuple[str, ...]
    baseline: Baseline
    markers: tuple[Marker, ...]
    earlier: tuple[Release, ...]
    log_gaps: tuple[Lost, ...]
    read: Mapping[uuid.UUID, datetime]
    advice: Advice
    against: Against | None

    @property
    def states(self) -> set[State]:
        """What occurs in the range; the key of the chart explains no more."""
        return {step.state for step in self.steps}

    @property
    def most_positions(self) -> int:
        """How many draft positions a step knows at most."""
        known = (len(step.counts.per_position) for step in self.steps if step.counts)
        return max(known, default=0)

    @property
    def rows(self) -> tuple[Step, ...]:
        """The steps as the table shows them, newest first."""
        return self.steps[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked for: a range, of all replicas or ``only`` some, against another range or none.

    ``only`` is a role or a replica (``decode``, ``decode-0``); ``against`` is ``before``, ``week``,
    ``own`` with ``other``, or the number of a release as text.
    """

    range: Range
    only: str = ""
    against: str = ""
    other: Range | None = None


def history(deployment: Deployment, live: Release | None, wanted: Wanted) -> History:
    """Read the history in three queries."""
    one = wanted.range
    releases = releases_until(deployment, one.end)
    other, other_release = _other(wanted, releases)
    ranges = [one, _base(one), *([other] if other else [])]
    parts, base, *rest = parts_of(deployment, ranges)
    drafting = [part for part in parts if part.role != Role.PREFILL]
    shown = _only(drafting, wanted.only)
    now_live = [
        part
        for part in shown
        if live and part.release == live.number and part.drafts_as_planned
    ]
    reading = reading_of(deployment, one)
    judged = _sum(now_live)
    by_position = judged if live else _sum(shown)
    return History(
        range=one,
        only=wanted.only,
        steps=_steps(shown, one, reading.seen, live_times(releases, one)),
        totals=_sum(shown),
        windows=sum(part.windows for part in shown),
        judged=judged,
        judged_windows=sum(part.windows for part in now_live),
        positions=_positions(by_position),
        position_drafts=by_position.num_drafts,
        replicas=_replicas(part for part in drafting if _of(part, live)),
        prefill=_replicas(part for part in parts if part.role == Role.PREFILL),
        roles=tuple(sorted({part.role for part in drafting})),
        baseline=_baseline(_only(base, wanted.only), live),
        markers=markers_of(releases, one),
        earlier=tuple(releases[::-1][:SHOWN_RELEASES]),
        log_gaps=reading.lost,
        read=reading.read,
        advice=advise(
            live.plan.method if live else None,
            live.plan.num_speculative_tokens if live else None,
            judged,
        ),
        against=_against(wanted, other, other_release, rest[0]) if other else None,
    )


def _of(part: Part, live: Release | None) -> bool:
    return live is None or part.release == live.number


def _only(parts: Iterable[Part], only: str) -> list[Part]:
    """Of the role or the replica, where one is asked for; never prefill."""
    return [
        part
        for part in parts
        if part.role != Role.PREFILL and (not only or only in {part.role, part.replica})
    ]


def _base(one: Range) -> Range:
    """The seven days before the range, by hour."""
    end_s = one.start_s // HOUR_S * HOUR_S
    return Range(
        key="base",
        start_s=end_s - BASE_HOURS * HOUR_S,
        step_s=HOUR_S,
        steps=BASE_HOURS,
    )


def _baseline(parts: Iterable[Part], live: Release | None) -> Baseline:
    """Bands by hour, of windows with as many positions as run now."""
    count = live.plan.num_speculative_tokens if live else None
    hours: defaultdict[int, list[Counts]] = defaultdict(list)
    for part in parts:
        same = count is None or len(part.counts.per_position) == count
        if same and part.drafts_as_planned:
            hours[part.at_s // HOUR_S].append(part.counts)
    return baseline_of(map(total, hours.values()))


def _other(
    wanted: Wanted, releases: Sequence[Release]
) -> tuple[Range | None, Release | None]:
    """The range to compare with; for a release the last of its time, as long as the range."""
    one = wanted.range
    if wanted.against == "before":
        return one.moved_to(one.start_s), None
    if wanted.against == "week":
        return one.moved_to(one.end_s - BASE_HOURS * HOUR_S), None
    if wanted.against == "own" and wanted.other:
        # The same steps, so that the two courses lie over each other.
        return one.moved_to(wanted.other.end_s), None
    for place, row in enumerate(releases):
        if str(row.number) == wanted.against:
            after = [later.live_at for later in releases[place + 1 :] if later.live_at]
            end = min([*after, row.ended_at or one.end, one.end])
            return one.moved_to(int(end.timestamp())), row
    return None, None


def _against(
    wanted: Wanted, other: Range, release: Release | None, parts: Iterable[Part]
) -> Against:
    shown = [
        part
        for part in _only(parts, wanted.only)
        if release is None or part.release == release.number
    ]
    return Against(
        key=wanted.against,
        range=other,
        steps=_steps(shown, other, (), ()),
        totals=_sum(shown),
        release=release,
    )


def _sum(parts: Iterable[Part]) -> Counts:
    return total(part.counts for part in parts)


def _steps(
    parts: Iterable[Part],
    one: Range,
    seen: Sequence[Stretch],
    live: Sequence[Stretch],
) -> tuple[Step, ...]:
    found: list[list[Counts]] = [[] for _ in range(one.steps)]
    for part in parts:
        found[(part.at_s - one.start_s) // one.step_s].append(part.counts)
    read, ran = set(_within(one, seen)), set(_within(one, live))
    steps = []
    for place, counts in enumerate(map(total, found)):
        nothing = (
            State.NO_TRAFFIC
            if place in read
            else State.NOT_SEEN
            if place in ran
            else State.NOT_RUNNING
        )
        start_s = one.start_s + place * one.step_s
        steps.append(
            Step(
                start_s=start_s,
                end_s=start_s + one.step_s,
                counts=counts if counts.drafted else None,
                state=State.DRAFTED if counts.drafted else nothing,
            )
        )
    return tuple(steps)


def _within(one: Range, stretches: Sequence[Stretch]) -> Iterator[int]:
    """The steps that any of the stretches touches."""
    step_ns = one.step_s * NANOSECONDS
    for stretch in stretches:
        first = max(0, (stretch.from_ns - one.start_ns) // step_ns)
        last = min(one.steps - 1, (stretch.to_ns - one.start_ns) // step_ns)
        yield from range(first, last + 1)


def _positions(counts: Counts) -> tuple[PositionBar, ...]:
    if not counts.num_drafts:
        return ()
    return tuple(
        PositionBar(position=place, accepted=accepted, drafts=counts.num_drafts)
        for place, accepted in enumerate(counts.per_position, start=1)
    )


def _replicas(parts: Iterable[Part]) -> tuple[ReplicaLine, ...]:
    sums: defaultdict[tuple[str, int], list[Part]] = defaultdict(list)
    for part in parts:
        sums[part.role, part.rank].append(part)
    return tuple(
        ReplicaLine(name=same[0].replica, counts=_sum(same))
        for _key, same in sorted(sums.items())
    )
