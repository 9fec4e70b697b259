"""What was counted of one run of a container, from its log and its counters together.

Call these within the transaction that stores the samples: the row is their lock.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from deployments.docker_api.frames import timestamp_ns
from deployments.models import AcceptanceSample, CounterCursor, LogCursor, Replica
from deployments.services.log_samples import FoundSample
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.joining import (
    UNKNOWN,
    added,
    ahead,
    kept,
    news,
    stored_counts,
    too_far_apart,
)

CLOCKS_APART_NS = 2_000_000_000
"""A host's clock and ours are taken to agree within 2 s; more is warned of elsewhere."""
LINES_MORE, LINES_FEWER = "lines_more", "lines_fewer"


def cursor_of(
    replica: Replica, container_id: str, run_started_at: str
) -> CounterCursor:
    """The row of a run, made at the first look.

    A run that was read before this row existed brings its stored samples along; where some of
    them may be forgotten by now, counting goes on from the next scrape.
    """
    key = {"container_id": container_id, "run_started_at": run_started_at}
    found = CounterCursor.objects.filter(**key).first()
    if found is not None:
        return found
    before = _stored(container_id, run_started_at)
    adopted = LogCursor.objects.filter(**key, lines_read__gt=0).exists() and _is_old(
        run_started_at
    )
    row, _made = CounterCursor.objects.get_or_create(
        **key,
        defaults={
            "replica": replica,
            "counted": kept(before),
            "logged": kept(before),
            "read": kept(UNKNOWN),
            "adopted": adopted,
        },
    )
    return row


def _stored(container_id: str, run_started_at: str) -> Counts:
    total = UNKNOWN
    rows = AcceptanceSample.objects.filter(
        container_id=container_id, run_started_at=run_started_at
    ).order_by()
    for accepted, drafted, drafts, shares in rows.values_list(
        "accepted", "drafted", "num_drafts", "per_position"
    ):
        one = Counts(
            accepted=accepted,
            drafted=drafted,
            num_drafts=drafts,
            per_position=tuple(shares),
        )
        total = added(total, one) if drafted else total
    return total


def _is_old(run_started_at: str) -> bool:
    kept_days = settings.SAMPLES_KEPT_DAYS
    started = datetime.fromtimestamp((timestamp_ns(run_started_at) or 0) / 10**9, UTC)
    return bool(kept_days) and started < timezone.now() - timedelta(days=kept_days)


def locked(row: CounterCursor) -> CounterCursor:
    """The row as it is now, held until the transaction ends."""
    return CounterCursor.objects.select_for_update().get(pk=row.pk)


def fill_in(
    row: CounterCursor, found: Iterable[FoundSample], *, lost: bool
) -> list[tuple[FoundSample, Counts]]:
    """What the printed windows add to what the counters told; the caller stores it.

    A window that the counters told of already adds nothing. Idle windows stay as they are.
    """
    counted, logged = stored_counts(row.counted), stored_counts(row.logged)
    read = stored_counts(row.read)
    counters_tell = bool(row.scraped_ns) and not row.problem
    row.lines_lost = row.lines_lost or lost
    fills: list[tuple[FoundSample, Counts]] = []
    newest_ns = 0
    for sample in found:
        line, newest_ns = sample.counts, max(newest_ns, sample.line.ts_ns)
        if not line.drafted:
            fills.append((sample, line))
            continue
        in_step = counted == logged
        logged = added(logged, line)
        if row.lines_lost and _after_scrape(row, sample.line.ts_ns):
            # Whatever was lost, this window ends after what the counters had told.
            logged, row.lines_lost, in_step = ahead(logged, read), False, False
        if line.num_drafts is None and counters_tell:
            continue
        fill = line if in_step else _cut(news(logged, counted), line)
        if fill.drafted:
            counted = added(counted, fill)
            fills.append((sample, fill))
    row.counted, row.logged = kept(counted), kept(logged)
    if newest_ns and counters_tell and _after_scrape(row, newest_ns):
        differs = not row.lines_lost and too_far_apart(read, logged)
        note_difference(row, LINES_FEWER, differs=differs)
    row.save(
        update_fields=["counted", "logged", "lines_lost", "differs", "differs_since"]
    )
    return fills


def _after_scrape(row: CounterCursor, at_ns: int) -> bool:
    return 0 < row.scraped_ns <= at_ns - CLOCKS_APART_NS


def _cut(fill: Counts, line: Counts) -> Counts:
    """The fill with as many positions as the line has."""
    return Counts(
        accepted=fill.accepted,
        drafted=fill.drafted,
        num_drafts=None if line.num_drafts is None else fill.num_drafts,
        per_position=fill.per_position[: len(line.per_position)],
    )


def note_difference(row: CounterCursor, kind: str, *, differs: bool) -> None:
    """Keep both sums while log and counters tell different things; the caller saves.

    Counters that began anew within a run lost what came after the last scrape, so they are not
    compared.
    """
    if differs and not row.epoch:
        lines, counters = stored_counts(row.logged), stored_counts(row.read)
        row.differs = {
            "kind": kind,
            "lines": lines.drafted,
            "counters": counters.drafted,
        }
        row.differs_since = row.differs_since or timezone.now()
    elif row.differs.get("kind") == kind or row.epoch:
        row.differs, row.differs_since = {}, None


def note_problem(row: CounterCursor, problem: str) -> None:
    """Say why the counters could not be read, and since when; empty is all well."""
    if row.problem == problem:
        return
    CounterCursor.objects.filter(pk=row.pk).update(
        problem=problem, problem_since=Now() if problem else None
    )
