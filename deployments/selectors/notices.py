"""Channels for notices, and what became of what was sent over them."""

from dataclasses import dataclass

from django.db.models import QuerySet

from deployments.models import (
    DeliveryState,
    NoticeChannel,
    NoticeDelivery,
    NoticeKind,
    Team,
    User,
)

NEWEST = 20
MOST_DEAD = 100


@dataclass(frozen=True, slots=True)
class ChannelLine:
    """A channel, with the words of what it tells of."""

    row: NoticeChannel
    events: list[str]


def teams_of(user: User) -> QuerySet[Team]:
    """The teams that a person is in; others do not exist for them."""
    return Team.objects.filter(memberships__user=user).order_by("name")


def channel_lines(user: User, team: Team | None) -> list[ChannelLine]:
    """The channels of a team, or the person's own, by name."""
    rows = NoticeChannel.objects.for_user(user).select_related("changed_by")
    rows = rows.filter(team=team) if team else rows.filter(user=user)
    return [
        ChannelLine(
            row,
            [str(kind.label) for kind in NoticeKind if kind.value in row.events],
        )
        for row in rows
    ]


def dead_deliveries(user: User, team: Team | None) -> QuerySet[NoticeDelivery]:
    """What was given up and nobody has looked at, newest first."""
    return _deliveries(user, team).filter(state=DeliveryState.DEAD)[:MOST_DEAD]


def newest_deliveries(user: User, team: Team | None) -> QuerySet[NoticeDelivery]:
    """What was sent last, or waits to be."""
    return _deliveries(user, team).exclude(state=DeliveryState.DEAD)[:NEWEST]


def _deliveries(user: User, team: Team | None) -> QuerySet[NoticeDelivery]:
    rows = NoticeDelivery.objects.for_user(user).select_related("notice", "channel")
    rows = rows.filter(channel__team=team) if team else rows.filter(channel__user=user)
    return rows.order_by("-created_at")
