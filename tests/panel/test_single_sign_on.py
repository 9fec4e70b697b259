"""Log-in by an OpenID Connect provider that signs for real, and what is refused."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client, override_settings

from deployments.models import AuditEntry, RoleGrant, Team, TeamRole, User
from deployments.selectors.access import roles_in
from tests.factories import TeamFactory, UserFactory
from tests.panel.oidc_provider import (
    CLIENT,
    SECRET,
    Provider,
    new_key,
    running_provider,
)
from tests.views.pages import text_of
from tests.views.test_login import PASSWORD

pytestmark = pytest.mark.django_db

BEGIN = "/accounts/oidc/sso/login/"
VERA = {
    "sub": "1234",
    "preferred_username": "vera",
    "email": "vera@example.org",
    "groups": ["ops", "approvers"],
}
MAPPING = {
    "ops": ("serving", "operator"),
    "approvers": ("serving", "approver"),
    "root": ("serving", "break_glass"),
}


@pytest.fixture(scope="module")
def listening() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(listening: Provider) -> Iterator[Provider]:
    listening.claims, listening.changes = dict(VERA), {}
    listening.signs_with = None
    app = {
        "provider_id": "sso",
        "name": "Company",
        "client_id": CLIENT,
        "secret": SECRET,
        "settings": {"server_url": listening.issuer},
    }
    with override_settings(
        OIDC_ISSUER=listening.issuer,
        OIDC_NAME="Company",
        OIDC_GROUP_ROLES=MAPPING,
        SOCIALACCOUNT_PROVIDERS={"openid_connect": {"APPS": [app]}},
    ):
        yield listening


@pytest.fixture
def team() -> Team:
    return TeamFactory.create(slug="serving")


def come_back(client: Client, state: str = "", begin: str = BEGIN) -> str:
    """Go to the provider and come back with its code; where it leads."""
    sent = urlsplit(client.get(begin).headers["Location"])
    asked = parse_qs(sent.query)
    assert sent.path == "/authorize"
    assert asked["client_id"] == [CLIENT]
    back = urlsplit(asked["redirect_uri"][0]).path
    query = {"code": "a-code", "state": state or asked["state"][0]}
    answer = client.get(back, query)
    return answer.headers.get("Location", str(answer.status_code))


def test_who_the_provider_lets_in_has_an_account_and_the_roles_of_their_groups(
    provider: Provider, team: Team
) -> None:
    assert BEGIN in Client().get("/accounts/login/").content.decode()
    client = Client()
    assert come_back(client) == "/"
    vera = User.objects.get()
    assert (vera.username, vera.email) == ("vera", "vera@example.org")
    assert not vera.has_usable_password()
    assert roles_in(vera, team) == {TeamRole.OPERATOR, TeamRole.APPROVER}
    assert client.get("/fleet/").status_code == 200
    assert provider.asked[-1]["client_secret"] == [SECRET]
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"person.added", "member.roles_changed", "person.logged_in"} <= actions
    kept = RoleGrant.objects.get(role=TeamRole.OPERATOR).created_at
    RoleGrant.objects.create(membership=vera.memberships.get(), role=TeamRole.VIEWER)
    provider.claims["groups"] = ["ops", "root"]
    assert come_back(Client()) == "/"
    assert User.objects.count() == 1
    assert roles_in(vera, team) == {TeamRole.OPERATOR, TeamRole.VIEWER}
    assert RoleGrant.objects.get(role=TeamRole.OPERATOR).created_at == kept


@pytest.mark.parametrize(
    "wrong", ["signature", "audience", "issuer", "expired", "state"]
)
def test_a_token_that_is_not_the_providers_for_us_opens_nothing(
    provider: Provider, team: Team, wrong: str
) -> None:
    if wrong == "signature":
        provider.signs_with = new_key()
    changes: dict[str, dict[str, object]] = {
        "audience": {"aud": "somebody-else"},
        "issuer": {"iss": "https://evil.example"},
        "expired": {"exp": 1_600_000_000},
    }
    provider.changes = changes.get(wrong, {})
    client = Client()
    assert come_back(client, "forged" if wrong == "state" else "") == "/accounts/login/"
    assert "did not work" in text_of(client.get("/accounts/login/"))
    assert not User.objects.exists()


def test_an_address_that_somebody_has_is_no_proof(provider: Provider) -> None:
    UserFactory.create(username="admin", email="Vera@example.org")
    client = Client()
    assert come_back(client) == "/accounts/login/"
    assert "exists" in text_of(client.get("/accounts/login/"))
    assert client.get("/fleet/").status_code == 302
    assert User.objects.count() == 1


def test_a_disabled_person_stays_out(provider: Provider) -> None:
    come_back(Client())
    User.objects.update(is_active=False)
    client = Client()
    assert come_back(client) == "/accounts/login/"
    assert client.get("/fleet/").status_code == 302


def test_without_a_provider_there_is_none(db: None) -> None:
    assert Client().get(BEGIN).status_code == 404
    assert Client().get(f"{BEGIN}callback/").status_code == 404
    assert BEGIN not in Client().get("/accounts/login/").content.decode()


def test_who_is_logged_in_connects_it_with_their_password_and_then_comes_in_by_it(
    provider: Provider,
) -> None:
    """The provider is a double on this machine that signs for real."""
    user = UserFactory.create(username="vera")
    user.set_password(PASSWORD)
    user.save()
    client = Client()
    client.force_login(user)
    settings_page = client.get("/settings/").content.decode()
    assert f"{BEGIN}?process=connect" in settings_page
    # A session alone connects nothing: whoever found it open would come back with it.
    asked = come_back(client, begin=f"{BEGIN}?process=connect")
    assert asked == "/accounts/reauthenticate/"
    assert not SocialAccount.objects.exists()
    done = client.post(asked, {"password": PASSWORD})
    assert done.headers["Location"] == "/settings/"
    assert SocialAccount.objects.get().user == user
    other = Client()
    assert come_back(other) == "/"
    assert other.session["_auth_user_id"] == str(user.pk)
    assert User.objects.count() == 1
