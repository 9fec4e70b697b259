"""Getting in and out: password, second factor, recovery codes."""

import time

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.test import Client

from deployments.models import User
from tests.views.pages import parsed, text_of

PASSWORD = "a long enough pass phrase"  # noqa: S105


@pytest.fixture
def person(alice: User) -> User:
    """Somebody with a password."""
    alice.set_password(PASSWORD)
    alice.save()
    return alice


def log_in(client: Client, password: str = PASSWORD, target: str = "") -> str:
    """Send the log-in form; where it leads, or the text of the page that refuses."""
    data = {"login": "alice", "password": password, "next": target}
    response = client.post("/accounts/login/", data)
    return response.headers.get("Location") or text_of(response)


def code_for(secret: str) -> str:
    """The six digits that an authenticator app shows now."""
    return str(totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30)))


def log_in_and_confirm() -> Client:
    """A browser in which the person has just proven twice who they are."""
    client = Client()
    log_in(client)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def activate(client: Client) -> str:
    """Set up the authenticator app as a person does, and return its secret."""
    page = parsed(client.get("/accounts/2fa/totp/activate/"))
    secret = page.select_one("form code")
    assert secret is not None
    data = {"code": code_for(secret.get_text())}
    response = client.post("/accounts/2fa/totp/activate/", data)
    assert response.status_code == 302, text_of(response)
    return secret.get_text()


def test_the_form_carries_the_target_and_names_its_fields(db: None) -> None:
    """After log-in the person goes where they wanted to go."""
    page = parsed(Client().get("/accounts/login/?next=/fleet/"))
    target = page.select_one("main input[name=next]")
    assert target is not None
    assert target["value"] == "/fleet/"
    labels = [label.get_text() for label in page.select("main label")]
    assert labels == ["User name or email", "Password"]


def test_the_right_password_leads_to_the_target(person: User) -> None:
    """And never off the panel."""
    assert log_in(Client(), target="/fleet/") == "/fleet/"
    assert log_in(Client(), target="https://evil.example/") == "/"


def test_a_wrong_password_is_refused_without_telling_who_exists(person: User) -> None:
    """The same sentence for people who exist and who do not."""
    known = log_in(Client(), password="wrong")  # noqa: S106
    User.objects.filter(pk=person.pk).update(username="somebody-else")
    unknown = log_in(Client(), password="wrong")  # noqa: S106
    assert "not correct" in known
    assert known == unknown


def test_people_whose_account_was_closed_cannot_log_in(person: User) -> None:
    """They read one sentence, not an error page."""
    User.objects.filter(pk=person.pk).update(is_active=False)
    client = Client()
    log_in(client)
    assert client.get("/settings/").status_code == 302


@pytest.mark.parametrize("path", ["/accounts/signup/", "/accounts/password/reset/"])
def test_there_is_no_sign_up(db: None, path: str) -> None:
    """Accounts are given, and passwords are reset on the machine."""
    assert Client().get(path).status_code == 404


def test_logging_out_asks_first_and_then_ends_the_session(person: User) -> None:
    """A link alone logs nobody out."""
    client = Client()
    log_in(client)
    assert client.get("/accounts/logout/").status_code == 200
    assert client.get("/settings/").status_code == 200
    assert client.post("/accounts/logout/").headers["Location"] == "/accounts/login/"
    assert client.get("/settings/").status_code == 302


def test_changing_the_password_asks_for_the_old_one(person: User) -> None:
    """Refused with the reason beside the field; the new one then works."""
    client = Client()
    log_in(client)
    new = "another long pass phrase"
    data = {"oldpassword": "wrong", "password1": new, "password2": new}
    refused = client.post("/accounts/password/change/", data)
    assert "Password now" in text_of(refused, ".error-summary")
    data["oldpassword"] = PASSWORD
    assert client.post("/accounts/password/change/", data).status_code == 302
    assert log_in(Client(), password=new) == "/"


def test_the_second_factor_is_set_up_and_then_asked_for(person: User) -> None:
    """The QR code is there, its secret can be typed, a used code is asked for at log-in."""
    client = log_in_and_confirm()
    page = parsed(client.get("/accounts/2fa/totp/activate/"))
    picture = page.select_one("img.qr")
    assert picture is not None
    assert str(picture["src"]).startswith("data:image/svg+xml")
    activate(client)
    assert "Set up" in text_of(client.get("/accounts/2fa/"))
    again = Client()
    assert log_in(again, target="/fleet/").startswith("/accounts/2fa/authenticate/")
    wrong = again.post("/accounts/2fa/authenticate/", {"code": "000000"})
    assert "Incorrect code" in text_of(wrong, ".error-summary")
    assert again.get("/settings/").status_code == 302


def test_a_recovery_code_lets_in_once(person: User) -> None:
    """The codes come with the app, and each is used up."""
    client = log_in_and_confirm()
    activate(client)
    shown = parsed(client.get("/accounts/2fa/recovery-codes/")).select_one("pre")
    assert shown is not None
    code = shown.get_text().split()[0]
    for expected in (302, 200):
        other = Client()
        log_in(other)
        response = other.post("/accounts/2fa/authenticate/", {"code": code})
        assert response.status_code == expected


def test_turning_the_second_factor_off_is_a_form(person: User) -> None:
    """Reading the page changes nothing."""
    client = log_in_and_confirm()
    activate(client)
    path = "/accounts/2fa/totp/deactivate/"
    assert client.get(path).status_code == 200
    assert client.post(path).status_code == 302
    assert "Not set up" in text_of(client.get("/accounts/2fa/"))


def test_the_second_factor_asks_for_a_fresh_proof(person: User) -> None:
    """What changes how somebody gets in needs a fresh proof."""
    client = Client()
    client.force_login(person)
    response = client.get("/accounts/2fa/totp/activate/", follow=True)
    assert response.redirect_chain[-1][0].startswith("/accounts/reauthenticate/")
    assert "Confirm that it is you" in text_of(response)
    passed = client.post(
        "/accounts/reauthenticate/",
        {"password": PASSWORD, "next": "/accounts/2fa/totp/activate/"},
    )
    assert passed.headers["Location"] == "/accounts/2fa/totp/activate/"


def test_new_recovery_codes_are_made_by_a_form(person: User) -> None:
    """The page warns that the old ones stop working."""
    client = log_in_and_confirm()
    activate(client)
    path = "/accounts/2fa/recovery-codes/generate/"
    assert "stop working" in text_of(client.get(path))
    before = client.get("/accounts/2fa/recovery-codes/").content
    assert client.post(path).status_code == 302
    assert client.get("/accounts/2fa/recovery-codes/").content != before
