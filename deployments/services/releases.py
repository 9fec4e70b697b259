"""Start, cancel, stop and remove releases: rows and a command, never Docker itself."""

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    CHANGING_STATES,
    ApprovalRequest,
    Booking,
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
from deployments.selectors.plans import stored_plan
from deployments.services.access import require_role
from deployments.services.approvals import check_approval, team_of
from deployments.services.errors import ConflictError
from deployments.services.outbox import add_command

STOPPABLE = (ReleaseState.LIVE, ReleaseState.FAILED, ReleaseState.BLOCKED)
REMOVABLE = (ReleaseState.STOPPED, ReleaseState.FAILED, ReleaseState.CANCELLED)


def start_release(
    user: User, request: ApprovalRequest, idempotency_key: str
) -> Release:
    """Begin the release of an approved request: rows, bookings and the command, all or nothing.

    The same key again, or another click on the same request, returns the first release.

    Raises:
        NotAllowedError: the person is no operator of the team.
        NotApprovedError: no valid approval covers the plan.
        ConflictError: the deployment is being changed, or a device or port is held by another.
    """
    require_role(user, team_of(request), TeamRole.OPERATOR)
    with transaction.atomic():
        begun = request.releases.first()
        if begun is not None:
            return begun
        check_approval(request)
        plan = stored_plan(request.plan)
        deployment = request.plan.revision.deployment
        release = _create_release(user, request, deployment)
        _create_replicas(release, plan)
        claimed = ApprovalRequest.objects.filter(
            pk=request.pk, state=RequestState.APPROVED
        ).update(state=RequestState.RELEASED)
        if claimed != 1:
            raise ConflictError(_("This request is no longer approved."))
        add_command(release, CommandKind.DEPLOY, user, idempotency_key)
    return release


def _create_release(
    user: User, request: ApprovalRequest, deployment: Deployment
) -> Release:
    newest = deployment.releases.aggregate(newest=Max("number"))["newest"]
    live = deployment.releases.filter(state=ReleaseState.LIVE).first()
    try:
        with transaction.atomic():
            return Release.objects.create(
                deployment=deployment,
                plan=request.plan,
                request=request,
                number=(newest or 0) + 1,
                started_by=user,
                replaces=live,
            )
    except IntegrityError as error:
        raise ConflictError(
            _("%(name)s is already being changed. Wait until that ends, or cancel it.")
            % {"name": deployment.name}
        ) from error


def _create_replicas(release: Release, plan: PlanValue) -> None:
    cluster = release.deployment.cluster
    hosts = {host.name: host for host in Host.objects.filter(cluster=cluster)}
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
            container_name=planned.container.name,
        )
        _book(release, replica, planned)


def _book(release: Release, replica: Replica, planned: PlannedReplica) -> None:
    """Book devices and ports; those of this deployment's own earlier releases are taken over later.

    A booking of the release that is being replaced stays with it until its container is gone;
    the executor then hands it over (``services.rollout``).
    """
    wanted = [("device", device) for device in planned.devices]
    wanted += [("port", port.host) for port in planned.container.ports]
    for kind, number in wanted:
        held = (
            Booking.objects.filter(
                host=replica.host, released_at=None, **{kind: number}
            )
            .select_related("replica__release__deployment")
            .first()
        )
        if held is None:
            _book_one(replica, kind, number)
        elif held.replica.release.deployment_id != release.deployment_id:
            raise _held(replica, kind, number, held.replica.release.deployment.name)


def _book_one(replica: Replica, kind: str, number: int) -> None:
    try:
        with transaction.atomic():
            Booking.objects.create(host=replica.host, replica=replica, **{kind: number})
    except IntegrityError as error:
        raise _held(replica, kind, number, _("another deployment")) from error


def _held(replica: Replica, kind: str, number: int, holder: str) -> ConflictError:
    return ConflictError(
        _(
            "%(kind)s %(number)s of %(host)s is held by %(holder)s. "
            "Stop that deployment, or plan again for other hosts."
        )
        % {
            "kind": _("Device") if kind == "device" else _("Port"),
            "number": number,
            "host": replica.host.name,
            "holder": holder,
        }
    )


def cancel_release(user: User, release: Release) -> None:
    """Ask the executor to stop between two steps and undo what this release made.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: nothing is being done that could be cancelled.
    """
    require_role(user, release.deployment.cluster.team, TeamRole.OPERATOR)
    asked = Command.objects.filter(
        release=release,
        kind=CommandKind.DEPLOY,
        state__in=[CommandState.READY, CommandState.RUNNING],
    ).update(cancel_requested_at=timezone.now())
    if asked != 1:
        raise ConflictError(_("Nothing is being done that could be cancelled."))


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
    require_role(user, release.deployment.cluster.team, TeamRole.OPERATOR)
    known = Command.objects.filter(idempotency_key=idempotency_key).first()
    if known is not None:
        return known
    with transaction.atomic():
        release.refresh_from_db()
        if release.state in CHANGING_STATES or release.state not in allowed:
            raise ConflictError(
                _("This is not possible while the release is “%(state)s”.")
                % {"state": release.get_state_display()}
            )
        if kind == CommandKind.STOP:
            _begin_stopping(release)
        return add_command(release, kind, user, idempotency_key)


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
