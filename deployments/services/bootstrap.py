"""People, and the first team and cluster of a new panel."""

import secrets
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from deployments.models import (
    AuditAction,
    AuditKind,
    Cluster,
    Membership,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.services.audit import record
from deployments.services.audit_subjects import Subject
from deployments.services.errors import ConflictError

ADMIN_NAME = "admin"
PASSWORD_BYTES = 15
EVERYDAY_ROLES = tuple(role for role in TeamRole if role != TeamRole.BREAK_GLASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """What a bootstrap left: the password is ``None`` when the person existed already."""

    user_name: str
    password: str | None


def bootstrap() -> Bootstrap:
    """Make the team "Default", its cluster "local" and the person "admin"; safe to repeat.

    In the lab the cluster asks for no other approver: one person tries the panel on one machine.
    Anywhere else it does.
    The person holds every role, each granted on its own, but “Break glass”: that is given to a
    person on purpose.
    """
    with transaction.atomic():
        team, _new = Team.objects.get_or_create(
            slug="default", defaults={"name": "Default"}
        )
        Cluster.objects.get_or_create(
            team=team,
            slug="local",
            defaults={
                "name": "local",
                "requires_other_approver": not settings.LAB_MODE,
            },
        )
        if User.objects.filter(is_superuser=True).exists():
            return Bootstrap(user_name=ADMIN_NAME, password=None)
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        user = User.objects.create_superuser(
            ADMIN_NAME, None, password, must_change_password=True
        )
        record(AuditAction.PERSON_ADDED, None, user, after={"platform_admin": True})
        add_member(team, user, *EVERYDAY_ROLES)
    return Bootstrap(user_name=ADMIN_NAME, password=password)


def add_member(team: Team, user: User, *roles: TeamRole) -> Membership:
    """Put a person into a team with these roles, and no others implied."""
    on = Subject(kind=AuditKind.PERSON, id=str(user.pk), name=user.username, team=team)
    with transaction.atomic():
        membership, new = Membership.objects.get_or_create(team=team, user=user)
        old = _roles(membership)
        for role in roles:
            RoleGrant.objects.get_or_create(membership=membership, role=role)
        told = {"roles": _roles(membership)}
        if new or told["roles"] != old:
            before = {} if new else {"roles": old}
            record(AuditAction.MEMBER_ADDED, None, on, before=before, after=told)
    return membership


def _roles(membership: Membership) -> list[str]:
    return sorted(membership.grants.values_list("role", flat=True))


def add_person(
    name: str, team: Team, *roles: TeamRole, must_change_password: bool = True
) -> str:
    """Make a person with these roles in the team and return their password, this once.

    Raises:
        ConflictError: somebody has that name already.
    """
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    with transaction.atomic():
        if User.objects.filter(username=name).exists():
            raise ConflictError(
                _("Somebody is called “%(name)s” already. Choose another name.")
                % {"name": name}
            )
        user = User.objects.create_user(
            name, None, password, must_change_password=must_change_password
        )
        record(AuditAction.PERSON_ADDED, None, user)
        add_member(team, user, *roles)
    return password


def reset_password(user_name: str) -> str:
    """Give a person a new random password and return it, this once.

    Raises:
        User.DoesNotExist: nobody has that name.
    """
    user = User.objects.get(username=user_name)
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    user.set_password(password)
    user.must_change_password = True
    with transaction.atomic():
        user.save(update_fields=["password", "must_change_password"])
        record(AuditAction.PASSWORD_RESET, None, user)
    return password
