"""VALIDATE and BOOK, and the checks of both: the approval, the hosts, devices, ports and names."""

from pathlib import Path

from django.db import IntegrityError, transaction
from django.db.models import Q

from deployments.docker_api.containers import ListedContainer, list_containers
from deployments.models import (
    Booking,
    Deployment,
    Host,
    PreflightCheck,
    Reachability,
    Release,
    ReleaseState,
    Replica,
)
from deployments.planning.text import Text, sentences, text
from deployments.selectors.planning_inputs import host_snapshots
from deployments.services.approvals import mark_stale
from deployments.services.device_queue import lock_hosts
from deployments.services.observation import look_at, store_observation
from deployments.services.rollout.checklist import Checklist
from deployments.services.rollout.journal import Act
from deployments.services.rollout.outcomes import Done, StepFailedError
from deployments.services.rollout.permission import (
    prove_approval,
    prove_moment,
    prove_start,
)
from deployments.services.rollout.rollout import (
    INSTANCE_LABEL,
    RELEASE_LABEL,
    Layout,
    Rollout,
    policy_of,
    resources,
)
from deployments.services.rollout.weights_check import prove_weights

HOST_CHANGED = "host_changed"


def validate(rollout: Rollout, act: Act) -> Done:
    """Prove that exactly this plan may run now, on hosts that are as they were planned.

    Raises:
        StepFailedError: nothing may run; the release ends blocked.
        DockerApiError: a host does not answer.
    """
    del act
    found = Checklist(rollout.release.request_id, trial=False)
    try:
        with found.checking(PreflightCheck.APPROVAL):
            prove_start(rollout)
            prove_approval(rollout)
            prove_moment(rollout)
        prove_hosts(rollout, found)
        notes = prove_weights(rollout, found)
    except StepFailedError as error:
        if error.code == HOST_CHANGED:
            mark_stale(rollout.release.request_id)
        raise
    finally:
        found.store()
    return Done(
        sentences(text("The approval holds and the hosts are as planned."), *notes)
    )


def prove_hosts(layout: Layout, found: Checklist) -> None:
    """Look at every host again and compare it with what was planned on.

    Raises:
        StepFailedError: another engine answers, a host changed, or a mount leads outside.
        DockerApiError: a host does not answer.
    """
    for host in layout.hosts:
        with found.checking(PreflightCheck.HOST, host):
            with layout.engine(host) as engine:
                seen = look_at(engine)
            if not store_observation(host, seen):
                raise StepFailedError(
                    "different_engine",
                    text("{host}: {reason}", host=host.name, reason=host.reason),
                    text("Register the host anew if this is meant, then plan again."),
                    final=ReleaseState.BLOCKED,
                )
            _prove_mounts(layout, host)
    planned = dict(layout.plan.snapshot_digests)
    digests = {one.name: one.digest for one in host_snapshots(layout.hosts)}
    for host in layout.hosts:
        if found.failed(PreflightCheck.HOST, host):
            continue
        with found.checking(PreflightCheck.HOST, host) as told:
            if host.reachability == Reachability.DEGRADED:
                told.note(
                    text("{host} is degraded: {why}", host=host.name, why=host.reason)
                )
            if planned.get(host.name) != digests[host.name]:
                raise StepFailedError(
                    HOST_CHANGED,
                    text(
                        "{host} is no longer as it was when the plan was made (its platform, devices, "
                        "architecture, address or model directory)",
                        host=host.name,
                    ),
                    text("Plan the revision again and have the new plan approved."),
                    final=ReleaseState.BLOCKED,
                )


def _prove_mounts(layout: Layout, host: Host) -> None:
    """A symbolic link may lead out of the allowed directories; only this machine can be asked."""
    if not host.docker_address.startswith("unix://"):
        return
    roots = [Path(root).resolve() for root in policy_of(host).mount_roots]
    for member in layout.members_on(host):
        for mount in member.planned.container.mounts:
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
    found = Checklist(rollout.release.request_id, trial=False)
    try:
        prove_names(rollout, found)
        with rollout.claim.fenced():
            lock_hosts(host.pk for host in rollout.hosts)
            for host in rollout.hosts:
                with found.checking(PreflightCheck.DEVICES, host):
                    mine = _held_by_it(rollout, host)
                    for member in rollout.members_on(host):
                        for column, number in resources(member):
                            if (column, number) not in mine:
                                _hold(rollout, member.row, column, number)
    finally:
        found.store()
    return Done(text("Devices and ports are held."))


def _held_by_it(rollout: Rollout, host: Host) -> set[tuple[str, int]]:
    """What the release itself holds on a host already, as (column, number)."""
    rows = Booking.objects.filter(
        host=host, replica__release=rollout.release, released_at=None
    )
    return {
        ("port", port or 0) if device is None else ("device", device)
        for device, port in rows.values_list("device", "port")
    }


def prove_names(layout: Layout, found: Checklist) -> None:
    """Refuse names and published ports that containers of somebody else have.

    Raises:
        StepFailedError: one has.
        DockerApiError: a host does not answer.
    """
    for host in layout.hosts:
        with found.checking(PreflightCheck.NAMES, host):
            with layout.engine(host) as engine:
                listed = list_containers(engine)
            _refuse_taken_names(layout, host, listed)
            _refuse_taken_ports(layout, host, listed)


def prove_free(layout: Layout, found: Checklist) -> None:
    """Refuse devices and ports that somebody else holds, without holding any.

    Raises:
        StepFailedError: somebody else does.
    """
    for host in layout.hosts:
        with found.checking(PreflightCheck.DEVICES, host) as told:
            wanted = [
                (member.row, column, number)
                for member in layout.members_on(host)
                for column, number in resources(member)
            ]
            for row, column, number in wanted:
                _already_held(layout, row, column, number)
            devices = [number for _row, column, number in wanted if column == "device"]
            ill = host.devices.filter(number__in=devices, healthy=False)
            for device in ill.values_list("number", flat=True):
                told.note(
                    text(
                        "device {number} of {host} was not healthy when it was last read",
                        number=device,
                        host=host.name,
                    ),
                    text("Look at it on the host, then probe the host again."),
                )


def _hold(rollout: Rollout, row: Replica, column: str, number: int) -> None:
    if _already_held(rollout, row, column, number):
        return
    try:
        with transaction.atomic():
            Booking.objects.create(host=row.host, replica=row, **{column: number})
    except IntegrityError as error:
        raise _held_by(row, column, number, text("another deployment")) from error


def _already_held(layout: Layout, row: Replica, column: str, number: int) -> bool:
    """Whether this release or the one that it replaces holds it.

    Raises:
        StepFailedError: somebody else does.
    """
    held = (
        Booking.objects.filter(host=row.host, released_at=None, **{column: number})
        .select_related("replica__release__deployment")
        .first()
    )
    if held is None:
        return False
    mine = {layout.release.pk, layout.old.pk if layout.old else None}
    if held.replica.release_id not in mine:
        raise _held_by(row, column, number, _name_of(held.replica.release, layout))
    if held.replica.release_id != layout.release.pk and not layout.removes_first:
        raise _held_by(row, column, number, str(layout.old))
    return True


def _name_of(other: Release, layout: Layout) -> Text | str:
    """Which release it is, unless it is another team's on a cluster that both deploy on."""
    if other.deployment.team_id != layout.release.deployment.team_id:
        return text("a release of another team")
    return str(other)


def container_name(
    one: ListedContainer, deployment: Deployment, host: Host
) -> Text | str:
    """A container's name, as far as the team of the deployment may know it.

    Of another team's containers it is told nothing, and a guest of what is no release nothing either.
    """
    team = (
        Replica.objects.filter(
            Q(container_id=one.container_id) | Q(container_name=one.name),
            host=host,
        )
        .order_by("-created_at")
        .values_list("release__deployment__team", flat=True)
        .first()
    )
    if (team or deployment.cluster.team_id) != deployment.team_id:
        return text("a container of another team")
    return one.name


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
        text(
            "Wait until that ends, stop that deployment, or plan again for other devices and ports."
        ),
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


def _recorded(layout: Layout, host: Host) -> set[str]:
    """The ids of the containers of this deployment on a host."""
    rows = Replica.objects.filter(
        release__deployment=layout.release.deployment, host=host
    )
    return set(rows.values_list("container_id", flat=True))


def _refuse_taken_names(
    layout: Layout, host: Host, listed: tuple[ListedContainer, ...]
) -> None:
    """A container of somebody else that has a name which we need: found before anything stops."""
    wanted = {member.name for member in layout.members_on(host)}
    known = _recorded(layout, host)
    own = str(layout.release.pk)
    for one in listed:
        ours = one.container_id in known or one.labels.get(RELEASE_LABEL) == own
        if one.name in wanted and not ours:
            raise name_taken(one.name)


def _refuse_taken_ports(
    layout: Layout, host: Host, listed: tuple[ListedContainer, ...]
) -> None:
    """A container that is not of this deployment and publishes a port that we need."""
    known = _recorded(layout, host)
    wanted = {
        port.host: member
        for member in layout.members_on(host)
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
                        holder=container_name(one, layout.release.deployment, host),
                    ),
                    text("Stop that container, or plan again with another port."),
                )
