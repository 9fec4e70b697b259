"""Start, cancel, stop and remove releases: rows and a command, never Docker itself."""

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    CHANGING_STATES,
    ApprovalRequest,
    AuditAction,
    Command,
    CommandKind,
    CommandState,
    Deployment,
    Host,
    Release,
    ReleaseState,
    Replica,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.plan import Plan as PlanValue
from deployments.planning.plan import PlannedReplica
from deployments.selectors.earlier_releases import changed_hosts, replaced_by_next
from deployments.selectors.plans import stored_plan
from deployments.selectors.releases import REMOVABLE, STOPPABLE
from deployments.selectors.texts import listed
from deployments.selectors.votes import team_of
from deployments.services.access import require_role
from deployments.services.approvals import check_approval
from deployments.services.audit import record
from deployments.services.device_queue import book_or_queue, look_at_once
from deployments.services.errors import ConflictError
from deployments.services.freezes import check_freeze
from deployments.services.outbox import add_command, command_with_key
from deployments.services.schedules import check_start_time
from deployments.services.sharing import check_place

ENDED = {
    CommandKind.STOP: AuditAction.RELEASE_STOPPED,
    CommandKind.REMOVE: AuditAction.RELEASE_REMOVED,
}


def start_release(
    user: User, request: ApprovalRequest, idempotency_key: str
) -> Release:
    """Begin the release of an approved request: rows, bookings and the command, all or nothing.

    Where another release holds a device or port, or waits for it, the release is queued behind that.
    The same key again, or another click on the same request, returns the first release.

    Raises:
        NotAllowedError: the person is no operator of the team.
        NotApprovedError: no valid approval covers the plan, or the cluster is not shared any more.
        FrozenError: a freeze window forbids to start anything new now.
        NotYetError, TooLateError: its time has not come, or is over.
        ConflictError: the deployment is being changed, or a host left the cluster.
    """
    require_role(user, team_of(request), TeamRole.OPERATOR)
    with transaction.atomic():
        claimed = _claim(request)
        request.refresh_from_db(fields=["state", "expires_at"])
        begun = None if claimed else request.releases.first()
        if begun is not None:
            return begun
        check_place(request.plan.revision.deployment)
        check_approval(request)
        check_freeze(request)
        check_start_time(request)
        if not claimed:
            raise ConflictError(_("This request is no longer approved."))
        release = begin_release(user, request, idempotency_key)
        told = {"digest": request.digest}
        record(AuditAction.RELEASE_STARTED, user, release, after=told)
    return release


def begin_release(
    user: User, request: ApprovalRequest, idempotency_key: str
) -> Release:
    """Make the rows, bookings and command of a release; the caller has proved that it may.

    Call within a transaction.

    Raises:
        PlanningError: the stored plan does not match its digest.
        ConflictError: the deployment is being changed, or a host left the cluster.
    """
    plan = stored_plan(request.plan)
    release = _create_release(user, request, request.plan.revision.deployment)
    book_or_queue(release, _resources(_create_replicas(release, plan)))
    add_command(release, CommandKind.DEPLOY, user, idempotency_key)
    return release


def release_again(user: User, earlier: Release, idempotency_key: str) -> Release:
    """Release the plan of an earlier release once more: to restore it, or to go back to it.

    Nothing but the digest that was approved then can run, and only while its approval holds; the
    hosts must still be as they were planned. The same key again returns the same release.

    Raises:
        NotAllowedError: the person is no operator of the team.
        NotApprovedError: no valid approval covers the plan, or the cluster is not shared any more.
        PlanningError: the stored plan does not match its digest.
        FrozenError: a freeze window forbids it, and it is no way back.
        NotYetError, TooLateError: it was never live, and its time has not come or is over.
        ConflictError: it never ran, the hosts have changed, or the deployment is being changed.
    """
    request = earlier.request
    require_role(user, team_of(request), TeamRole.OPERATOR)
    known = _begun_with(idempotency_key, request)
    if known is not None:
        return known
    check_place(earlier.deployment)
    check_approval(request)
    check_freeze(request)
    check_start_time(request)
    if request.state != RequestState.RELEASED:
        raise ConflictError(_("This plan was not released yet: deploy its request."))
    plan = stored_plan(earlier.plan)
    changed = changed_hosts(plan, earlier.deployment.cluster)
    if changed:
        raise ConflictError(
            _(
                "%(hosts)s changed since this plan was made (platform, devices, architecture, "
                "address or model directory). Plan it again."
            )
            % {"hosts": listed(changed)}
        )
    try:
        with transaction.atomic():
            release = _create_release(user, request, earlier.deployment)
            book_or_queue(release, _resources(_create_replicas(release, plan)))
            add_command(release, CommandKind.DEPLOY, user, idempotency_key)
            told = {"digest": request.digest, "earlier_release": earlier.number}
            record(AuditAction.RELEASE_RESTORED, user, release, after=told)
    except ConflictError:
        known = _begun_with(idempotency_key, request)
        if known is not None:
            return known
        raise
    return release


def _begun_with(idempotency_key: str, request: ApprovalRequest) -> Release | None:
    """The release that an earlier click with this key made."""
    command = (
        Command.objects.filter(idempotency_key=idempotency_key)
        .select_related("release")
        .first()
    )
    if command is None:
        return None
    known = command_with_key(command.release, CommandKind.DEPLOY, idempotency_key)
    if known is None or command.release.request_id != request.pk:
        raise ConflictError(
            _("This page is out of date. Load it again, then repeat what you did.")
        )
    return command.release


def _claim(request: ApprovalRequest) -> bool:
    """Take the approved request for this release; a click at the same instant waits here."""
    claimed = ApprovalRequest.objects.filter(
        pk=request.pk, state=RequestState.APPROVED, expires_at__gt=timezone.now()
    ).update(state=RequestState.RELEASED)
    return claimed == 1


def _create_release(
    user: User, request: ApprovalRequest, deployment: Deployment
) -> Release:
    newest = deployment.releases.aggregate(newest=Max("number"))["newest"]
    try:
        with transaction.atomic():
            return Release.objects.create(
                deployment=deployment,
                plan=request.plan,
                request=request,
                number=(newest or 0) + 1,
                started_by=user,
                replaces=replaced_by_next(deployment),
            )
    except IntegrityError as error:
        raise ConflictError(
            _("%(name)s is already being changed. Wait until that ends, or cancel it.")
            % {"name": deployment.name}
        ) from error


def _create_replicas(
    release: Release, plan: PlanValue
) -> list[tuple[Replica, PlannedReplica]]:
    cluster = release.deployment.cluster
    hosts = {host.name: host for host in Host.objects.filter(cluster=cluster)}
    made = []
    for planned in plan.replicas:
        host = hosts.get(planned.host)
        if host is None:
            raise ConflictError(
                _("The host %(host)s is no longer in this cluster. Plan again.")
                % {"host": planned.host}
            )
        replica = Replica.objects.create(
            release=release,
            host=host,
            role=planned.role,
            rank=planned.rank,
            canary=planned.canary,
            container_name=planned.container.name,
        )
        made.append((replica, planned))
    return made


def _resources(
    replicas: list[tuple[Replica, PlannedReplica]],
) -> list[tuple[Replica, str, int]]:
    """Every device and port that the replicas need.

    What the release that is being replaced holds stays with it until its container is gone; the
    executor then hands it over (``services.rollout``).
    """
    return [
        (replica, kind, number)
        for replica, planned in replicas
        for kind, numbers in (
            ("device", planned.devices),
            ("port", tuple(port.host for port in planned.container.ports)),
        )
        for number in numbers
    ]


def cancel_release(user: User, release: Release) -> None:
    """Ask the executor to stop between two steps and undo what this release made.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: nothing is being done that could be cancelled.
    """
    require_role(user, release.deployment.team, TeamRole.OPERATOR)
    with transaction.atomic():
        command = Command.objects.filter(
            release=release,
            kind=CommandKind.DEPLOY,
            state__in=[CommandState.READY, CommandState.RUNNING],
        )
        if command.update(cancel_requested_at=timezone.now()) != 1:
            raise ConflictError(_("Nothing is being done that could be cancelled."))
        command_id = command.values_list("pk", flat=True).get()
        transaction.on_commit(lambda: look_at_once(command_id))
        record(AuditAction.RELEASE_CANCELLED, user, release)


def stop_release(user: User, release: Release, idempotency_key: str) -> Command:
    """Stop the containers of a release; their logs stay readable.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: the release is not in a state that can be stopped.
    """
    return _end(user, release, CommandKind.STOP, STOPPABLE, idempotency_key)


def remove_release(user: User, release: Release, idempotency_key: str) -> Command:
    """Remove the stopped containers of a release from their hosts.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: the release still runs; stop it first.
    """
    return _end(user, release, CommandKind.REMOVE, REMOVABLE, idempotency_key)


def _end(
    user: User,
    release: Release,
    kind: CommandKind,
    allowed: tuple[ReleaseState, ...],
    idempotency_key: str,
) -> Command:
    require_role(user, release.deployment.team, TeamRole.OPERATOR)
    with transaction.atomic():
        release = Release.objects.select_for_update().get(pk=release.pk)
        known = command_with_key(release, kind, idempotency_key)
        if known is not None:
            return known
        if release.state in CHANGING_STATES or release.state not in allowed:
            raise ConflictError(
                _("This is not possible while the release is “%(state)s”.")
                % {"state": release.get_state_display()}
            )
        if kind == CommandKind.STOP:
            _begin_stopping(release)
        command = add_command(release, kind, user, idempotency_key)
        record(ENDED[kind], user, release)
        return command


def _begin_stopping(release: Release) -> None:
    try:
        with transaction.atomic():
            Release.objects.filter(pk=release.pk, state=release.state).update(
                state=ReleaseState.STOPPING, state_since=timezone.now()
            )
    except IntegrityError as error:
        raise ConflictError(
            _(
                "Another release of this deployment is being changed; wait until it ends."
            )
        ) from error
