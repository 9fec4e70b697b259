"""Make, revoke and accept links by which new people come into a team."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    AuditAction,
    ChannelKind,
    Invitation,
    Membership,
    Team,
    TeamRole,
    User,
)
from deployments.planning.text import Text, said_by
from deployments.selectors.members import invitation_of, open_invitations
from deployments.selectors.tokens import hash_of
from deployments.services.audit import record
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.members import give_roles, person_in, require_manager
from deployments.services.notices.ways import (
    BadAddressError,
    SendError,
    send_by_apprise,
)

TOKEN_BYTES = 32
LONGEST_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class NewInvitation:
    """An invitation and the token of its link, which is shown this once."""

    row: Invitation
    token: str


def invite(
    user: User, team: Team, roles: Iterable[TeamRole], *, days: int, email: str = ""
) -> NewInvitation:
    """Make a link that gives one new account these roles.

    Raises:
        NotAllowedError: the person does not manage the team, or asks for “Break glass”.
        ConflictError: the days are out of range.
    """
    wanted = sorted(set(roles))
    require_manager(user, team, wanted)
    if TeamRole.BREAK_GLASS in wanted:
        raise NotAllowedError(
            _("“Break glass” is given to a person that is known, not by a link.")
        )
    if not 1 <= days <= LONGEST_DAYS:
        raise ConflictError(_("An invitation lasts between one day and thirty."))
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        row = Invitation.objects.create(
            team=team,
            roles=wanted,
            email=email.strip().lower(),
            token_hash=hash_of(token),
            invited_by=user,
            expires_at=timezone.now() + timedelta(days=days),
        )
        told = {"roles": wanted, "email": row.email, "expires_at": row.expires_at}
        record(AuditAction.INVITED, user, team, after=told)
    return NewInvitation(row=row, token=token)


def mail_invitation(made: NewInvitation, link: str) -> Text | None:
    """Send the link to whom it is for, in the language that is active; why it did not leave, if so.

    Nothing of it is kept: after a failure the inviter hands the link over themselves.
    """
    row = made.row
    title = _("Invitation to the team %(team)s") % {"team": row.team.name}
    lines = (
        _("%(name)s invites you. The link makes one account and ends with it.")
        % {"name": row.invited_by},
        link,
    )
    try:
        send_by_apprise(
            ChannelKind.EMAIL, row.email, "", title=title, body="\n".join(lines)
        )
    except BadAddressError as error:
        return said_by(error)
    except SendError as error:
        return error.said
    return None


def revoke_invitation(user: User, row: Invitation) -> None:
    """End a link before anybody uses it.

    Raises:
        NotAllowedError: the person does not manage the team.
        ConflictError: it has been used or has ended.
    """
    require_manager(user, row.team)
    with transaction.atomic():
        if open_invitations(row.team).filter(pk=row.pk).update(revoked_at=Now()) != 1:
            raise ConflictError(_("This invitation was used or has ended."))
        record(
            AuditAction.INVITATION_REVOKED, user, row.team, before={"email": row.email}
        )


def accept(token: str, *, name: str, email: str, password: str) -> User:
    """Make the account of an invitation, once.

    Raises:
        ConflictError: the link does not hold, or somebody has that name or address.
    """
    try:
        with transaction.atomic():
            Invitation.objects.select_for_update().filter(
                token_hash=hash_of(token)
            ).first()
            row = invitation_of(token)
            if row is None:
                raise ConflictError(
                    _("This invitation was used or has ended. Ask for another.")
                )
            user = _account(row, name, email, password)
            Invitation.objects.filter(pk=row.pk).update(
                accepted_by=user, accepted_at=Now()
            )
            membership = Membership.objects.create(team=row.team, user=user)
            give_roles(membership, map(TeamRole, row.roles), row.invited_by)
            record(
                AuditAction.INVITATION_ACCEPTED,
                user,
                person_in(row.team, user),
                after={"roles": row.roles, "invited_by": row.invited_by.username},
            )
    except IntegrityError as error:
        raise _taken(name) from error
    return user


def _account(row: Invitation, name: str, email: str, password: str) -> User:
    address = row.email or email.strip().lower()
    if User.objects.filter(username__iexact=name).exists():
        raise _taken(name)
    if address and User.objects.filter(email__iexact=address).exists():
        raise ConflictError(
            _("Somebody has this e-mail address already. Log in with that account.")
        )
    return User.objects.create_user(name, address, password, invited_by=row.invited_by)


def _taken(name: str) -> ConflictError:
    return ConflictError(
        _("Somebody is called “%(name)s” already. Choose another name.")
        % {"name": name}
    )
