"""Channels, notices and deliveries for tests."""
# mypy: allow-untyped-calls

import json

from django.utils import timezone
from factory.declarations import (
    LazyFunction,
    SelfAttribute,
    Sequence,
    SubFactory,
)
from factory.django import DjangoModelFactory

from deployments import models
from deployments.services.notices.channels import owner_of
from deployments.services.secrets import seal
from tests.factories import ApprovalRequestFactory, TeamFactory, UserFactory

KEY = "a key that nobody guesses"


class NoticeChannelFactory(DjangoModelFactory[models.NoticeChannel]):
    """A webhook of a team that is told everything."""

    class Meta:
        model = models.NoticeChannel

    team = SubFactory(TeamFactory)
    kind = models.ChannelKind.WEBHOOK
    name = Sequence(lambda n: f"channel-{n}")
    sealed = "unreadable"
    events = LazyFunction(lambda: [kind.value for kind in models.NoticeKind])
    changed_by = SubFactory(UserFactory)


class NoticeFactory(DjangoModelFactory[models.Notice]):
    """An alarm that opened."""

    class Meta:
        model = models.Notice

    team = SubFactory(TeamFactory)
    kind = models.NoticeKind.ALARM
    said = "chat on lab: 0 of 6000 drafted tokens were accepted."
    facts = LazyFunction(lambda: {"deployment": "chat", "cluster": "lab"})


class RequestReminderFactory(DjangoModelFactory[models.RequestReminder]):
    """Half the time of an open request was over."""

    class Meta:
        model = models.RequestReminder

    request = SubFactory(ApprovalRequestFactory)
    state = models.RequestState.OPEN
    percent = 50


class NoticeDeliveryFactory(DjangoModelFactory[models.NoticeDelivery]):
    """A delivery that is due."""

    class Meta:
        model = models.NoticeDelivery

    channel = SubFactory(NoticeChannelFactory)
    notice = SubFactory(NoticeFactory, team=SelfAttribute("..channel.team"))
    not_before = LazyFunction(timezone.now)


def channel_to(
    address: str, *, key: str = KEY, **columns: object
) -> models.NoticeChannel:
    """A channel that really leads to an address."""
    row = NoticeChannelFactory.create(**columns)
    kept = json.dumps({"address": address, "key": key})
    row.sealed = seal(kept, owner=owner_of(row))
    row.save()
    return row
