"""Stop everything of a deployment at once: permission and a reason are enough, no approval is asked."""

import uuid
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    CHANGING_STATES,
    AuditAction,
    Command,
    CommandKind,
    CommandState,
    Deployment,
    EventKind,
    Release,
    ReleaseEvent,
    ReleaseState,
    Replica,
    ReplicaState,
    TeamRole,
    User,
)
from deployments.planning.text import Text, text
from deployments.selectors.access import roles_in
from deployments.selectors.emergencies import EMERGENCY, MAY_STOP
from deployments.services.audit import record
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.outbox import add_command
from deployments.services.rollout.journal import append_event

TRIES = 3


def emergency_stop(
    user: User, deployment: Deployment, reason: str, idempotency_key: str
) -> Release:
    """Stop what runs of a deployment, and end what is being released without starting the old again.

    Returns a release to look at; one that is being stopped already is left as it is.

    Raises:
        NotAllowedError: the person is neither operator, approver nor admin of the team.
        ConflictError: nothing runs, or no reason is given.
    """
    if not roles_in(user, deployment.team) & MAY_STOP:
        raise NotAllowedError(
            _(
                "An emergency stop needs the role “%(one)s”, “%(two)s” or “%(three)s” in the "
                "team %(team)s."
            )
            % {
                "one": TeamRole.OPERATOR.label,
                "two": TeamRole.APPROVER.label,
                "three": TeamRole.ADMIN.label,
                "team": deployment.team.name,
            }
        )
    if not reason.strip():
        raise ConflictError(_("Say why it is stopped; the others of the team read it."))
    for _attempt in range(TRIES):
        try:
            with transaction.atomic():
                Deployment.objects.select_for_update().get(pk=deployment.pk)
                return _stop(user, deployment, reason.strip(), idempotency_key)
        except IntegrityError:
            # Somebody began or ended a release at the same instant: look again.
            continue
    raise ConflictError(_("The deployment is changing right now. Try again."))


def _stop(user: User, deployment: Deployment, reason: str, key: str) -> Release:
    moving = deployment.releases.filter(state__in=CHANGING_STATES).first()
    order = {"order": uuid.uuid4().hex, "by": user.pk, "who": str(user), "why": reason}
    if moving is None:
        stopped = _stop_next(deployment, order, user, key)
        if stopped is None:
            raise ConflictError(
                _("Nothing of %(name)s runs.") % {"name": deployment.name}
            )
        record(AuditAction.EMERGENCY_STOP, user, deployment, reason=reason)
        return stopped
    if order_of(moving) is None:
        _note(moving, order, CommandKind.DEPLOY)
        Command.objects.filter(
            release=moving,
            kind=CommandKind.DEPLOY,
            state__in=[CommandState.READY, CommandState.RUNNING],
        ).update(cancel_requested_at=timezone.now())
        record(AuditAction.EMERGENCY_STOP, user, deployment, reason=reason)
    return moving


def order_of(release: Release) -> ReleaseEvent | None:
    """The emergency stop that a release is under; ``None`` for none."""
    return release.events.filter(step=EMERGENCY).order_by("-sequence").first()


def said_of(order: ReleaseEvent) -> Text:
    """Who stopped it and why, in one sentence."""
    return _sentence(str(order.detail["who"]), str(order.detail["why"]))


def stop_the_rest(release: Release) -> None:
    """When a release under an emergency stop has ended, stop what still runs of its deployment.

    Called in the transaction that ends the command, so that it cannot be lost.
    """
    event = order_of(release)
    if event is None:
        return
    order = {name: event.detail[name] for name in ("order", "by", "who", "why")}
    user = User.objects.get(pk=event.detail["by"])
    _stop_next(release.deployment, order, user, uuid.uuid4().hex)


def _stop_next(
    deployment: Deployment, order: dict[str, object], user: User, key: str
) -> Release | None:
    release = _running(deployment, str(order["order"])).first()
    if release is None:
        return None
    _note(release, order, CommandKind.STOP)
    now: datetime = timezone.now()
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.STOPPING,
        state_since=now,
        cause_code="emergency_stop",
        cause=_sentence(str(order["who"]), str(order["why"])),
        next_action="",
    )
    add_command(release, CommandKind.STOP, user, key)
    return release


def _running(deployment: Deployment, order: str) -> QuerySet[Release]:
    """Releases of which something may run, and that this order has not stopped yet."""
    alive = Replica.objects.filter(
        release=OuterRef("pk"), state__in=[ReplicaState.RUNNING, ReplicaState.UNKNOWN]
    ).exclude(container_id="")
    stopped = ReleaseEvent.objects.filter(
        step=EMERGENCY, detail__order=order, detail__kind=CommandKind.STOP
    )
    return (
        deployment.releases.exclude(state__in=CHANGING_STATES)
        .filter(Q(state=ReleaseState.LIVE) | Exists(alive))
        .exclude(pk__in=stopped.values("release"))
        .order_by("-number")
    )


def _note(release: Release, order: dict[str, object], kind: CommandKind) -> None:
    append_event(
        release,
        ReleaseEvent(
            step=EMERGENCY,
            kind=EventKind.NOTE,
            message=_sentence(str(order["who"]), str(order["why"])),
            detail={**order, "kind": kind.value},
        ),
    )


def _sentence(who: str, why: str) -> Text:
    return text("Emergency stop by {who}: {why}", who=who, why=why)
