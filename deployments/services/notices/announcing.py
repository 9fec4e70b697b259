"""Write down, within the transaction of an act, whom it is to be told; nothing is sent here."""

import uuid
from collections.abc import Mapping
from functools import partial

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from deployments.models import (
    Alarm,
    ApprovalRequest,
    Deployment,
    Notice,
    NoticeChannel,
    NoticeDelivery,
    NoticeKind,
    Release,
    Team,
    User,
)
from deployments.planning.canonical import Json
from deployments.planning.text import Text, text
from deployments.services.waking import wake

SEND_NOTICE = "deployments.send_notice"


def announce(  # noqa: PLR0913 - what happened, to whom, by whom, where to read more
    kind: NoticeKind,
    team: Team,
    said: Text,
    *,
    actor: User | None = None,
    place: str = "",
    place_id: uuid.UUID | None = None,
    facts: Mapping[str, Json] | None = None,
) -> int:
    """Write the notice for every channel that wants it; returns how many.

    Own channels of people are asked only for members of the team. Nothing is written where nobody
    wants to know. A worker is woken on commit, and finds the rows later where that fails.
    """
    wanting = [
        channel
        for channel in NoticeChannel.objects.filter(
            Q(team=team) | Q(user__memberships__team=team, user__is_active=True)
        )
        if kind.value in channel.events
    ]
    if not wanting:
        return 0
    notice = Notice.objects.create(
        team=team,
        kind=kind,
        said=said,
        actor_name=str(actor)[:160] if actor else "",
        place=place,
        place_id=place_id,
        facts=dict(facts or {}),
    )
    write_deliveries(notice, wanting)
    return len(wanting)


def write_deliveries(notice: Notice, channels: list[NoticeChannel]) -> None:
    """One row for each channel, due now, and a message for a worker on commit."""
    now = timezone.now()
    rows = NoticeDelivery.objects.bulk_create(
        NoticeDelivery(notice=notice, channel=one, not_before=now) for one in channels
    )
    wake_for([row.pk for row in rows])


def wake_for(deliveries: list[uuid.UUID]) -> None:
    """Wake a worker on commit; a broker that is down costs nothing but time."""
    transaction.on_commit(partial(wake, SEND_NOTICE, deliveries), robust=True)


def tell_of_request(
    kind: NoticeKind,
    request: ApprovalRequest,
    said: Text,
    *,
    actor: User | None = None,
) -> int:
    """Announce something about a request; ``said`` may have places for name, revision and cluster."""
    deployment = request.plan.revision.deployment
    number = request.plan.revision.number
    # Who lets others deploy on a cluster decides on it, too.
    teams = dict.fromkeys([deployment.team, deployment.cluster.team])
    tell = partial(
        announce,
        kind,
        said=said.filled(
            {**_words(deployment), "revision": number, **dict(said.values)}
        ),
        actor=actor,
        place="approval",
        place_id=request.pk,
        facts={
            **_facts(deployment),
            "revision": number,
            "request": str(request.pk),
            "digest": request.digest,
            "risk": str(request.risk),
        },
    )
    return sum(map(tell, teams))


def tell_of_release(
    kind: NoticeKind, release: Release, said: Text, *, actor: User | None = None
) -> int:
    """Announce something about a release; ``said`` may have places for name, number and cluster."""
    deployment = release.deployment
    return announce(
        kind,
        deployment.team,
        said.filled(
            {**_words(deployment), "number": release.number, **dict(said.values)}
        ),
        actor=actor,
        place="release",
        place_id=release.pk,
        facts={
            **_facts(deployment),
            "release": release.number,
            "release_id": str(release.pk),
            "state": str(release.state),
        },
    )


def tell_of_alarm(alarm: Alarm) -> int:
    """Announce that an alarm opened."""
    return announce(
        NoticeKind.ALARM,
        alarm.deployment.team,
        text(
            "{name} on {cluster}: {what}",
            what=alarm.text,
            **_words(alarm.deployment),
        ),
        place="alarm",
        place_id=alarm.pk,
        facts={
            **_facts(alarm.deployment),
            "alarm": str(alarm.kind),
            "release": alarm.release_number,
        },
    )


def _words(deployment: Deployment) -> dict[str, str | int]:
    return {"name": deployment.name, "cluster": deployment.cluster.name}


def _facts(deployment: Deployment) -> dict[str, Json]:
    return {"deployment": deployment.name, "cluster": deployment.cluster.name}
