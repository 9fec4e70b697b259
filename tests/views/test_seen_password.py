"""A password that others have seen opens nothing but the form for another."""

import pytest
from django.core.management import call_command
from django.test import Client

from deployments.models import User
from deployments.services.bootstrap import bootstrap
from tests.views.pages import text_of

pytestmark = pytest.mark.django_db

FORM = "/accounts/password/change/"
CHOSEN = "a pass phrase of my own"


def change(client: Client, old: str, new: str) -> str:
    """Send the form; where it leads, or what it says."""
    data = {"oldpassword": old, "password1": new, "password2": new}
    answer = client.post(FORM, data)
    return answer.headers.get("Location") or text_of(answer)


@pytest.mark.parametrize("first", [True, False], ids=["first", "reset"])
def test_the_printed_password_must_be_changed_before_anything_else(
    *, first: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = bootstrap().password or ""
    if not first:
        User.objects.update(must_change_password=False)
        call_command("reset_admin_password")
        printed = capsys.readouterr().out.split()[-1]
    client = Client()
    client.post("/accounts/login/", {"login": "admin", "password": printed})
    assert client.get("/fleet/").headers["Location"] == FORM
    assert client.post("/settings/theme/", {"theme": "dark"}).headers["Location"] == (
        FORM
    )
    polled = client.get("/fleet/", headers={"HX-Request": "true"})
    assert polled.headers["HX-Redirect"].startswith(FORM)
    assert "shown on a screen" in text_of(client.get(FORM))
    assert "Choose another" in change(client, printed, printed)
    assert client.get("/fleet/").status_code == 302
    assert change(client, printed, CHOSEN) == "/"
    assert client.get("/fleet/").status_code == 200
    assert not User.objects.get(username="admin").must_change_password


@pytest.mark.parametrize("keep", [True, False])
def test_people_added_by_command_choose_theirs_unless_a_script_keeps_it(
    *, keep: bool
) -> None:
    bootstrap()
    flags = ["--keep-password"] if keep else []
    call_command("add_person", "vera", *flags, stdout=None)
    assert User.objects.get(username="vera").must_change_password is not keep
