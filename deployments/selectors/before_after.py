"""What the newest change of speculation did: the windows that are compared, and why if none are."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from django.db.models import OuterRef, Q, Subquery

from deployments.models import (
    DAY_S,
    HOUR_S,
    MINUTE_S,
    CounterCursor,
    Deployment,
    Release,
    Serving,
    ServingHour,
    ServingMinute,
)
from deployments.planning.plan import Role
from deployments.planning.text import Text, text
from deployments.selectors.acceptance_events import releases_until
from deployments.selectors.acceptance_parts import Part, parts_of
from deployments.selectors.acceptance_range import Range
from deployments.telemetry.acceptance_history import total
from deployments.telemetry.before_after import (
    BeforeAfter,
    Setting,
    Window,
    most_alike,
)
from deployments.telemetry.serving import histogram_from, merged

SETTLE_S = 300
"""Left out after a release went live: warm-up, and clients that come back."""
LENGTHS_S = (DAY_S, 6 * HOUR_S, HOUR_S, 15 * MINUTE_S)
EARLIER_S = (0, DAY_S, 7 * DAY_S)
"""Directly before the change, else at the same time of day or of the week."""
SHOWN_S = 30 * DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The newest release that changed speculation and its effect; without one, ``why`` says why not."""

    before: Release
    after: Release
    pair: BeforeAfter | None
    why: Text | None

    @property
    def said(self) -> tuple[Text, ...]:
        """What is to be said beside the figures: why they may not be compared, or how to read them."""
        if self.pair is None:
            return (self.why,) if self.why else ()
        return self.pair.against or self.pair.notes

    @property
    def before_at(self) -> datetime | None:
        """When the window before begins."""
        pair = self.pair
        return datetime.fromtimestamp(pair.before.start_s, UTC) if pair else None

    @property
    def after_at(self) -> datetime | None:
        """When the window after begins."""
        pair = self.pair
        return datetime.fromtimestamp(pair.after.start_s, UTC) if pair else None


def newest_change(deployment: Deployment, now_s: int) -> Changed | None:
    """Read the comparison in three queries, in one where nothing changed in 30 days.

    A release with a canary drafts in two ways at once: it is neither before nor after, and what its
    canary tries is compared once every replica does it.
    """
    now = datetime.fromtimestamp(now_s, UTC)
    releases = releases_until(deployment, now, canaries=False)
    changes = [
        (before, after)
        for before, after in pairwise(releases)
        if setting_of(before) != setting_of(after)
    ]
    if not changes:
        return None
    before, after = changes[-1]
    live_s = _seconds(after.live_at)
    if live_s < now_s - SHOWN_S:
        return None
    lives = _life(before, live_s), _life(after, now_s)
    windows = _windows(*lives)
    if windows is None:
        return Changed(before=before, after=after, pair=None, why=_too_short(*lives))
    pair = _pair(deployment, before, after, windows)
    return Changed(before=before, after=after, pair=pair, why=None)


def setting_of(release: Release) -> Setting:
    """What a release drafts with."""
    plan = release.plan
    return Setting(method=plan.method, count=plan.num_speculative_tokens)


def _seconds(moment: datetime | None) -> int:
    return int(moment.timestamp()) if moment else 0


def _life(release: Release, end_s: int) -> tuple[int, int]:
    """From when to when it served alone."""
    ended = _seconds(release.ended_at) if release.ended_at else end_s
    return _seconds(release.live_at) + SETTLE_S, min(ended, end_s)


def _windows(
    before: tuple[int, int], after: tuple[int, int]
) -> tuple[Range, list[Range]] | None:
    """The longest window that both releases filled; earlier ones in the order of choice."""
    for length_s in LENGTHS_S:
        step_s = HOUR_S if length_s > HOUR_S else MINUTE_S
        later = _range(-(-after[0] // step_s) * step_s, length_s, step_s)
        end_s = before[1] // step_s * step_s
        starts = [end_s - length_s] + [
            later.start_s - earlier_s
            for earlier_s in EARLIER_S
            if later.end_s - earlier_s <= end_s
        ]
        found = [
            _range(start_s, length_s, step_s)
            for start_s in dict.fromkeys(starts)
            if start_s >= before[0]
        ]
        if found and later.end_s <= after[1]:
            return later, found
    return None


def _range(start_s: int, length_s: int, step_s: int) -> Range:
    return Range(key="window", start_s=start_s, step_s=step_s, steps=length_s // step_s)


def _too_short(before: tuple[int, int], after: tuple[int, int]) -> Text:
    least = (LENGTHS_S[-1] + SETTLE_S) // MINUTE_S
    if before[1] - before[0] < LENGTHS_S[-1]:
        return text(
            "The release before was not live for {minutes} minutes, so there is nothing to "
            "compare with.",
            minutes=least,
        )
    if after[1] - after[0] < LENGTHS_S[-1] + MINUTE_S:
        return text(
            "The changed release is compared when it has been live for {minutes} minutes.",
            minutes=least + 1,
        )
    return text("The two releases have no full minutes of one length in common.")


def _pair(
    deployment: Deployment,
    before: Release,
    after: Release,
    windows: tuple[Range, Sequence[Range]],
) -> BeforeAfter | None:
    later, earlier = windows
    ranges = [later, *earlier]
    releases = [after] + [before] * len(earlier)
    rows = _rows(deployment, ranges, (before, after))
    made = [
        _window(one, release, rows, parts)
        for one, release, parts in zip(
            ranges, releases, parts_of(deployment, ranges), strict=True
        )
    ]
    return most_alike(made[0], made[1:], setting_of(before), setting_of(after))


def _rows(
    deployment: Deployment, ranges: Sequence[Range], releases: tuple[Release, Release]
) -> list[Serving]:
    """Of the level of the windows; a row's ``output_from`` is the series that its engine was read from."""
    level = ServingHour if ranges[0].step_s == HOUR_S else ServingMinute
    named = CounterCursor.objects.filter(replica=OuterRef("replica"))
    newest = named.exclude(output_from="").order_by("-created_at")
    within = Q()
    for one in ranges:
        within |= Q(start_s__gte=one.start_s, start_s__lt=one.end_s)
    found = level._default_manager.filter(
        within, deployment=deployment, replica__release__in=releases
    )
    return list(
        found.exclude(replica__role=Role.PREFILL)
        .select_related("replica")
        .annotate(output_from=Subquery(newest.values("output_from")[:1]))
    )


def _window(
    one: Range,
    release: Release,
    rows: Iterable[Serving],
    parts: Iterable[Part],
) -> Window:
    own = [
        row
        for row in rows
        if row.replica.release_id == release.pk
        and one.start_s <= row.start_s < one.end_s
    ]
    counted = [
        part.counts
        for part in parts
        if part.release == release.number and part.role != Role.PREFILL
    ]
    cached = sum(row.cache_scrapes for row in own)
    return Window(
        start_s=one.start_s,
        length_s=one.length_s,
        seen_s=one.step_s * len({row.start_s for row in own if row.scrapes}),
        requests=sum(row.requests for row in own),
        prompted=sum(row.prompted for row in own),
        generated=sum(row.generated for row in own),
        concurrency=_concurrency(own),
        cache=sum(row.cache_sum for row in own) / cached if cached else None,
        output=merged(histogram_from(row.output_token) for row in own),
        output_from=next(filter(None, (vars(row)["output_from"] for row in own)), ""),
        counts=total(counted),
    )


def _concurrency(rows: Iterable[Serving]) -> float:
    """The sum over replicas of the mean of their scrapes."""
    sums: defaultdict[object, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        sums[row.replica_id][0] += row.running_sum + row.waiting_sum
        sums[row.replica_id][1] += row.scrapes
    return sum(requests / scrapes for requests, scrapes in sums.values() if scrapes)
