"""People and hosts that a command names."""

from django.core.management.base import CommandError
from django.db.models import QuerySet

from deployments.models import Host, User

UNUSABLE = 2


def registered_host(rows: QuerySet[Host], name: str, cluster: str | None) -> Host:
    """The host of that name among ``rows``; ``cluster`` tells several apart.

    Raises:
        CommandError: there is none, or there are several.
    """
    named = rows.filter(name=name).select_related("cluster__team")
    found = list(named.filter(cluster__slug=cluster) if cluster else named)
    if len(found) == 1:
        return found[0]
    told = "no host" if not found else "several hosts; name the --cluster of"
    raise CommandError(f"There is {told} {name}.", returncode=UNUSABLE)


def registered_person(username: str) -> User:
    """The active person of that name.

    Raises:
        CommandError: there is none.
    """
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise CommandError(
            f"There is no active person {username}: look in Settings.",
            returncode=UNUSABLE,
        )
    return user
