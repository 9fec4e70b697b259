"""Store a team's secrets, and open them for the containers that name them."""

from collections.abc import Iterable
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from deployments.models import AuditAction, Team, TeamRole, TeamSecret, User
from deployments.planning.container import SecretVariable
from deployments.planning.text import text
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.audit_subjects import subject_of
from deployments.services.errors import ConflictError, UseCaseError
from deployments.services.secrets import seal, unseal


class SecretUnavailableError(UseCaseError):
    """A container names a secret, or a version of it, that is not stored any more."""

    code = "secret_unavailable"


def store_secret(user: User, team: Team, name: str, value: str) -> TeamSecret:
    """Keep a value under a name; a name that exists gets the next version.

    Raises:
        NotAllowedError: the person is no admin of the team.
        SecretsError: this panel has no key for secrets.
        ConflictError: somebody stored the same name at the same moment.
    """
    require_role(user, team, TeamRole.ADMIN)
    try:
        with transaction.atomic():
            stored = _store(user, team, name, value)
            told = {"version": stored.version}
            record(AuditAction.SECRET_STORED, user, stored, after=told)
            return stored
    except IntegrityError as error:
        raise _changed_meanwhile() from error


def _store(user: User, team: Team, name: str, value: str) -> TeamSecret:
    known = TeamSecret.objects.filter(team=team, name=name).first()
    if known is None:
        made = TeamSecret(team=team, name=name, changed_by=user)
        made.sealed = seal(value, owner=_owner(made.pk, 1))
        made.save(force_insert=True)
        return made
    version = known.version + 1
    changed = TeamSecret.objects.filter(pk=known.pk, version=known.version).update(
        version=version,
        sealed=seal(value, owner=_owner(known.pk, version)),
        changed_by=user,
        changed_at=Now(),
    )
    if changed != 1:
        raise _changed_meanwhile()
    known.refresh_from_db()
    return known


def remove_secret(user: User, team: Team, name: str) -> None:
    """Forget a secret; containers that have it keep it, plans that name it cannot be released.

    Raises:
        NotAllowedError: the person is no admin of the team.
    """
    require_role(user, team, TeamRole.ADMIN)
    with transaction.atomic():
        for row in TeamSecret.objects.filter(team=team, name=name):
            removed, told = subject_of(row), {"version": row.version}
            row.delete()
            record(AuditAction.SECRET_REMOVED, user, removed, before=told)


def open_secrets(team_id: UUID, wanted: Iterable[SecretVariable]) -> dict[str, str]:
    """The values of secret variables, by variable; only the executor calls this.

    Raises:
        SecretUnavailableError: a secret is gone, or has another version than was planned.
        SecretsError: no key of this process opens it.
    """
    opened: dict[str, str] = {}
    for one in wanted:
        row = TeamSecret.objects.filter(team_id=team_id, name=one.secret).first()
        if row is None or row.version != one.version:
            raise SecretUnavailableError(
                text(
                    "version {version} of the secret {name} is not stored any more",
                    version=one.version or 0,
                    name=one.secret,
                )
            )
        opened[one.variable] = unseal(row.sealed, owner=_owner(row.pk, row.version))
    return opened


def _owner(pk: UUID, version: int) -> str:
    return f"team-secret:{pk}:{version}"


def _changed_meanwhile() -> ConflictError:
    return ConflictError(
        _(
            "Somebody stored this secret at the same moment. Look whose holds, then store it again."
        )
    )
