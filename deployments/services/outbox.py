"""Command rows and the messages that wake a worker; the row is the truth, the message a hint."""

import uuid

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import Command, CommandKind, CommandState, Release, User
from deployments.services.errors import ConflictError
from deployments.services.waking import wake

RUN_COMMAND = "deployments.run_command"
ROLLOUT_QUEUE = "rollout"


def add_command(
    release: Release, kind: CommandKind, requested_by: User, idempotency_key: str
) -> Command:
    """Write a command and wake a worker when the transaction commits.

    The same key again returns the first command, also to a click that came at the same instant.

    Raises:
        ConflictError: another command for the release is still open, or the key was used for
            something else.
    """
    known = command_with_key(release, kind, idempotency_key)
    if known is not None:
        return known
    try:
        with transaction.atomic():
            command = Command.objects.create(
                release=release,
                kind=kind,
                requested_by=requested_by,
                idempotency_key=idempotency_key,
            )
    except IntegrityError as error:
        known = command_with_key(release, kind, idempotency_key)
        if known is not None:
            return known
        raise ConflictError(
            _(
                "%(release)s is already being changed. Wait until that ends, or cancel it."
            )
            % {"release": release}
        ) from error
    transaction.on_commit(lambda: wake_command(command.pk))
    return command


def command_with_key(
    release: Release, kind: CommandKind, idempotency_key: str
) -> Command | None:
    """The command that an earlier click with this key made.

    Raises:
        ConflictError: the key belongs to another release or another kind of command.
    """
    known = Command.objects.filter(idempotency_key=idempotency_key).first()
    if known is None:
        return None
    if known.release_id != release.pk or known.kind != kind:
        raise ConflictError(
            _("This page is out of date. Load it again, then repeat what you did.")
        )
    return known


def wake_command(command_id: uuid.UUID, *, delay_s: float = 0) -> None:
    """Send the id to a worker, for ``delay_s`` later; a broker that is down costs no command."""
    if wake(RUN_COMMAND, [command_id], queue=ROLLOUT_QUEUE, delay_s=delay_s):
        Command.objects.filter(pk=command_id, state=CommandState.READY).update(
            sent_at=Now()
        )
