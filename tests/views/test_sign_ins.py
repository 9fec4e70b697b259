"""Log-ins, log-outs, lock-outs, passwords and second factors leave entries that tell no secret."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from deployments.models import AuditEntry, User
from deployments.selectors.audit_chain import content_of
from tests.factories import UserFactory
from tests.views.test_login import (
    PASSWORD,
    activate,
    code_for,
    log_in,
    log_in_and_confirm,
)

WRONG = "my wrong pass phrase"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@pytest.fixture
def person(alice: User) -> User:
    """Somebody with a password."""
    alice.set_password(PASSWORD)
    alice.save()
    return alice


def told() -> list[str]:
    """What was done, the first first; nothing that was typed in secret is in it."""
    rows = AuditEntry.objects.order_by("sequence")
    everything = str([content_of(entry) for entry in rows])
    assert PASSWORD not in everything
    assert WRONG not in everything
    return [entry.action.removeprefix("person.") for entry in rows]


def test_getting_in_and_out_is_told_with_its_origin(person: User) -> None:
    client = Client(headers={"User-Agent": FIREFOX}, REMOTE_ADDR="192.0.2.7")
    log_in(client)
    client.post("/accounts/logout/")
    assert told() == ["logged_in", "logged_out"]
    for entry in AuditEntry.objects.all():
        assert (entry.actor, entry.object_name) == (person, "alice")
        assert (entry.address, entry.agent) == ("192.0.2.7", "Firefox, Linux")
        assert entry.team is None


def test_an_address_is_believed_as_far_as_proxies_are_trusted(
    person: User, settings: Settings
) -> None:
    forged = {"X-Forwarded-For": "203.0.113.9, 198.51.100.4"}
    log_in(Client(headers=forged, REMOTE_ADDR="192.0.2.7"))
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    log_in(Client(headers=forged, REMOTE_ADDR="192.0.2.7"))
    rows = AuditEntry.objects.order_by("sequence")
    assert [one.address for one in rows] == ["192.0.2.7", "198.51.100.4"]


def test_failures_name_people_that_there_are_and_a_lock_out_is_told_once(
    person: User,
) -> None:
    client = Client()
    for _try in range(8):
        log_in(client, WRONG)
    assert told() == [*["log_in_failed"] * 5, "locked_out"]
    for entry in AuditEntry.objects.all():
        assert (entry.actor, entry.actor_name) == (None, "nobody")
        assert entry.object_id == str(person.pk)


def test_what_nobody_is_called_may_be_a_password(db: None) -> None:
    UserFactory.create(username="other")
    Client().post("/accounts/login/", {"login": WRONG, "password": "x"})
    assert told() == ["log_in_failed"]
    entry = AuditEntry.objects.get()
    assert (entry.object_id, entry.object_name) == ("", "unknown name")


def test_passwords_and_second_factors_are_told(
    person: User, django_capture_on_commit_callbacks: Any
) -> None:
    client = log_in_and_confirm()
    changed = {
        "oldpassword": PASSWORD,
        "password1": f"{PASSWORD} anew",
        "password2": f"{PASSWORD} anew",
    }
    assert client.post("/accounts/password/change/", changed).status_code == 302
    with django_capture_on_commit_callbacks(execute=True):
        secret = activate(client)
    client.post("/accounts/2fa/totp/deactivate/")
    assert told() == [
        *("logged_in", "password_changed", "factor_added", "factor_added"),
        *("factor_removed", "factor_removed"),
    ]
    kinds = AuditEntry.objects.filter(action="person.factor_added")
    assert {one.after["factor"] for one in kinds} == {"totp", "recovery_codes"}
    everything = str([content_of(entry) for entry in AuditEntry.objects.all()])
    assert secret not in everything


def test_a_wrong_code_is_told(person: User) -> None:
    secret = activate(log_in_and_confirm())
    client = Client()
    log_in(client)
    wrong = "000000" if code_for(secret) != "000000" else "111111"
    client.post("/accounts/2fa/authenticate/", {"code": wrong})
    assert told()[-1] == "code_failed"
