"""What the page of a release shows, and the stamp that says whether anything changed."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from django.utils import timezone

from deployments.models import (
    CHANGING_STATES,
    Booking,
    CommandState,
    Decision,
    EventKind,
    Release,
    ReleaseEvent,
    ReleaseState,
    Replica,
    ReplicaState,
    TeamRole,
    User,
)
from deployments.models.scope import ScopedQuerySet
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, PlannedReplica
from deployments.selectors.access import roles_in
from deployments.selectors.device_queue import QueuePlace, queue_place
from deployments.selectors.diagnoses import LONGEST_EVIDENCE
from deployments.selectors.earlier_releases import (
    NOTHING_AGAIN,
    Repeats,
    recent_releases,
    repeats_of,
)
from deployments.selectors.emergencies import MAY_STOP, may_run
from deployments.selectors.methods import same_method
from deployments.selectors.phases import Phase, phases
from deployments.selectors.plans import stored_plan
from deployments.selectors.preflight import MAY_ASK
from deployments.selectors.restart_notes import tells_restart
from deployments.selectors.texts import listed
from deployments.selectors.usual_times import usual_start
from deployments.telemetry.logs.visible import visible_text

LEFT_STEP_S = 15  # what is left of the usual time is told anew so often
JOURNAL_LINES = 40
SHOWN_LINES, LINES_BEFORE = 10, 4
STOPPABLE = (ReleaseState.LIVE, ReleaseState.FAILED, ReleaseState.BLOCKED)
ENDED = (ReplicaState.CREATED, ReplicaState.EXITED)
REMOVABLE = (ReleaseState.STOPPED, ReleaseState.FAILED, ReleaseState.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLine:
    """A replica as it was planned and as it was last seen."""

    row: Replica
    planned: PlannedReplica | None

    @property
    def devices(self) -> str:
        """Device numbers on the host; empty when there are none."""
        return listed(self.planned.devices) if self.planned else ""

    @property
    def ports(self) -> str:
        """Published ports of the host; empty when there are none."""
        ports = self.planned.container.ports if self.planned else ()
        return listed(port.host for port in ports)

    @property
    def proof(self) -> str:
        """What the start-up log proves: ``match``, ``differs``, ``waiting`` or ``off``.

        ``off`` means that the plan expects no speculation and the log shows none.
        """
        expected = self.planned.speculation if self.planned else None
        if not self.row.verified_method:
            return "waiting" if expected else "off"
        same = expected is not None and (
            same_method(expected.method, self.row.verified_method)
            and expected.num_speculative_tokens
            == self.row.verified_num_speculative_tokens
        )
        return "match" if same else "differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseProgress:
    """The part of the page that changes while a release runs."""

    release: Release
    phases: tuple[Phase, ...]
    replicas: tuple[ReplicaLine, ...]
    journal: tuple[ReleaseEvent, ...]
    moving: bool
    cancelling: bool
    stamp: str
    queue: QueuePlace | None = None

    @property
    def current(self) -> Phase | None:
        """The phase that runs now."""
        return next((one for one in self.phases if one.state == "current"), None)

    @property
    def last(self) -> ReleaseEvent | None:
        """The newest line of the journal."""
        return self.journal[-1] if self.journal else None

    @property
    def drifted(self) -> tuple[Replica, ...]:
        """Replicas that are not as the release says."""
        return tuple(line.row for line in self.replicas if line.row.drift)

    @property
    def differences(self) -> tuple[Replica, ...]:
        """Those of which the release does not say so itself."""
        return tuple(
            row for row in self.drifted if row.drift_text != self.release.cause
        )

    @property
    def diagnosis(self) -> str:
        """The code of what the log of a failed replica was diagnosed with; empty for none."""
        found = (event.detail.get("diagnosis") for event in reversed(self.journal))
        return str(next(filter(None, found), ""))

    @property
    def evidence(self) -> str:
        """The line of the log that the diagnosis rests on, made harmless; empty for none."""
        found = (event.detail.get("evidence") for event in reversed(self.journal))
        line = visible_text(str(next(filter(None, found), "")))
        return line if len(line) <= LONGEST_EVIDENCE else f"{line[:LONGEST_EVIDENCE]}…"

    @property
    def last_lines(self) -> tuple[tuple[str, bool], ...]:
        """Lines of the log around what the failure is explained with: (line, whether it is that one)."""
        kept = self._failure.detail.get("log") if self._failure else None
        lines = (
            [visible_text(str(line)) for line in kept] if isinstance(kept, list) else []
        )
        clue = self.evidence.removesuffix("…")
        marked = [bool(clue) and clue in line for line in lines]
        place = marked.index(True) if any(marked) else len(lines)
        start = max(0, min(place - LINES_BEFORE, len(lines) - SHOWN_LINES))
        return tuple(zip(lines, marked, strict=True))[start : start + SHOWN_LINES]

    @property
    def reason(self) -> str:
        """Why it ended, without what was tidied up afterwards."""
        failure = self._failure
        return failure.message if failure else self.release.cause

    @property
    def aftermath(self) -> tuple[str, ...]:
        """What was done after the failure, in the order in which it was done."""
        failure = self._failure
        if failure is None:
            return ()
        return tuple(
            event.message
            for event in self.journal
            if event.sequence > failure.sequence
            and event.kind == EventKind.DONE
            and event.message
        )

    @property
    def _failure(self) -> ReleaseEvent | None:
        """The event that the release ended with; a cause that came later stands for itself."""
        return next(
            (
                event
                for event in reversed(self.journal)
                if event.kind == EventKind.FAILED
                and event.message
                and str(self.release.cause).startswith(str(event.message))
            ),
            None,
        )

    @property
    def failed(self) -> Phase | None:
        """The phase in which the release ended early."""
        return next((one for one in self.phases if one.state == "failed"), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseActions:
    """What this person may ask for now."""

    cancel: bool
    stop: bool
    remove: bool
    acknowledge: bool = False
    at_once: bool = False
    repeats: Repeats = NOTHING_AGAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePage:
    """Everything on the page of a release."""

    progress: ReleaseProgress
    actions: ReleaseActions
    plan: Plan | None
    approved_by: tuple[str, ...]
    hosts: str
    may_plan: bool
    may_check: bool


def releases_for(user: User) -> ScopedQuerySet[Release]:
    """Releases of the person's teams with what their pages read."""
    rows = Release.objects.for_user(user).select_related(
        "deployment__cluster", "deployment__team", "request__preflight", "started_by"
    )
    rows = rows.select_related("replaces__plan__revision", "broken_glass")
    return rows.select_related(
        "plan__revision__deployment__cluster", "plan__revision__deployment__team"
    )


def release_page(user: User, release: Release) -> ReleasePage:
    """Read the page of one release."""
    plan = readable_plan(release)
    progress = release_progress(release, plan)
    votes = release.request.approvals.filter(decision=Decision.APPROVE)
    roles = roles_in(user, release.deployment.team)
    operates = TeamRole.OPERATOR in roles
    return ReleasePage(
        progress=progress,
        actions=_actions(progress, roles),
        may_plan=operates,
        may_check=bool(MAY_ASK & roles) and not progress.moving,
        plan=plan,
        approved_by=tuple(votes.values_list("user_name", flat=True)),
        hosts=listed(dict.fromkeys(one.row.host.name for one in progress.replicas)),
    )


def release_progress(release: Release, plan: Plan | None) -> ReleaseProgress:
    """Read the changing part of one release."""
    events = list(release.events.select_related("replica"))
    replicas = list(release.replicas.select_related("host"))
    command = release.commands.filter(
        state__in=[CommandState.READY, CommandState.RUNNING]
    ).first()
    cancelling = command is not None and command.cancel_requested_at is not None
    moving = release.state in CHANGING_STATES or command is not None
    hosts = {row.host_id for row in replicas}
    queue = queue_place(release, hosts)
    timeline = phases(release, events, timezone.now(), usual_start(release, hosts))
    return ReleaseProgress(
        release=release,
        phases=timeline,
        replicas=tuple(
            ReplicaLine(row=row, planned=planned_replica(plan, row)) for row in replicas
        ),
        journal=tuple(_told(events)[-JOURNAL_LINES:]),
        moving=moving,
        cancelling=cancelling,
        queue=queue,
        stamp=_stamp(
            [
                release.state,
                str(release.state_since),
                str(release.deadline_at),
                release.cause,
                release.next_action,
                release.warning,
                moving,
                cancelling,
                queue.facts if queue else None,
                [[one.sequence, one.message, one.detail] for one in events[-3:]],
                [_seen(replica) for replica in replicas],
                [one.left // LEFT_STEP_S for one in timeline if one.left is not None],
            ]
        ),
    )


def readable_plan(release: Release) -> Plan | None:
    """The stored plan; ``None`` when this panel cannot read it or it was tampered with."""
    try:
        return stored_plan(release.plan)
    except PlanningError:
        return None


def planned_replica(plan: Plan | None, row: Replica) -> PlannedReplica | None:
    """What was planned for a replica."""
    replicas = plan.replicas if plan else ()
    return next(
        (one for one in replicas if one.role == row.role and one.rank == row.rank), None
    )


def _told(events: list[ReleaseEvent]) -> list[ReleaseEvent]:
    """The journal without what was begun and has an outcome, which tells the same step again."""
    ended = {
        (event.step, event.replica_id): event.sequence
        for event in events
        if event.kind in {EventKind.DONE, EventKind.FAILED}
    }
    return [
        event
        for event in events
        if event.kind != EventKind.INTENT
        or event.sequence > ended.get((event.step, event.replica_id), -1)
    ]


def _seen(replica: Replica) -> list[object]:
    return [
        replica.state,
        replica.container_id,
        replica.exit_code,
        replica.ready,
        replica.drift,
        replica.drift_text,
        replica.verified_method,
        replica.verified_num_speculative_tokens,
    ]


def _stamp(facts: list[object]) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _actions(progress: ReleaseProgress, roles: frozenset[TeamRole]) -> ReleaseActions:
    release = progress.release
    may = TeamRole.OPERATOR in roles
    deploying = progress.moving and release.state not in {
        ReleaseState.STOPPING,
        *REMOVABLE,
    }
    resting = may and not progress.moving
    return ReleaseActions(
        cancel=may and deploying and not progress.cancelling,
        stop=resting
        and may_be_stopped(release.state, [one.row for one in progress.replicas]),
        remove=resting
        and release.state in REMOVABLE
        and (_has_container(progress) or _holds_something(release)),
        acknowledge=may and tells_restart(release.warning),
        at_once=bool(roles & MAY_STOP)
        and may_run((release,), [line.row for line in progress.replicas]),
        repeats=repeats_of(
            release,
            recent_releases(release.deployment_id),
            drifted=bool(progress.drifted),
        )
        if resting
        else NOTHING_AGAIN,
    )


class Kept(Protocol):
    """What is known of the container of a replica."""

    @property
    def container_id(self) -> str:
        """Its id; empty where none was made."""

    @property
    def state(self) -> str:
        """How it was last seen."""


def may_be_stopped(state: str, replicas: Iterable[Kept]) -> bool:
    """Whether stopping a release in this state would stop anything.

    Of a failed one only what may still run counts.
    """
    kept = [
        row
        for row in replicas
        if row.container_id and row.state != ReplicaState.REMOVED
    ]
    if state == ReleaseState.LIVE:
        return bool(kept)
    return state in STOPPABLE and any(row.state not in ENDED for row in kept)


def _has_container(progress: ReleaseProgress) -> bool:
    """Whether a container was made and is not known to be gone."""
    return any(
        line.row.container_id and line.row.state != ReplicaState.REMOVED
        for line in progress.replicas
    )


def _holds_something(release: Release) -> bool:
    held = Booking.objects.filter(replica__release=release, released_at=None)
    return held.exists()
