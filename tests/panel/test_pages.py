"""What surrounds every page: health, headers, log-in, language, permission."""

import logging
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import resolve, reverse
from django.utils import timezone, translation
from pytest_django import Settings

from deployments.models import TeamRole, User
from deployments.views.manifest import MANIFEST
from panel.middleware import PermissionMiddleware, PersonMiddleware
from tests.factories import MembershipFactory, RoleGrantFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(client: Client) -> User:
    """Somebody who is logged in and in no team."""
    user = UserFactory.create()
    client.force_login(user)
    return user


def give_role(user: User, role: TeamRole) -> None:
    """Let the person hold a role in some team."""
    RoleGrantFactory.create(membership=MembershipFactory.create(user=user), role=role)


def test_health_page_tells_strangers_only_what_answers(
    client: Client, settings: Settings
) -> None:
    """A broker that is away does not make the pages unhealthy."""
    settings.REDIS_URL = "redis://:hidden@127.0.0.1:1/0"
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "database": True, "broker": False}
    assert "hidden" not in answer.text


def test_health_page_finds_the_broker(
    client: Client, settings: Settings, redis_url: str
) -> None:
    """The same answer with the broker there."""
    settings.REDIS_URL = redis_url
    assert client.get("/healthz").json()["broker"] is True


def test_every_answer_forbids_inline_code_and_framing(client: Client) -> None:
    """Also the answers of pages that are not there."""
    for path in ("/healthz", reverse("account_login"), "/no-such-page"):
        headers = client.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert "camera=()" in headers["Permissions-Policy"]
        assert len(headers["X-Request-Id"]) == 16


def test_there_is_no_sign_up(client: Client) -> None:
    """Neither an address nor a link to one."""
    assert client.get("/accounts/signup/").status_code == 404
    assert "signup" not in client.get(reverse("account_login")).text


@pytest.mark.parametrize("name", ["alice", "alice@team.example"])
def test_person_logs_in_with_name_or_address(client: Client, name: str) -> None:
    """Both lead to the same account."""
    user = User.objects.create_user("alice", "alice@team.example", "a long pass phrase")
    answer = client.post(
        reverse("account_login"), {"login": name, "password": "a long pass phrase"}
    )
    assert answer.status_code == 302
    assert client.session["_auth_user_id"] == str(user.pk)


def test_wrong_passwords_are_throttled(client: Client) -> None:
    """The right one does not help any more after too many wrong ones."""
    User.objects.create_user("alice", "alice@team.example", "a long pass phrase")
    form = {"login": "alice", "password": "wrong"}
    for _attempt in range(12):
        client.post(reverse("account_login"), form)
    client.post(reverse("account_login"), form | {"password": "a long pass phrase"})
    assert "_auth_user_id" not in client.session


def test_pages_of_a_person_stay_out_of_caches(client: Client, person: User) -> None:
    """A shared computer must not show them after log-out."""
    answer = client.get(reverse("mfa_index"))
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"


def test_anonymous_page_leads_to_the_log_in(client: Client) -> None:
    """And back afterwards."""
    answer = client.get(reverse("mfa_index"))
    login = f"{reverse('account_login')}?next={reverse('mfa_index')}"
    assert (answer.status_code, answer.headers["Location"]) == (302, login)


def test_expired_fragment_sends_the_whole_page_to_the_log_in(client: Client) -> None:
    """The log-in page never lands inside a table cell."""
    answer = client.get(
        reverse("mfa_index"),
        headers={
            "HX-Request": "true",
            "HX-Current-URL": "http://testserver/fleet/?cluster=a",
        },
    )
    assert answer.status_code == 200
    assert answer.headers["HX-Redirect"] == (
        f"{reverse('account_login')}?next=%2Ffleet%2F%3Fcluster%3Da"
    )
    assert answer.content == b""


def test_foreign_page_is_no_place_to_return_to(client: Client) -> None:
    """The header comes from the browser, but a browser can be lied to."""
    answer = client.get(
        reverse("mfa_index"),
        headers={"HX-Request": "true", "HX-Current-URL": "http://evil.example/x"},
    )
    assert answer.headers["HX-Redirect"].endswith("?next=%2F")


def test_chosen_language_stays_with_the_person(client: Client, person: User) -> None:
    """It beats the browser's, also in the next session."""
    client.post(reverse("set_language"), {"language": "zh-hans", "next": "/"})
    person.refresh_from_db()
    assert person.language == "zh-hans"
    answer = client.get(reverse("mfa_index"), headers={"Accept-Language": "en"})
    assert answer.headers["Content-Language"] == "zh-hans"


def test_unknown_language_changes_nothing(client: Client, person: User) -> None:
    """Free text does not reach the account."""
    client.post(reverse("set_language"), {"language": "xx", "next": "/"})
    person.refresh_from_db()
    assert person.language == ""


def test_person_without_account_keeps_the_language_in_a_cookie(client: Client) -> None:
    """The log-in page can be read before anyone is known."""
    client.post(reverse("set_language"), {"language": "zh-hans", "next": "/"})
    answer = client.get(reverse("account_login"))
    assert answer.headers["Content-Language"] == "zh-hans"


@pytest.mark.parametrize(
    ("chosen", "used"), [("Asia/Shanghai", "Asia/Shanghai"), ("Mars/Base", "UTC")]
)
def test_times_are_shown_in_the_time_zone_of_the_person(
    rf: RequestFactory, chosen: str, used: str
) -> None:
    """A zone that the system does not know is like none."""
    request = rf.get("/")
    request.user = UserFactory.create(time_zone=chosen)
    seen: list[str] = []

    def view(_request: HttpRequest) -> HttpResponse:
        seen.append(timezone.get_current_timezone_name())
        return HttpResponse()

    PersonMiddleware(view)(request)
    assert seen == [used]
    assert timezone.get_current_timezone() == ZoneInfo("UTC")
    translation.deactivate()


def test_method_that_the_manifest_does_not_list_is_refused(client: Client) -> None:
    """Forms send GET and POST; nothing else gets through."""
    for method in ("post", "put", "patch", "delete", "options"):
        assert getattr(client, method)("/healthz").status_code == 405, method


def test_address_without_an_entry_is_refused_and_logged(
    rf: RequestFactory,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Forgetting an entry closes the page instead of opening it."""
    monkeypatch.delitem(MANIFEST, "mfa_index")
    request = rf.get(reverse("mfa_index"))
    request.resolver_match = resolve(request.path)
    middleware = PermissionMiddleware(lambda _request: HttpResponse())
    with caplog.at_level(logging.ERROR), pytest.raises(PermissionDenied):
        middleware.process_view(request, HttpResponse, (), {})  # type: ignore[arg-type]
    assert caplog.messages == ["url_not_in_manifest"]


@pytest.mark.parametrize("role", [TeamRole.APPROVER, TeamRole.ADMIN])
def test_people_who_decide_need_a_second_factor_over_https(
    client: Client, person: User, settings: Settings, role: TeamRole
) -> None:
    """In the lab they do not."""
    give_role(person, role)
    assert client.get(reverse("overview")).status_code == 200
    settings.SERVED_OVER_HTTPS = True
    answer = client.get(reverse("overview"), secure=True)
    assert answer.headers["Location"] == reverse("mfa_activate_totp")
    assert client.get(reverse("set_language"), secure=True).status_code == 405


def test_other_people_may_do_without_a_second_factor(
    client: Client, person: User, settings: Settings
) -> None:
    """Watching asks for a password only, until an operator of the panel says otherwise."""
    give_role(person, TeamRole.VIEWER)
    settings.SERVED_OVER_HTTPS = True
    assert client.get(reverse("overview"), secure=True).status_code == 200
    settings.SECOND_FACTOR_FOR_ALL = True
    answer = client.get(reverse("overview"), secure=True)
    assert answer.headers["Location"] == reverse("mfa_activate_totp")


def test_person_who_was_disabled_cannot_log_in(client: Client) -> None:
    """Their password was right, so they are told why."""
    user = User.objects.create_user("alice", "alice@team.example", "a long pass phrase")
    User.objects.filter(pk=user.pk).update(is_active=False)
    form = {"login": "alice", "password": "a long pass phrase"}
    answer = client.post(reverse("account_login"), form, follow=True)
    assert "This account is disabled" in answer.text
    assert "_auth_user_id" not in client.session


def test_session_of_a_person_who_was_disabled_ends(
    client: Client, person: User
) -> None:
    """At the next request, not at the next log-in."""
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert client.get(reverse("mfa_index")).status_code == 302
