"""Bound what a host that fails or is slow may cost: calls rest after failures, and tasks have few places."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import connection
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from deployments.docker_api.errors import (
    DockerApiError,
    EngineTimeoutError,
    EngineUnreachableError,
    NotTriedError,
)
from deployments.models import Host, HostSlot, Reachability
from deployments.planning.text import text

logger = logging.getLogger(__name__)
FAILURES = 3
"""In a row; then calls rest."""
REST = timedelta(seconds=30)
"""A host that is back is seen within this and one round of observation."""
MOST_COUNTED = 1000
SLOTS = 2
SLOT_LASTS = timedelta(seconds=30)
"""Prolonged while its task lasts; the place of a lost worker is free after it."""
SLOT_BEAT_S = 8.0


@contextmanager
def bounded_calls(
    host: Host, *, insists: bool, in_turn: bool = False
) -> Iterator[None]:
    """Let the block call the host, and count how that ends.

    Who ``insists`` has a budget of their own (a release, or a person who asked) and is not refused
    while calls rest. A release that deploys comes ``in_turn``: where the last call failed it takes a
    place like others, so that many releases on one dead host leave workers for the rest. ``host`` is
    as the task read it.

    Raises:
        NotTriedError: calls rest after failures, or enough tasks wait for this slow host.
    """
    slot = None
    if not insists:
        _refuse_resting(host)
    bad = host.reachability != Reachability.REACHABLE
    if (not insists and bad) or (in_turn and host.failed_calls):
        slot = _slot(host)
    try:
        with _prolonged(slot):
            yield
    except (EngineUnreachableError, EngineTimeoutError):
        _note_failure(host)
        raise
    except DockerApiError:
        _note_answer(host)
        raise
    else:
        _note_answer(host)
    finally:
        if slot is not None:
            HostSlot.objects.filter(pk=slot.pk).update(taken_until=None)


def resting() -> Q:
    """Hosts that are not called now."""
    return Q(next_try_at__gt=Now())


def _refuse_resting(host: Host) -> None:
    if host.next_try_at is None or host.next_try_at <= timezone.now():
        return
    raise NotTriedError(
        text(
            "{count} calls to {host} failed in a row: the next is tried at {time} UTC.",
            count=host.failed_calls,
            host=host.name,
            time=f"{host.next_try_at:%H:%M:%S}",
        )
    )


def _slot(host: Host) -> HostSlot:
    """Take a free place at the host."""
    free = Q(taken_until=None) | Q(taken_until__lt=Now())
    for number in range(1, SLOTS + 1):
        row, _made = HostSlot.objects.get_or_create(host=host, number=number)
        taken = HostSlot.objects.filter(free, pk=row.pk)
        if taken.update(taken_until=Now() + SLOT_LASTS) == 1:
            return row
    raise NotTriedError(
        text(
            "{count} tasks already wait for {host}, which is slow; this one did not begin.",
            count=SLOTS,
            host=host.name,
        )
    )


@contextmanager
def _prolonged(slot: HostSlot | None) -> Iterator[None]:
    """Keep the place while the block lasts, however long the host takes."""
    if slot is None:
        yield
        return
    ended = threading.Event()

    def beat() -> None:
        try:
            while not ended.wait(SLOT_BEAT_S):
                HostSlot.objects.filter(pk=slot.pk).update(
                    taken_until=Now() + SLOT_LASTS
                )
        finally:
            connection.close()

    thread = threading.Thread(target=beat, name="place", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _note_failure(host: Host) -> None:
    rows = Host.objects.filter(pk=host.pk)
    rows.filter(failed_calls__lt=MOST_COUNTED).update(
        failed_calls=F("failed_calls") + 1
    )
    if rows.filter(failed_calls__gte=FAILURES).update(next_try_at=Now() + REST):
        logger.info("calls rest", extra={"host": host.name})


def _note_answer(host: Host) -> None:
    if host.failed_calls or host.next_try_at:
        Host.objects.filter(pk=host.pk).update(failed_calls=0, next_try_at=None)
        host.failed_calls, host.next_try_at = 0, None
