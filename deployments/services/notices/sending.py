"""Carry out deliveries: claim a row, send outside of any transaction, write what came of it."""

import json
import uuid
from datetime import timedelta

from django.db.models import F, Q
from django.utils import timezone

from deployments.models import (
    ChannelKind,
    DeliveryState,
    Membership,
    Notice,
    NoticeChannel,
    NoticeDelivery,
)
from deployments.models.notice import DeliveryQuerySet
from deployments.planning.text import Text, said_by, text
from deployments.services.notices.bodies import (
    document_of,
    language_of,
    title_and_body,
)
from deployments.services.notices.bots import BOTS, send_to_bot
from deployments.services.notices.channels import owner_of
from deployments.services.notices.ways import (
    BadAddressError,
    SendError,
    send_by_apprise,
)
from deployments.services.notices.webhooks import post
from deployments.services.secrets import SecretsError, unseal

BACKOFF = tuple(timedelta(seconds=s) for s in (30, 120, 600, 3600, 6 * 3600))
"""Between the attempts; after the last one it is given up."""
MOST_ATTEMPTS = len(BACKOFF) + 1
LEASE = timedelta(minutes=3)
KEPT = timedelta(days=30)
AT_ONCE = 200


def due_deliveries() -> list[uuid.UUID]:
    """What is to be sent now: those that wait, and those whose worker was lost."""
    now = timezone.now()
    due = _due().filter(not_before__lte=now).order_by("not_before")
    return list(due.values_list("pk", flat=True)[:AT_ONCE])


def send_notice(delivery_id: uuid.UUID) -> None:
    """Make one attempt; harmless for a delivery that is not due, or is another worker's."""
    now = timezone.now()
    claimed = (
        _due()
        .filter(pk=delivery_id, not_before__lte=now, attempts__lt=MOST_ATTEMPTS)
        .update(
            state=DeliveryState.SENDING,
            lease_until=now + LEASE,
            attempts=F("attempts") + 1,
        )
    )
    if claimed != 1:
        _give_up_lost(delivery_id)
        return
    row = NoticeDelivery.objects.select_related(
        "notice__team", "channel__team", "channel__user"
    ).get(pk=delivery_id)
    if not _may_still_know(row.notice, row.channel):
        gone = text("This person is not in the team any more.")
        _finish(row, DeliveryState.DISCARDED, gone)
        return
    try:
        _send(row)
    except (SecretsError, BadAddressError) as error:
        _finish(row, DeliveryState.DEAD, said_by(error))
    except SendError as error:
        _fail(row, error)
    else:
        _finish(row, DeliveryState.DELIVERED, text(""))


def forget_deliveries() -> int:
    """Remove notices of which nothing is waiting and that are a month old; returns how many."""
    unfinished = NoticeDelivery.objects.filter(
        state__in=[DeliveryState.WAITING, DeliveryState.SENDING, DeliveryState.DEAD]
    )
    old = Notice.objects.filter(created_at__lt=timezone.now() - KEPT)
    return old.exclude(pk__in=unfinished.values("notice")).delete()[0]


def _due() -> DeliveryQuerySet:
    lost = Q(state=DeliveryState.SENDING, lease_until__lt=timezone.now())
    return NoticeDelivery.objects.filter(Q(state=DeliveryState.WAITING) | lost)


def _give_up_lost(delivery_id: uuid.UUID) -> None:
    """A worker was lost in the last attempt, too: what it sends may be what kills it."""
    _due().filter(pk=delivery_id, attempts__gte=MOST_ATTEMPTS).update(
        state=DeliveryState.DEAD,
        finished_at=timezone.now(),
        error=text("The worker was lost while it was sending; read its log."),
    )


def _may_still_know(notice: Notice, channel: NoticeChannel) -> bool:
    if channel.user is None or notice.team is None:
        return channel.user is None or channel.user.is_active
    return (
        channel.user.is_active
        and Membership.objects.filter(user=channel.user, team=notice.team).exists()
    )


def _send(row: NoticeDelivery) -> None:
    channel, language = row.channel, language_of(row.channel)
    kept = json.loads(unseal(channel.sealed, owner=owner_of(channel)))
    address, key = str(kept["address"]), str(kept["key"])
    if channel.kind == ChannelKind.WEBHOOK:
        document = document_of(row.notice, str(row.pk), language)
        post(address, key, delivery=str(row.pk), document=document)
        return
    title, body = title_and_body(row.notice, language)
    send = send_to_bot if channel.kind in BOTS else send_by_apprise
    send(channel.kind, address, key, title=title, body=body)


def _fail(row: NoticeDelivery, error: SendError) -> None:
    if error.final or row.attempts >= MOST_ATTEMPTS:
        _finish(row, DeliveryState.DEAD, error.said)
        return
    _mine(row).update(
        state=DeliveryState.WAITING,
        not_before=timezone.now() + BACKOFF[row.attempts - 1],
        lease_until=None,
        error=error.said,
    )


def _finish(row: NoticeDelivery, state: DeliveryState, said: Text) -> None:
    _mine(row).update(
        state=state, finished_at=timezone.now(), lease_until=None, error=said
    )


def _mine(row: NoticeDelivery) -> DeliveryQuerySet:
    """The row as this worker claimed it; a slower one writes nothing."""
    return NoticeDelivery.objects.filter(
        pk=row.pk, state=DeliveryState.SENDING, attempts=row.attempts
    )
