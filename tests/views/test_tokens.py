"""Keys of programs: shown once, within their scope, never a vote, never beside a session."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import ApiToken, AuditEntry, TeamRole, TokenScope, User
from deployments.services.errors import ConflictError
from deployments.services.tokens import MOST_TOKENS, create_token
from panel import tokens
from tests.views.pages import parsed, text_of
from tests.views.test_login import PASSWORD
from tests.world import World, browser

pytestmark = pytest.mark.django_db

DATA = "/deployments/table.csv"


def key_of(user: User, scope: TokenScope = TokenScope.READ) -> str:
    """A new key of the person."""
    return create_token(user, "robot", scope, days=7).key


def called(key: str, path: str, data: dict[str, str] | None = None) -> int:
    """The status that a program gets; it checks tokens of forms as a browser's request would."""
    client = Client(
        enforce_csrf_checks=True, headers={"Authorization": f"Bearer {key}"}
    )
    answer = client.get(path) if data is None else client.post(path, data)
    return answer.status_code


def test_a_token_is_made_after_a_fresh_proof_shown_once_and_revoked(
    alice: User,
) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    asked = {"name": "Prometheus", "scope": "read", "days": "30", "is_robot": "on"}
    client = browser(alice)
    assert (
        "reauthenticate" in client.post("/settings/tokens/", asked).headers["Location"]
    )
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    made = client.post("/settings/tokens/", asked)
    shown = parsed(made).select_one("pre.code")
    assert shown is not None
    key = shown.get_text()
    assert called(key, DATA) == 200
    row = ApiToken.objects.get()
    assert row.last_used_at is not None
    page = client.get("/settings/tokens/")
    assert key not in page.content.decode()
    assert "robot" in text_of(page)
    assert (
        browser(User.objects.create(username="eve"))
        .post(f"/settings/tokens/{row.pk}/revoke/")
        .status_code
        == 404
    )
    client.post(f"/settings/tokens/{row.pk}/revoke/")
    assert called(key, DATA) == 401
    told = AuditEntry.objects.filter(action__startswith="person.token")
    assert [one.action for one in told] == [
        "person.token_revoked",
        "person.token_added",
    ]
    assert key not in str([one.after for one in told])


def test_a_wrong_key_never_falls_back_to_the_session(as_alice: Client) -> None:
    assert as_alice.get(DATA).status_code == 200
    for key in ("draftboard_of-nobody", "x", ""):
        header = {"Authorization": f"Bearer {key}"}
        assert as_alice.get(DATA, headers=header).status_code == 401
        answer = as_alice.get("/service-discovery/targets.json", headers=header)
        assert answer.status_code == 401


def test_a_key_in_the_address_is_no_key(alice: User) -> None:
    assert Client().get(f"{DATA}?token={key_of(alice)}").status_code == 302


def test_what_ends_a_person_ends_their_tokens(alice: User) -> None:
    key = key_of(alice)
    User.objects.update(is_active=False)
    assert called(key, DATA) == 401
    User.objects.update(is_active=True)
    assert called(key, DATA) == 200
    ApiToken.objects.update(
        created_at=timezone.now() - timedelta(days=2),
        expires_at=timezone.now() - timedelta(days=1),
    )
    assert called(key, DATA) == 401


def test_it_reads_the_owners_rows_and_no_page() -> None:
    own = World("own")
    World("foreign")
    owner = User.objects.get(username="own-host")
    key = key_of(owner)
    answer = Client().get(DATA, headers={"Authorization": f"Bearer {key}"})
    assert b"own-canary" in answer.content
    assert b"foreign-canary" not in answer.content
    assert called(key, f"/deployments/{own.deployment.pk}/") == 403
    assert called(key, "/service-discovery/targets.json") == 200


@pytest.mark.parametrize("scope", TokenScope)
def test_it_operates_within_its_scope_and_its_acts_are_marked(
    scope: TokenScope,
) -> None:
    own = World("own")
    client = own.person(TeamRole.OPERATOR, TeamRole.APPROVER)
    owner = User.objects.get(pk=client.session["_auth_user_id"])
    key, request = key_of(owner, scope), f"/approvals/{own.request.pk}"
    vote = {"decision": "approve", "digest": own.request.digest, "start": "any"}
    assert called(key, f"{request}/decide/", vote) == 403
    assert called(key, f"{request}/break-glass/", {}) == 403
    assert not own.request.approvals.exists()
    assert called(key, f"{request}/comment/", {"text": "me"}) == 403
    asks = scope in {TokenScope.REQUEST, TokenScope.OPERATE}
    deploys = scope in {TokenScope.DEPLOY, TokenScope.OPERATE}
    # An open request cannot be deployed by anybody: a key that may is told so, another nothing.
    assert called(key, f"{request}/release/", {}) == (422 if deploys else 403)
    assert called(key, f"{request}/withdraw/", {}) == (302 if asks else 403)
    entries = AuditEntry.objects.filter(action="request.withdrawn")
    assert [one.agent for one in entries] == (["robot robot"] if asks else [])


def test_guesses_and_floods_are_slowed(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MOST_FAILURES", 2)
    monkeypatch.setattr(tokens, "MOST_USES", 2)
    monkeypatch.setattr("panel.tokens.time.time", lambda: 1_800_000_000.0)
    guesses = [called("draftboard_guess", DATA) for _try in range(4)]
    assert guesses == [401, 401, 429, 429]
    key = key_of(alice)
    assert [called(key, DATA) for _try in range(3)] == [200, 200, 429]


def test_a_person_has_only_so_many(alice: User) -> None:
    for _number in range(MOST_TOKENS):
        key_of(alice)
    with pytest.raises(ConflictError, match="Revoke one first"):
        key_of(alice)
    with pytest.raises(ConflictError, match="a year"):
        create_token(alice, "x", TokenScope.READ, days=366)


def test_admins_see_and_revoke_the_tokens_of_members(
    alice: User, as_dora: Client, as_bob: Client, charlie: User
) -> None:
    key, foreign = key_of(alice), key_of(charlie)
    page = f"/teams/{alice.memberships.get().team_id}/"
    assert "robot" in text_of(as_dora.get(page))
    assert "Tokens of members" not in text_of(as_bob.get(page))
    revoke, asked = f"{page}tokens/revoke/", {"token": str(alice.tokens.get().pk)}
    assert as_bob.post(revoke, asked).status_code == 403
    theirs = {"token": str(charlie.tokens.get().pk)}
    assert as_dora.post(revoke, theirs).status_code == 404
    assert called(foreign, DATA) == called(key, DATA) == 200
    assert as_dora.post(revoke, asked).status_code == 302
    assert called(key, DATA) == 401
    assert as_dora.post(revoke, asked).status_code == 404
    entry = AuditEntry.objects.get(action="person.token_revoked")
    assert (entry.actor_name, entry.object_name) == ("dora", "alice")
    assert entry.team == alice.memberships.get().team
