"""Book devices and ports for a release, or let it wait for them in the order of arrival.

Bookings of a release are made under a lock on its hosts, so that nobody comes between the look at
who is before it and the booking. PostgreSQL locks the rows of the hosts; on SQLite a transaction
that writes is alone.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import (
    Booking,
    Cluster,
    Command,
    CommandKind,
    CommandState,
    Host,
    QueuedBooking,
    Release,
    Replica,
)
from deployments.selectors.device_queue import Need, need_of, obstacles
from deployments.services.errors import ConflictError
from deployments.services.outbox import wake_command

Wanted = tuple[Replica, str, int]
"""A replica, ``device`` or ``port``, and its number on the replica's host."""


def lock_hosts(hosts: Iterable[UUID]) -> None:
    """Keep others from booking on these hosts until the transaction ends; one order for everybody.

    Their cluster is locked first: of two bookings in it, the later sees the earlier, which a quota
    goes by.
    """
    clusters = Cluster.objects.select_for_update(no_key=True).filter(
        pk__in=Host.objects.filter(pk__in=set(hosts := tuple(hosts))).values("cluster")
    )
    list(clusters.order_by("pk").values_list("pk", flat=True))
    rows = Host.objects.select_for_update(no_key=True).filter(pk__in=set(hosts))
    list(rows.order_by("pk").values_list("pk", flat=True))


def book_or_queue(release: Release, wanted: Iterable[Wanted]) -> None:
    """Book what a release needs; where anything is held or waited for, queue for all of it.

    What another release of the same deployment holds stays with it until it is handed over. Call
    within a transaction.

    Raises:
        ConflictError: something was booked at this moment by an act that does not queue.
    """
    wanted = list(wanted)
    lock_hosts(replica.host_id for replica, _kind, _number in wanted)
    needs = {_need(one) for one in wanted}
    if obstacles(release, needs):
        QueuedBooking.objects.bulk_create(
            QueuedBooking(host=replica.host, replica=replica, **{kind: number})
            for replica, kind, number in wanted
        )
        Release.objects.filter(pk=release.pk).update(queued_at=Now())
        release.refresh_from_db(fields=["queued_at"])
        return
    _book(wanted)


def leave_queue(release: Release) -> bool:
    """Turn what a release waits for into bookings, if all of it is free and it is its turn.

    Call within a transaction; true as well for one that waits for nothing.

    Raises:
        ConflictError: something was booked at this moment by an act that does not queue.
    """
    rows = list(
        QueuedBooking.objects.filter(replica__release=release).select_related(
            "host", "replica__host"
        )
    )
    lock_hosts(row.host_id for row in rows)
    if obstacles(release, {need_of(row) for row in rows}):
        return False
    _book(
        (row.replica, "device", row.device)
        if row.device is not None
        else (row.replica, "port", row.port or 0)
        for row in rows
    )
    QueuedBooking.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return True


def stop_waiting(replica: Replica) -> int:
    """Take a replica out of the queue; returns how much it waited for."""
    count, _kinds = QueuedBooking.objects.filter(replica=replica).delete()
    return count


def wake_waiting(host: Host) -> None:
    """Let those who wait for anything on a host look again at once, when the transaction commits."""
    transaction.on_commit(lambda: _wake(host))


def _wake(host: Host) -> None:
    waiting = Command.objects.filter(
        kind=CommandKind.DEPLOY,
        state=CommandState.READY,
        release__replicas__queued_bookings__host=host,
    )
    for command_id in set(waiting.values_list("pk", flat=True)):
        look_at_once(command_id)


def look_at_once(command_id: UUID) -> None:
    """Let a command that waits go on now instead of at its time."""
    rows = Command.objects.filter(pk=command_id, state=CommandState.READY)
    if rows.update(not_before=None, sent_at=None):
        wake_command(command_id)


def _book(wanted: Iterable[Wanted]) -> None:
    """Make the bookings that nobody holds; those of the release that is replaced stay with it."""
    wanted = list(wanted)
    hosts = {replica.host_id for replica, _kind, _number in wanted}
    held = {
        need_of(row) for row in Booking.objects.filter(host__in=hosts, released_at=None)
    }
    free = {_need(one): one for one in wanted if _need(one) not in held}.values()
    try:
        with transaction.atomic():
            Booking.objects.bulk_create(
                Booking(host=replica.host, replica=replica, **{kind: number})
                for replica, kind, number in free
            )
    except IntegrityError as error:
        raise ConflictError(
            _(
                "A device or port of this plan was taken at this moment. Look again, then deploy."
            )
        ) from error


def _need(wanted: Wanted) -> Need:
    replica, kind, number = wanted
    return replica.host_id, kind, number
