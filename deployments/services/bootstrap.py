"""The first person, team and cluster of a new panel."""

import secrets
from dataclasses import dataclass

from django.db import transaction

from deployments.models import Cluster, Membership, RoleGrant, Team, TeamRole, User

ADMIN_NAME = "admin"
PASSWORD_BYTES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """What a bootstrap left: the password is ``None`` when the person existed already."""

    user_name: str
    password: str | None


def bootstrap() -> Bootstrap:
    """Make the team "Default", its cluster "local" and the person "admin"; safe to repeat.

    The local cluster asks for no other approver: one person tries the panel on one machine.
    The person holds every role, each granted on its own.
    """
    with transaction.atomic():
        team, _made = Team.objects.get_or_create(
            slug="default", defaults={"name": "Default"}
        )
        Cluster.objects.get_or_create(
            team=team,
            slug="local",
            defaults={"name": "local", "requires_other_approver": False},
        )
        if User.objects.filter(is_superuser=True).exists():
            return Bootstrap(user_name=ADMIN_NAME, password=None)
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        user = User.objects.create_superuser(ADMIN_NAME, None, password)
        add_member(team, user, *TeamRole)
    return Bootstrap(user_name=ADMIN_NAME, password=password)


def add_member(team: Team, user: User, *roles: TeamRole) -> Membership:
    """Put a person into a team with these roles, and no others implied."""
    membership, _made = Membership.objects.get_or_create(team=team, user=user)
    for role in roles:
        RoleGrant.objects.get_or_create(membership=membership, role=role)
    return membership


def reset_password(user_name: str) -> str:
    """Give a person a new random password and return it, this once.

    Raises:
        User.DoesNotExist: nobody has that name.
    """
    user = User.objects.get(username=user_name)
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    user.set_password(password)
    user.save(update_fields=["password"])
    return password
