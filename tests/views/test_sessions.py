"""A person sees where they are logged in, and ends that."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client
from django.utils import timezone

from deployments.models import AuditEntry, User
from panel.sessions import SEEN_AGAIN_S, SEEN_AT
from tests.factories import UserFactory
from tests.views.pages import parsed, text_of
from tests.views.test_login import PASSWORD

pytestmark = pytest.mark.django_db

PAGE = "/settings/sessions/"
END = "/settings/sessions/end/"


def logged_in(name: str, agent: str, address: str) -> Client:
    """A browser in which the person logged in with the form."""
    client = Client(headers={"User-Agent": agent}, REMOTE_ADDR=address)
    client.post("/accounts/login/", {"login": name, "password": PASSWORD})
    return client


@pytest.fixture
def person(alice: User) -> User:
    for user in (alice, UserFactory.create(username="eve")):
        user.set_password(PASSWORD)
        user.save()
    return alice


def test_every_session_is_listed_and_ends_at_once(person: User) -> None:
    here = logged_in("alice", "Firefox/145.0 Linux", "192.0.2.7")
    other = logged_in("alice", "Chrome/140 Windows", "192.0.2.8")
    foreign = logged_in("eve", "curl/8", "192.0.2.9")
    rows = [
        row.get_text(" ", strip=True)
        for row in parsed(here.get(PAGE)).select("tbody tr")
    ]
    assert len(rows) == 2
    assert rows[0].startswith("Firefox, Linux this one 192.0.2.7")
    assert rows[1].startswith("Chrome, Windows 192.0.2.8")
    theirs = UserSession.objects.get(user__username="eve")
    for wrong in (str(theirs.pk), "²", "9" * 40):
        assert here.post(END, {"session": wrong}).status_code == 404
    assert foreign.get(PAGE).status_code == 200
    ended = UserSession.objects.get(ip="192.0.2.8")
    here.post(END, {"session": str(ended.pk)})
    assert other.get(PAGE).status_code == 302
    third = logged_in("alice", "Safari/1 Mac OS X", "192.0.2.10")
    said = text_of(here.post(END, follow=True), ".messages")
    assert said.endswith("1 other session has ended.")
    assert third.get(PAGE).status_code == 302
    assert here.get(PAGE).status_code == 200
    told = AuditEntry.objects.filter(action="person.session_ended")
    assert [one.before["address"] for one in told] == ["192.0.2.10", "192.0.2.8"]


def test_when_it_was_last_seen_is_kept_now_and_then(person: User) -> None:
    client = logged_in("alice", "Firefox/145.0 Linux", "192.0.2.7")
    long_ago = timezone.now() - timedelta(hours=1)
    UserSession.objects.update(last_seen_at=long_ago)
    client.get(PAGE)
    assert UserSession.objects.get().last_seen_at == long_ago
    session = client.session
    session[SEEN_AT] -= SEEN_AGAIN_S
    session.save()
    client.get(PAGE, REMOTE_ADDR="192.0.2.77")
    row = UserSession.objects.get()
    assert row.last_seen_at > long_ago
    assert row.ip == "192.0.2.77"
