"""A team's secrets: written by its admins, read by the executor alone, in the planned version."""

import pytest

from deployments.models import TeamRole, TeamSecret, User
from deployments.planning.container import SecretVariable
from deployments.services.errors import NotAllowedError
from deployments.services.secrets import SecretsError
from deployments.services.team_secrets import (
    SecretUnavailableError,
    open_secrets,
    remove_secret,
    store_secret,
)
from tests.factories import member
from tests.services.conftest import Team1

VALUE = "k-0123456789"


@pytest.fixture
def admin(team1: Team1) -> User:
    """Somebody who may store secrets."""
    return member(team1.team, "dora", TeamRole.ADMIN)


def _wanted(version: int | None, name: str = "chat-key") -> list[SecretVariable]:
    return [SecretVariable(variable="VLLM_API_KEY", secret=name, version=version)]


def test_a_stored_value_is_unreadable_in_its_row_and_opens_for_the_executor(
    team1: Team1, admin: User
) -> None:
    row = store_secret(admin, team1.team, "chat-key", VALUE)
    assert VALUE not in str(TeamSecret.objects.values_list().get(pk=row.pk))
    assert open_secrets(team1.team.pk, _wanted(1)) == {"VLLM_API_KEY": VALUE}


def test_a_new_value_is_the_next_version_and_the_old_one_is_gone(
    team1: Team1, admin: User
) -> None:
    store_secret(admin, team1.team, "chat-key", VALUE)
    assert store_secret(admin, team1.team, "chat-key", f"{VALUE}-new").version == 2
    assert open_secrets(team1.team.pk, _wanted(2))["VLLM_API_KEY"] == f"{VALUE}-new"
    with pytest.raises(SecretUnavailableError, match="version 1 of the secret"):
        open_secrets(team1.team.pk, _wanted(1))


@pytest.mark.parametrize("version", [None, 2])
def test_no_other_version_opens(team1: Team1, admin: User, version: int | None) -> None:
    store_secret(admin, team1.team, "chat-key", VALUE)
    with pytest.raises(SecretUnavailableError):
        open_secrets(team1.team.pk, _wanted(version))


def test_another_team_does_not_have_it(team1: Team1, admin: User) -> None:
    store_secret(admin, team1.team, "chat-key", VALUE)
    other = team1.charlie.memberships.get().team
    with pytest.raises(SecretUnavailableError):
        open_secrets(other.pk, _wanted(1))


def test_only_team_admins_store_and_remove(team1: Team1, admin: User) -> None:
    for person in (team1.alice, team1.charlie):
        with pytest.raises(NotAllowedError):
            store_secret(person, team1.team, "chat-key", VALUE)
    store_secret(admin, team1.team, "chat-key", VALUE)
    with pytest.raises(NotAllowedError):
        remove_secret(team1.alice, team1.team, "chat-key")
    remove_secret(admin, team1.team, "chat-key")
    assert not TeamSecret.objects.exists()


def test_ciphertext_of_an_earlier_version_does_not_open_in_its_place(
    team1: Team1, admin: User
) -> None:
    """Whoever can write rows cannot bring an old key back."""
    old = store_secret(admin, team1.team, "chat-key", VALUE).sealed
    new = store_secret(admin, team1.team, "chat-key", f"{VALUE}-new")
    TeamSecret.objects.filter(pk=new.pk).update(sealed=old)
    with pytest.raises(SecretsError, match="another row"):
        open_secrets(team1.team.pk, _wanted(2))
