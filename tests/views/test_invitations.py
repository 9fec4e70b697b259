"""A link makes one account, once, with the roles that it was made for."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    AuditEntry,
    Invitation,
    RoleGrant,
    Team,
    TeamRole,
    User,
)
from deployments.selectors.access import roles_in
from tests.factories import TeamFactory, UserFactory
from tests.receivers import mail_receiver
from tests.views.conftest import logged_in
from tests.views.pages import parsed, text_of

pytestmark = pytest.mark.django_db

ACCOUNT = {"name": "vera", "password": "a long enough pass phrase"}


def link(client: Client, team: Team, *roles: str, email: str = "") -> str:
    """The path of a new link."""
    data = {"roles": list(roles), "days": "7", "email": email}
    answer = client.post(f"/teams/{team.pk}/invite/", data)
    shown = parsed(answer).select_one("pre.code")
    assert shown is not None, text_of(answer)
    return shown.get_text().removeprefix("http://testserver")


def test_whoever_has_the_link_makes_one_account(as_dora: Client, team: Team) -> None:
    path = link(as_dora, team, "viewer", "operator", email="Vera@Example.org")
    token = path.rstrip("/").rpartition("/")[2]
    page = as_dora.get(f"/teams/{team.pk}/")
    assert token not in page.content.decode()
    assert "vera@example.org" in text_of(page)
    assert token not in str(list(Invitation.objects.values()))
    shown = Client().get(path)
    assert "Serving platform" in text_of(shown)
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    assert Client().post(path, ACCOUNT | {"password": "short"}).status_code == 422
    assert Client().post(path, ACCOUNT | {"name": "dora"}).status_code == 409
    other = ACCOUNT | {"email": "other@example.org"}
    assert Client().post(path, other).headers["Location"] == "/accounts/login/"
    vera = User.objects.get(username="vera")
    assert (vera.email, vera.invited_by) == (
        "vera@example.org",
        User.objects.get(username="dora"),
    )
    assert roles_in(vera, team) == {TeamRole.VIEWER, TeamRole.OPERATOR}
    assert Client().post(path, ACCOUNT | {"name": "twin"}).status_code == 404
    actions = AuditEntry.objects.filter(action__startswith="member.")
    assert [one.action for one in actions] == [
        "member.invitation_accepted",
        "member.invited",
    ]
    assert token not in str([one.after for one in actions])


@pytest.mark.parametrize("end", ["revoked", "expired", "admin left", "admin disabled"])
def test_a_link_ends(as_dora: Client, dora: User, team: Team, end: str) -> None:
    path = link(as_dora, team, "viewer")
    row = Invitation.objects.get()
    if end == "revoked":
        data = {"invitation": str(row.pk)}
        as_dora.post(f"/teams/{team.pk}/invitations/revoke/", data)
    elif end == "expired":
        past = timezone.now() - timedelta(days=9)
        Invitation.objects.update(created_at=past, expires_at=past + timedelta(days=7))
    elif end == "admin left":
        RoleGrant.objects.filter(membership__user=dora).delete()
    else:
        User.objects.filter(pk=dora.pk).update(is_active=False)
    assert Client().get(path).status_code == 404
    assert Client().post(path, ACCOUNT).status_code == 404
    assert not User.objects.filter(username="vera").exists()


def test_a_link_gives_no_break_glass_and_is_for_strangers(
    as_dora: Client, as_alice: Client, team: Team
) -> None:
    data = {"roles": ["break_glass"], "days": "7"}
    assert as_dora.post(f"/teams/{team.pk}/invite/", data).status_code == 403
    assert as_dora.post(f"/teams/{team.pk}/invite/", {"days": "9"}).status_code == 422
    path = link(as_dora, team, "viewer")
    assert "Log out first" in text_of(as_alice.get(path))
    as_alice.post(path, ACCOUNT)
    assert not User.objects.filter(username="vera").exists()
    UserFactory.create(username="twin", email="vera@example.org")
    taken = Client().post(path, ACCOUNT | {"email": "Vera@example.org"})
    assert taken.status_code == 409


def test_who_came_by_a_link_invites_only_as_its_roles_allow(
    as_dora: Client, team: Team
) -> None:
    """A chain of invitations gives nobody more than an admin of the team could."""
    for name, roles in (("vera", ["approver"]), ("will", ["admin"])):
        Client().post(link(as_dora, team, *roles), ACCOUNT | {"name": name})
    vera, will = (User.objects.get(username=name) for name in ("vera", "will"))
    asked = {"roles": ["admin"], "days": "7"}
    assert logged_in(vera).post(f"/teams/{team.pk}/invite/", asked).status_code == 403
    chain = logged_in(will)
    glass = asked | {"roles": ["break_glass"]}
    assert chain.post(f"/teams/{team.pk}/invite/", glass).status_code == 403
    foreign = TeamFactory.create()
    assert chain.post(f"/teams/{foreign.pk}/invite/", asked).status_code == 404
    path = link(chain, team, "approver")
    RoleGrant.objects.filter(membership__user=will).delete()
    assert Client().post(path, ACCOUNT | {"name": "xena"}).status_code == 404
    assert not User.objects.filter(username="xena").exists()


def test_an_invitation_goes_by_mail_where_there_is_a_mail_server(
    as_dora: Client, team: Team, settings: Any
) -> None:
    asked = {"roles": "viewer", "days": "7", "email": "vera@example.org"}
    invite = f"/teams/{team.pk}/invite/"
    assert "Send it by e-mail" not in text_of(as_dora.get(f"/teams/{team.pk}/"))
    # Without a server the link is shown, whatever a form says.
    assert parsed(as_dora.post(invite, asked | {"by_mail": "on"})).select("pre.code")
    settings.NOTICE_NETWORKS_ALLOWED = ["127.0.0.0/8"]
    settings.PANEL_URL = "https://panel.example/"
    with mail_receiver() as mailbox:
        settings.NOTICE_MAIL_URL = (
            f"mailto://127.0.0.1:{mailbox.port}?from=panel@example.com"
        )
        assert "Send it by e-mail" in text_of(as_dora.get(f"/teams/{team.pk}/"))
        sent = as_dora.post(invite, asked | {"by_mail": "on"}, follow=True)
        assert "on its way to vera@example.org" in text_of(sent)
        assert not parsed(sent).select("pre.code")
        (mail,) = mailbox.mails
        body = mail.get_body(("plain", "html"))
        assert body is not None
        place = r"https://panel\.example(/invitations/[\w-]+/)"
        found = re.search(place, body.get_content())
        assert found is not None
        assert Client().get(found[1]).status_code == 200
        assert mail["To"] == "vera@example.org"
        mailbox.refuses = True
        shown = as_dora.post(invite, asked | {"by_mail": "on"})
        assert "did not leave" in text_of(shown)
        assert parsed(shown).select("pre.code")
