"""Deliveries that were given up: try them again, or put them away."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import DeliveryState, NoticeDelivery, User
from deployments.planning.text import text
from deployments.services.errors import ConflictError
from deployments.services.notices.announcing import wake_for
from deployments.services.notices.channels import prove_owner


def retry_delivery(user: User, row: NoticeDelivery) -> None:
    """Begin anew with a delivery that was given up; its id stays, so a receiver can tell a repeat.

    Raises:
        NotAllowedError: the channel is another's, or the person is no admin of its team.
        ConflictError: it is not given up any more.
    """
    prove_owner(user, row.channel)
    with transaction.atomic():
        _end(row, state=DeliveryState.WAITING, attempts=0, finished_at=None)
        wake_for([row.pk])


def discard_delivery(user: User, row: NoticeDelivery) -> None:
    """Put a delivery away that was given up.

    Raises:
        NotAllowedError: the channel is another's, or the person is no admin of its team.
        ConflictError: it is not given up any more.
    """
    prove_owner(user, row.channel)
    _end(
        row,
        state=DeliveryState.DISCARDED,
        finished_at=timezone.now(),
        error=text("Discarded by {name}.", name=str(user)),
    )


def _end(row: NoticeDelivery, **changes: object) -> None:
    dead = NoticeDelivery.objects.filter(pk=row.pk, state=DeliveryState.DEAD)
    if dead.update(**changes, not_before=timezone.now()) != 1:
        raise ConflictError(_("This notice is not waiting to be looked at any more."))
