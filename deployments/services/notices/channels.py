"""Add, change, try and remove channels; what is sealed is never read back by anybody."""

import ipaddress
import json
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from deployments.models import (
    AuditAction,
    ChannelKind,
    DeliveryState,
    Notice,
    NoticeChannel,
    NoticeDelivery,
    NoticeKind,
    Team,
    TeamRole,
    User,
)
from deployments.planning.text import Text, text
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.audit_subjects import subject_of
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.notices.announcing import write_deliveries
from deployments.services.notices.connection_guard import refusal
from deployments.services.notices.ways import BadAddressError, plugin_for
from deployments.services.notices.webhooks import prove_webhook
from deployments.services.secrets import seal

MOST_CHANNELS = 20
"""Of one team or one person: each act writes one row for each."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a channel leads, and the key that signs or that the service asks for."""

    address: str
    key: str = ""

    def __repr__(self) -> str:
        return "Destination(…)"


def prove_destination(kind: str, destination: Destination) -> None:
    """Refuse what is no address of the kind, or visibly leads where the panel never goes.

    Names are resolved by the worker, at each connection.

    Raises:
        BadAddressError: it cannot be used.
    """
    if kind == ChannelKind.WEBHOOK:
        prove_webhook(destination.address, destination.key)
        host: str | None = urlsplit(destination.address).hostname
    else:
        plugin_for(kind, destination.address, destination.key)
        plain = "://" not in destination.address
        host = None if plain else urlsplit(destination.address).hostname
    if not host:
        return
    said = _refusal_of(host)
    if said is not None:
        raise BadAddressError(said)


def _refusal_of(host: str) -> Text | None:
    """The refusal of an address that is written in numbers; resolvers take 127.1 for one, too."""
    allowed = tuple(settings.NOTICE_NETWORKS_ALLOWED)
    if host.rstrip(".") == "localhost" or host.endswith(".localhost"):
        return refusal("127.0.0.1", allowed)
    try:
        found = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return None
    for row in found:
        said = refusal(
            str(ipaddress.ip_address(str(row[4][0]).partition("%")[0])), allowed
        )
        if said is not None:
            return said
    return None


def add_channel(  # noqa: PLR0913 - a channel, and whose it is
    user: User,
    team: Team | None,
    *,
    kind: ChannelKind,
    name: str,
    destination: Destination,
    events: Iterable[NoticeKind],
) -> NoticeChannel:
    """Keep a new channel of the team, or of the person where there is no team.

    Raises:
        NotAllowedError: the person is no admin of the team.
        BadAddressError: the address cannot be used.
        SecretsError: this panel has no key for secrets.
        ConflictError: the name is taken, or there are too many.
    """
    if team is not None:
        require_role(user, team, TeamRole.ADMIN)
    prove_destination(kind, destination)
    row = NoticeChannel(
        team=team,
        user=None if team else user,
        kind=kind,
        name=name,
        events=[one.value for one in events],
        changed_by=user,
    )
    row.sealed = _sealed(row, destination)
    owned = NoticeChannel.objects.filter(team=team, user=row.user)
    if owned.count() >= MOST_CHANNELS:
        raise ConflictError(
            _("There are %(most)s channels already. Remove one first.")
            % {"most": MOST_CHANNELS}
        )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            record(AuditAction.CHANNEL_ADDED, user, row, after=_told(row))
    except IntegrityError as error:
        raise _name_taken() from error
    return row


def change_channel(
    user: User,
    row: NoticeChannel,
    *,
    name: str,
    events: Iterable[NoticeKind],
    destination: Destination | None,
) -> None:
    """Change what a channel is called and told, and where it leads where that is entered anew.

    Raises:
        NotAllowedError: it is another's, or the person is no admin of its team.
        BadAddressError: the address cannot be used.
        SecretsError: this panel has no key for secrets.
        ConflictError: the name is taken, or somebody removed it.
    """
    prove_owner(user, row)
    before = _told(row)
    changes: dict[str, object] = {"name": name, "changed_by": user}
    changes["events"] = [one.value for one in events]
    if destination is not None:
        prove_destination(row.kind, destination)
        changes["sealed"] = _sealed(row, destination)
    try:
        with transaction.atomic():
            if NoticeChannel.objects.filter(pk=row.pk).update(**changes) != 1:
                raise ConflictError(_("Somebody has removed this channel."))
            row.refresh_from_db()
            after = {**_told(row), "address_replaced": destination is not None}
            record(AuditAction.CHANNEL_CHANGED, user, row, before=before, after=after)
    except IntegrityError as error:
        raise _name_taken() from error


def remove_channel(user: User, row: NoticeChannel) -> None:
    """Forget a channel with everything that waits for it.

    Raises:
        NotAllowedError: it is another's, or the person is no admin of its team.
    """
    prove_owner(user, row)
    removed, told = subject_of(row), _told(row)
    with transaction.atomic():
        row.delete()
        record(AuditAction.CHANNEL_REMOVED, user, removed, before=told)


def send_test(user: User, row: NoticeChannel) -> None:
    """Let a worker send a line over the channel, as it would anything else.

    Raises:
        NotAllowedError: it is another's, or the person is no admin of its team.
        ConflictError: the test before has not come to an end.
    """
    prove_owner(user, row)
    with transaction.atomic():
        NoticeChannel.objects.select_for_update().get(pk=row.pk)
        waiting = NoticeDelivery.objects.filter(
            channel=row,
            notice__kind=NoticeKind.TEST,
            state__in=[DeliveryState.WAITING, DeliveryState.SENDING],
        )
        if waiting.exists():
            raise ConflictError(_("The test before this one is still on its way."))
        notice = Notice.objects.create(
            team=row.team,
            kind=NoticeKind.TEST,
            said=text("This is a test: the channel {name} works.", name=row.name),
            actor_name=str(user)[:160],
        )
        write_deliveries(notice, [row])


def set_language(user: User, team: Team, language: str) -> None:
    """Choose the language of the team's channels.

    Raises:
        NotAllowedError: the person is no admin of the team.
    """
    require_role(user, team, TeamRole.ADMIN)
    before = {"notice_language": team.notice_language}
    with transaction.atomic():
        Team.objects.filter(pk=team.pk).update(notice_language=language)
        record(
            AuditAction.TEAM_CHANGED,
            user,
            team,
            before=before,
            after={"notice_language": language},
        )


def prove_owner(user: User, row: NoticeChannel) -> None:
    """Refuse people whose channel it is not.

    Raises:
        NotAllowedError: it is another's, or the person is no admin of its team.
    """
    if row.team is not None:
        require_role(user, row.team, TeamRole.ADMIN)
    elif row.user_id != user.pk:
        raise NotAllowedError(_("This channel belongs to somebody else."))


def owner_of(row: NoticeChannel) -> str:
    """What the sealed text of a channel is bound to."""
    return f"notice-channel:{row.pk}"


def _sealed(row: NoticeChannel, destination: Destination) -> str:
    kept = {"address": destination.address, "key": destination.key}
    return seal(json.dumps(kept), owner=owner_of(row))


def _told(row: NoticeChannel) -> dict[str, object]:
    return {"name": row.name, "kind": row.kind, "events": sorted(row.events)}


def _name_taken() -> ConflictError:
    return ConflictError(_("There is a channel with this name. Choose another name."))
