"""Open and close alarms from what was added up; whatever is done twice changes nothing."""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    HOUR_S,
    MINUTE_S,
    AcceptanceStanding,
    Alarm,
    AlarmEnd,
    AuditAction,
    CounterCursor,
    HourRollup,
    LogGap,
    MinuteRollup,
    Release,
    ReleaseState,
    RollupRound,
    ServingMinute,
    TeamRole,
    User,
)
from deployments.planning.plan import Role
from deployments.selectors.access import has_role
from deployments.selectors.host_troubles import soonest_lost_logs, worst_clocks
from deployments.selectors.standings import NOT_SPECULATING, stale_edge
from deployments.services.audit import record
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.notices.announcing import tell_of_alarm
from deployments.services.standings import BASE_DAYS, WITHOUT_DRAFTS, counts_of
from deployments.telemetry.acceptance_history import NOTHING, Counts
from deployments.telemetry.alarms import (
    Kind,
    Seen,
    judge,
    might_have_fallen,
)
from deployments.telemetry.baseline import baseline_of
from deployments.telemetry.host_signs import ClockOff, LogGrowth
from deployments.telemetry.signs import Sign, State

WINDOW_S = 30 * MINUTE_S
POSITIONS_HOURS = 2
WEEK_S = BASE_DAYS * 24 * HOUR_S
SETTLED_AFTER = timedelta(minutes=5)
"""A release that has just gone live warms up."""
CLOSED_AFTER = timedelta(minutes=10)
"""It has to look right for so long."""
AT_ONCE = 500
LONGEST_NOTE = 500


@dataclass(slots=True)
class Facts:
    """What was read of one live release."""

    release: Release
    window: Counts = NOTHING
    positions: Counts = NOTHING
    generated: int | None = None
    differs: tuple[int, int] | None = None
    lost_lines: int = 0
    log: LogGrowth | None = None
    clock: ClockOff | None = None
    hours: list[tuple[int, Counts]] = field(default_factory=list)


def watch_alarms() -> int:
    """Judge every live deployment that speculates and is heard of; returns alarms opened or closed.

    Alarms of what stopped, fell silent or was replaced are closed: nothing is known of them now.
    """
    now = timezone.now()
    with transaction.atomic():
        # A round that adds samples meanwhile would be overlooked.
        RollupRound.objects.get_or_create(only=True)
        RollupRound.objects.select_for_update().get(only=True)
        live = _live()
        changed = _close_unknown(live, now)
        for place in range(0, len(live), AT_ONCE):
            changed += _watch(live[place : place + AT_ONCE], now)
    return changed


def _watch(live: Iterable[Release], now: datetime) -> int:
    facts = _read(live, int(now.timestamp()))
    weeks = _weeks(facts)
    open_alarms: dict[uuid.UUID, dict[str, Alarm]] = {}
    for row in Alarm.objects.filter(deployment__in=facts, closed_at=None):
        open_alarms.setdefault(row.deployment_id, {})[row.kind] = row
    changed = 0
    for pk, one in facts.items():
        signs = judge(_seen(one, weeks.get(pk)))
        changed += _apply(one.release, signs, open_alarms.get(pk, {}), now)
    return changed


def _live() -> list[Release]:
    """Live releases that draft and are heard of."""
    rows = (
        Release.objects.filter(state=ReleaseState.LIVE, live_at__isnull=False)
        .exclude(plan__method__in=NOT_SPECULATING)
        .filter(
            Q(deployment__standing__heard_at__gte=stale_edge())
            | Q(live_at__gte=stale_edge())
        )
        .select_related("plan")
        .defer("plan__document")
    )
    return list(rows.order_by("deployment_id"))


def _close_unknown(live: Iterable[Release], now: datetime) -> int:
    """Close what cannot be told any more; returns how many."""
    numbers = {row.deployment_id: row.number for row in live}
    still_open = Alarm.objects.filter(closed_at=None)
    running = dict(
        Release.objects.filter(
            state=ReleaseState.LIVE, deployment__in=still_open.values("deployment")
        ).values_list("deployment_id", "number")
    )
    closed = 0
    for row in still_open:
        if numbers.get(row.deployment_id) == row.release_number:
            continue
        number = running.get(row.deployment_id)
        if number is None:
            because = AlarmEnd.STOPPED
        elif number != row.release_number:
            because = AlarmEnd.REPLACED
        else:
            because = AlarmEnd.SILENT
        closed += _close(row, because, now)
    return closed


def _close(row: Alarm, because: AlarmEnd, now: datetime) -> int:
    return Alarm.objects.filter(pk=row.pk, closed_at=None).update(
        closed_at=now, closed_because=because
    )


def _read(live: Iterable[Release], now_s: int) -> dict[uuid.UUID, Facts]:
    facts = {row.deployment_id: Facts(release=row) for row in live}
    since_s = now_s // MINUTE_S * MINUTE_S - WINDOW_S
    recent = _of_live(MinuteRollup.objects.all(), facts).filter(start_s__gte=since_s)
    for pk, accepted, drafted, drafts in (
        recent.filter(drafted__gt=0)
        .values("deployment_id")
        .annotate(a=Sum("accepted"), d=Sum("drafted"), n=Sum("num_drafts"))
        .values_list("deployment_id", "a", "d", "n")
    ):
        facts[pk].window = Counts(accepted=accepted, drafted=drafted, num_drafts=drafts)
    generated = _of_live(ServingMinute.objects.all(), facts)
    for pk, tokens in (
        generated.filter(start_s__gte=since_s)
        .values("deployment_id")
        .annotate(n=Sum("generated"))
        .values_list("deployment_id", "n")
    ):
        facts[pk].generated = tokens
    hours = _of_live(HourRollup.objects.all(), facts).filter(
        start_s__gt=now_s - POSITIONS_HOURS * HOUR_S, drafted__gt=0
    )
    for pk, positions, *sums in hours.values_list(
        "deployment_id", "positions", "accepted", "drafted", "num_drafts", "per_position"
    ):  # fmt: skip
        one = facts[pk]
        if positions == one.release.plan.num_speculative_tokens:
            one.positions += counts_of(*sums)
    _read_troubles(facts, now_s)
    return facts


def _of_live(rows: QuerySet, deployments: Collection[uuid.UUID]) -> QuerySet:  # type: ignore[type-arg]
    return (
        rows.filter(
            deployment__in=deployments, replica__release__state=ReleaseState.LIVE
        )
        .exclude(replica__role=Role.PREFILL)
        .exclude(replica__canary=True)
        .order_by()
    )


def _read_troubles(facts: Mapping[uuid.UUID, Facts], now_s: int) -> None:
    """Where log and counters differ, and lines that were lost while no counter was read."""
    cursors = CounterCursor.objects.filter(
        replica__release__deployment__in=facts,
        replica__release__state=ReleaseState.LIVE,
    ).exclude(replica__role__in=WITHOUT_DRAFTS)
    covered: set[str] = set()
    for pk, container, scraped_ns, problem, differs in cursors.values_list(
        "replica__release__deployment_id",
        "container_id",
        "scraped_ns",
        "problem",
        "differs",
    ):
        if scraped_ns and not problem:
            covered.add(container)
        if differs:
            facts[pk].differs = (differs["lines"], differs["counters"])
    gaps = LogGap.objects.filter(
        replica__release__deployment__in=facts,
        replica__release__state=ReleaseState.LIVE,
        to_ns__gte=(now_s - HOUR_S) * 10**9,
    ).exclude(replica__role__in=WITHOUT_DRAFTS)
    for pk, container in gaps.values_list(
        "replica__release__deployment_id", "container_id"
    ):
        facts[pk].lost_lines += container not in covered
    for pk, log in soonest_lost_logs(facts).items():
        facts[pk].log = log
    for pk, clock in worst_clocks(facts).items():
        facts[pk].clock = clock


def _weeks(facts: Mapping[uuid.UUID, Facts]) -> dict[uuid.UUID, Counts]:
    """The week before by deployment; the hours of those that might have fallen are read as well."""
    weeks = {
        row.deployment_id: Counts(
            accepted=row.before_accepted,
            drafted=row.before_accepted,
            num_drafts=row.before_num_drafts,
        )
        for row in AcceptanceStanding.objects.filter(
            deployment__in=facts, before_num_drafts__gt=0
        )
    }
    suspects = [
        pk for pk, one in facts.items() if might_have_fallen(one.window, weeks.get(pk))
    ]
    for pk in suspects:
        weeks[pk] = _read_hours(facts[pk])
    return weeks


def _read_hours(one: Facts) -> Counts:
    """The hours with the same method and count, up to the window; returns their sum."""
    plan = one.release.plan
    now_s = int(timezone.now().timestamp())
    hours: dict[int, Counts] = {}
    rows = (
        HourRollup.objects.filter(
            deployment=one.release.deployment_id,
            start_s__gte=now_s - WEEK_S,
            positions=plan.num_speculative_tokens or 0,
            replica__release__plan__method=plan.method,
            drafted__gt=0,
        )
        .exclude(replica__role=Role.PREFILL)
        .exclude(replica__canary=True)
        .order_by("start_s")
    )
    for start_s, *sums in rows.values_list(
        "start_s", "accepted", "drafted", "num_drafts", "per_position"
    ):
        hours[start_s] = hours.get(start_s, NOTHING) + counts_of(*sums)
    one.hours = sorted(hours.items())
    return sum(
        (counts for start_s, counts in one.hours if start_s + HOUR_S <= now_s - HOUR_S),
        NOTHING,
    )


def _seen(one: Facts, week: Counts | None) -> Seen:
    plan = one.release.plan
    now_s = int(timezone.now().timestamp())
    before = [
        counts for start_s, counts in one.hours if start_s + HOUR_S <= now_s - HOUR_S
    ]
    return Seen(
        method=plan.method,
        count=plan.num_speculative_tokens,
        window=one.window,
        window_s=WINDOW_S,
        positions=one.positions,
        generated=one.generated,
        baseline=baseline_of(before) if before else None,
        hours=tuple(one.hours),
        week=week,
        differs=one.differs,
        lost_lines=one.lost_lines,
        log=one.log,
        clock=one.clock,
    )


def _apply(
    release: Release,
    signs: Mapping[Kind, Sign],
    open_alarms: Mapping[str, Alarm],
    now: datetime,
) -> int:
    """Open, keep or close; returns how many were opened or closed."""
    changed = 0
    settled = release.live_at is not None and release.live_at <= now - SETTLED_AFTER
    for kind, sign in signs.items():
        row = open_alarms.get(kind.value)
        if row is not None:
            changed += _follow(row, sign, now)
        elif sign.state is State.WRONG and settled:
            changed += _open(release, kind, sign, now)
    return changed


def _follow(row: Alarm, sign: Sign, now: datetime) -> int:
    """Keep an open alarm, or close it when it looked right for long enough; returns closed ones."""
    this = Alarm.objects.filter(pk=row.pk)
    if sign.state is State.WRONG:
        evidence = dict(sign.evidence)
        this.update(seen_at=now, better_since=None, text=sign.text, evidence=evidence)
    elif sign.state is State.UNSURE:
        # The time of looking right begins anew.
        this.update(better_since=None)
    elif row.better_since is None:
        this.update(better_since=now)
    elif row.better_since <= now - CLOSED_AFTER:
        return _close(row, AlarmEnd.RECOVERED, now)
    return 0


def _open(release: Release, kind: Kind, sign: Sign, now: datetime) -> int:
    began = datetime.fromtimestamp(sign.began_s, UTC) if sign.began_s else now
    row, made = Alarm.objects.get_or_create(
        deployment_id=release.deployment_id,
        kind=kind.value,
        closed_at=None,
        defaults={
            "release_number": release.number,
            "opened_at": now,
            "began_at": min(began, now),
            "seen_at": now,
            "text": sign.text,
            "evidence": dict(sign.evidence),
        },
    )
    if made:
        tell_of_alarm(row)
    return int(made)


def acknowledge_alarm(user: User, alarm: Alarm, note: str) -> None:
    """Say that somebody knows; the alarm stays until it is over.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: the note is too long.
    """
    team = alarm.deployment.team
    if not has_role(user, team, TeamRole.OPERATOR):
        raise NotAllowedError(_("Only operators of the team acknowledge alarms."))
    note = " ".join(note.split())
    if len(note) > LONGEST_NOTE:
        raise ConflictError(
            _("The note has %(length)s characters; at most %(most)s are kept.")
            % {"length": len(note), "most": LONGEST_NOTE}
        )
    with transaction.atomic():
        Alarm.objects.filter(pk=alarm.pk).update(
            acknowledged_by=user, acknowledged_at=timezone.now(), note=note
        )
        record(AuditAction.ALARM_ACKNOWLEDGED, user, alarm, reason=note)
