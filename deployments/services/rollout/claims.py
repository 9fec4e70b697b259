"""Claims on commands: a lease by the database's clock and a fence that stops a late owner."""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from deployments.models import Command, CommandState
from deployments.planning.text import NOTHING, Text
from deployments.services.outbox import wake_command

RESEND_AFTER = timedelta(seconds=3)


class LeaseLostError(Exception):
    """Another worker owns the command now; stop at once and change nothing more."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One worker's right to act on a command until the lease runs out.

    ``taken_over`` says that an earlier owner was lost in the middle of it.
    """

    command_id: uuid.UUID
    fence: int
    taken_over: bool = False

    def renew(self) -> None:
        """Prolong the lease.

        Raises:
            LeaseLostError: the command was taken over.
        """
        if self._mine().update(lease_until=Now() + _lease()) != 1:
            raise LeaseLostError(str(self.command_id))

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """A transaction that holds only while the command is still ours; prolongs the lease.

        Raises:
            LeaseLostError: the command was taken over; nothing of the transaction remains.
        """
        with transaction.atomic():
            self.renew()
            yield

    def cancel_requested(self) -> bool:
        """Whether a person asked to stop between two steps."""
        return self._mine().filter(cancel_requested_at__isnull=False).exists()

    def hand_back(self, delay_s: float = 0) -> None:
        """Let any worker continue after ``delay_s``, and wake one."""
        handed = self._mine().update(
            state=CommandState.READY,
            not_before=Now() + timedelta(seconds=delay_s),
            lease_until=None,
            owner="",
            sent_at=None,
        )
        if handed == 1:
            wake_command(self.command_id, delay_s=delay_s)

    def finish(self, state: CommandState, error: Text = NOTHING) -> None:
        """End the command; call within ``fenced``."""
        self._mine().update(
            state=state, finished_at=Now(), lease_until=None, owner="", error=error
        )

    def _mine(self) -> QuerySet[Command]:
        return Command.objects.filter(
            pk=self.command_id, state=CommandState.RUNNING, fence=self.fence
        )


def claim(command_id: uuid.UUID) -> Claim | None:
    """Claim a command that is due, or whose owner's lease has run out; ``None`` if it is neither."""
    for taken_over, claimable in ((False, _ready()), (True, _abandoned())):
        taken = Command.objects.filter(claimable, pk=command_id).update(
            state=CommandState.RUNNING,
            owner=f"{socket.gethostname()}:{os.getpid()}"[:120],
            lease_until=Now() + _lease(),
            fence=F("fence") + 1,
            attempts=F("attempts") + 1,
        )
        if taken == 1:
            fence = Command.objects.values_list("fence", flat=True).get(pk=command_id)
            return Claim(command_id, fence, taken_over)
    return None


def _lease() -> timedelta:
    return timedelta(seconds=settings.COMMAND_LEASE_SECONDS)


def _ready() -> Q:
    waited = Q(not_before__isnull=True) | Q(not_before__lte=Now())
    return Q(state=CommandState.READY) & waited


def _abandoned() -> Q:
    return Q(state=CommandState.RUNNING, lease_until__lt=Now())


def sweep_commands() -> int:
    """Send again what is due and whose message may be lost; returns how many were sent."""
    unsent = Q(sent_at__isnull=True) | Q(sent_at__lt=Now() - RESEND_AFTER)
    due = list(
        Command.objects.filter(_ready() & unsent | _abandoned()).values_list(
            "pk", flat=True
        )
    )
    for command_id in due:
        wake_command(command_id)
    return len(due)
