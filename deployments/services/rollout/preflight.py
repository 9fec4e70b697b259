"""VALIDATE and BOOK: prove the approval, look at the hosts again, hold devices and ports."""

from pathlib import Path

from django.db import IntegrityError, transaction

from deployments.docker_api.containers import ListedContainer, list_containers
from deployments.models import Booking, Host, ReleaseState, Replica
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, said_by, sentences, text
from deployments.selectors.planning_inputs import host_snapshots
from deployments.services.approvals import check_approval, mark_stale
from deployments.services.errors import NotApprovedError
from deployments.services.freezes import FrozenError, check_freeze
from deployments.services.observation import look_at, store_observation
from deployments.services.rollout.journal import Act
from deployments.services.rollout.outcomes import Done, StepFailedError
from deployments.services.rollout.rollout import (
    INSTANCE_LABEL,
    RELEASE_LABEL,
    Rollout,
    policy_of,
    resources,
)
from deployments.services.rollout.weights_check import prove_weights


def validate(rollout: Rollout, act: Act) -> Done:
    """Prove that exactly this plan may run now, on hosts that are as they were planned.

    Raises:
        StepFailedError: nothing may run; the release ends blocked.
        DockerApiError: a host does not answer.
    """
    del act
    prove_approval(rollout)
    for host in rollout.hosts:
        with rollout.engine(host) as engine:
            seen = look_at(engine)
        if not store_observation(host, seen):
            raise StepFailedError(
                "different_engine",
                text("{host}: {reason}", host=host.name, reason=host.reason),
                text("Register the host anew if this is meant, then plan again."),
                final=ReleaseState.BLOCKED,
            )
        _prove_mounts(rollout, host)
    _prove_hosts(rollout)
    notes = prove_weights(rollout)
    return Done(
        sentences(text("The approval holds and the hosts are as planned."), *notes)
    )


def prove_approval(rollout: Rollout) -> None:
    """Ask again whether the approval holds and no freeze forbids it: both may have changed meanwhile.

    Raises:
        StepFailedError: nothing may start now; the release ends blocked.
    """
    request = rollout.release.request
    request.refresh_from_db()
    try:
        check_approval(request)
    except (NotApprovedError, PlanningError) as error:
        raise StepFailedError(
            "not_approved",
            said_by(error),
            text("Submit the plan again and have it approved."),
            final=ReleaseState.BLOCKED,
        ) from error
    try:
        check_freeze(request, number=rollout.release.number)
    except FrozenError as error:
        raise StepFailedError(
            "frozen",
            said_by(error),
            text("Release it again when the freeze is over."),
            final=ReleaseState.BLOCKED,
        ) from error


def _prove_hosts(rollout: Rollout) -> None:
    planned = dict(rollout.plan.snapshot_digests)
    for snapshot in host_snapshots(rollout.hosts):
        if planned.get(snapshot.name) != snapshot.digest:
            mark_stale(rollout.release.request_id)
            raise StepFailedError(
                "host_changed",
                text(
                    "{host} is no longer as it was when the plan was made (its platform, devices, "
                    "architecture, address or model directory)",
                    host=snapshot.name,
                ),
                text("Plan the revision again and have the new plan approved."),
                final=ReleaseState.BLOCKED,
            )


def _prove_mounts(rollout: Rollout, host: Host) -> None:
    """A symbolic link may lead out of the allowed directories; only this machine can be asked."""
    if not host.docker_address.startswith("unix://"):
        return
    roots = [Path(root).resolve() for root in policy_of(host).mount_roots]
    for member in rollout.members:
        for mount in member.planned.container.mounts if member.host == host else ():
            source = Path(mount.source)
            if not source.exists():
                continue
            real = source.resolve()
            if not any(real == root or root in real.parents for root in roots):
                raise StepFailedError(
                    "mount_outside",
                    text(
                        "{source} is really {real}, outside the allowed directories",
                        source=str(source),
                        real=str(real),
                    ),
                    text("Put the files below a model directory of the cluster."),
                    final=ReleaseState.BLOCKED,
                )


def book(rollout: Rollout, act: Act) -> Done:
    """Prove that every device and port is held for this release, and by nobody else.

    What the replaced release holds is handed over when its container has ended.

    Raises:
        StepFailedError: another holds one, or a container on the host listens on a port.
        DockerApiError: a host does not answer.
    """
    del act
    for host in rollout.hosts:
        with rollout.engine(host) as engine:
            listed = list_containers(engine)
        _refuse_taken_names(rollout, host, listed)
        _refuse_taken_ports(rollout, host, listed)
    with rollout.claim.fenced():
        for member in rollout.members:
            for column, number in resources(member):
                _hold(rollout, member.row, column, number)
    return Done(text("Devices and ports are held."))


def _hold(rollout: Rollout, row: Replica, column: str, number: int) -> None:
    held = (
        Booking.objects.filter(host=row.host, released_at=None, **{column: number})
        .select_related("replica__release__deployment")
        .first()
    )
    if held is None:
        try:
            with transaction.atomic():
                Booking.objects.create(host=row.host, replica=row, **{column: number})
        except IntegrityError as error:
            raise _held_by(row, column, number, text("another deployment")) from error
        return
    mine = {rollout.release.pk, rollout.old.pk if rollout.old else None}
    if held.replica.release_id not in mine:
        raise _held_by(row, column, number, held.replica.release.deployment.name)
    if held.replica.release_id != rollout.release.pk and not rollout.removes_first:
        raise _held_by(row, column, number, str(rollout.old))


def _held_by(
    row: Replica, column: str, number: int, holder: Text | str
) -> StepFailedError:
    what = text("device") if column == "device" else text("port")
    return StepFailedError(
        f"{column}_taken",
        text(
            "{what} {number} of {host} is held by {holder}",
            what=what,
            number=number,
            host=row.host.name,
            holder=holder,
        ),
        text("Stop that deployment, or plan again for other devices and ports."),
    )


def name_taken(name: str) -> StepFailedError:
    """The failure of a name that a container of somebody else has."""
    return StepFailedError(
        "name_taken",
        text(
            "another container on the host has this name and is not ours; it was left alone"
        ),
        text("Rename or remove that container, then release again."),
        final=ReleaseState.BLOCKED,
        detail={"container": name},
    )


def _recorded(rollout: Rollout, host: Host) -> set[str]:
    """The ids of the containers of this deployment on a host."""
    rows = Replica.objects.filter(
        release__deployment=rollout.release.deployment, host=host
    )
    return set(rows.values_list("container_id", flat=True))


def _refuse_taken_names(
    rollout: Rollout, host: Host, listed: tuple[ListedContainer, ...]
) -> None:
    """A container of somebody else that has a name which we need: found before anything stops."""
    wanted = {member.name for member in rollout.members if member.host == host}
    known = _recorded(rollout, host)
    own = str(rollout.release.pk)
    for one in listed:
        ours = one.container_id in known or one.labels.get(RELEASE_LABEL) == own
        if one.name in wanted and not ours:
            raise name_taken(one.name)


def _refuse_taken_ports(
    rollout: Rollout, host: Host, listed: tuple[ListedContainer, ...]
) -> None:
    """A container that is not of this deployment and publishes a port that we need."""
    known = _recorded(rollout, host)
    wanted = {
        port.host: member
        for member in rollout.members
        if member.host == host
        for port in member.planned.container.ports
    }
    for one in listed:
        foreign = one.labels.get(INSTANCE_LABEL) != str(host.pk)
        if not one.running or (one.container_id in known and not foreign):
            continue
        for port in one.host_ports:
            if port in wanted:
                raise StepFailedError(
                    "port_taken",
                    text(
                        "port {port} of {host} is held by the container {holder}",
                        port=port,
                        host=host.name,
                        holder=one.name,
                    ),
                    text("Stop that container, or plan again with another port."),
                )
