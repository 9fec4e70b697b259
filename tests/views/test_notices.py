"""Channels on their pages: added, changed, tried and removed by whom they belong to, and never read back."""

import pytest
from django.test import Client

from deployments.models import (
    AuditAction,
    AuditEntry,
    DeliveryState,
    NoticeChannel,
    NoticeDelivery,
    Team,
    TeamRole,
    User,
)
from deployments.services.notices.channels import owner_of
from deployments.services.secrets import unseal
from tests.factories import TeamFactory, member
from tests.notice_rows import (
    KEY,
    NoticeChannelFactory,
    NoticeDeliveryFactory,
    channel_to,
)
from tests.views.pages import parsed, queries_for, text_of
from tests.world import browser

pytestmark = pytest.mark.django_db

ADDRESS = "https://receiver.example/hidden-canary"


@pytest.fixture
def team() -> Team:
    """A team."""
    return TeamFactory.create(name="Serving")


@pytest.fixture
def admin(team: Team) -> User:
    """Its admin."""
    return member(team, "ada", TeamRole.ADMIN)


@pytest.fixture
def as_admin(admin: User) -> Client:
    """The admin's browser."""
    return browser(admin)


def filled(**changes: object) -> dict[str, object]:
    """A form for a webhook."""
    return {
        "kind": "webhook",
        "name": "ops",
        "address": ADDRESS,
        "key": KEY,
        "events": ["failed", "alarm"],
        **changes,
    }


def test_an_admin_adds_a_channel_that_nobody_reads_back(
    as_admin: Client, team: Team
) -> None:
    page = f"/teams/{team.pk}/notices/"
    answer = as_admin.post(page, filled(), follow=True)
    assert "“ops” is added" in text_of(answer)
    row = NoticeChannel.objects.get()
    assert (row.team, row.user, row.events) == (team, None, ["failed", "alarm"])
    assert ADDRESS in unseal(row.sealed, owner=owner_of(row))
    entry = AuditEntry.objects.get(action=AuditAction.CHANNEL_ADDED)
    assert "canary" not in str(entry.after)
    for path in (page, f"/notices/channels/{row.pk}/", "/audit/"):
        shown = as_admin.get(path).content
        assert b"ops" in shown
        assert b"hidden-canary" not in shown
        assert KEY.encode() not in shown


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key": "short"}, "needs a key of 16 to 200 characters"),
        ({"address": "http://169.254.169.254/latest"}, "link-local"),
        ({"kind": "slack"}, "One looks like https://hooks.slack.com"),
        ({"kind": "pigeon"}, "Select a valid choice"),
    ],
)
def test_a_refused_form_comes_back_without_the_secrets(
    as_admin: Client, team: Team, changes: dict[str, object], said: str
) -> None:
    answer = as_admin.post(f"/teams/{team.pk}/notices/", filled(**changes))
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert b"hidden-canary" not in answer.content
    assert KEY.encode() not in answer.content
    assert not NoticeChannel.objects.exists()


def test_the_same_name_twice_is_a_conflict(as_admin: Client, team: Team) -> None:
    page = f"/teams/{team.pk}/notices/"
    assert as_admin.post(page, filled()).status_code == 302
    answer = as_admin.post(page, filled())
    assert answer.status_code == 409
    assert "Choose another name" in text_of(answer)


def test_a_change_keeps_the_address_or_takes_a_new_one_with_its_key(
    as_admin: Client, team: Team
) -> None:
    row = channel_to(ADDRESS, team=team)
    page = f"/notices/channels/{row.pk}/"
    kept = row.sealed
    shown = parsed(as_admin.get(page)).select('input[type="password"]')
    assert [field.get("value") for field in shown] == [None, None]
    as_admin.post(page, filled(name="pager", address="", key=""))
    row.refresh_from_db()
    assert (row.name, row.sealed) == ("pager", kept)
    assert as_admin.post(page, filled(address="")).status_code == 422
    assert as_admin.post(page, filled(key="")).status_code == 422
    assert as_admin.post(page, filled(address=f"{ADDRESS}-2")).status_code == 302
    row.refresh_from_db()
    assert f"{ADDRESS}-2" in unseal(row.sealed, owner=owner_of(row))


def test_an_own_channel_is_nobody_elses(team: Team, admin: User) -> None:
    ann = member(team, "ann")
    assert browser(ann).post("/settings/notices/", filled()).status_code == 302
    row = NoticeChannel.objects.get()
    assert (row.user, row.team) == (ann, None)
    dead = NoticeDeliveryFactory.create(
        channel=row, notice__team=team, state=DeliveryState.DEAD
    )
    assert browser(ann).get(f"/notices/channels/{row.pk}/").status_code == 200
    assert "chat on lab" in text_of(browser(ann).get("/settings/notices/"))
    others = browser(admin)
    assert others.get(f"/notices/channels/{row.pk}/").status_code == 404
    for path in (f"channels/{row.pk}/test", f"channels/{row.pk}/remove", f"{dead.pk}/retry"):  # fmt: skip
        assert others.post(f"/notices/{path}/").status_code == 404
    assert browser(ann).post(f"/notices/{dead.pk}/discard/").status_code == 302
    dead.refresh_from_db()
    assert dead.state == DeliveryState.DISCARDED


def test_a_test_is_sent_once_and_a_channel_is_removed_with_what_waits(
    as_admin: Client, team: Team
) -> None:
    row = channel_to(ADDRESS, team=team)
    assert as_admin.post(f"/notices/channels/{row.pk}/test/").status_code == 302
    assert as_admin.post(f"/notices/channels/{row.pk}/test/").status_code == 409
    (waiting,) = NoticeDelivery.objects.all()
    assert waiting.notice.kind == "test"
    assert as_admin.post(f"/notices/channels/{row.pk}/remove/").status_code == 302
    assert not NoticeDelivery.objects.exists()


def test_members_see_the_channels_of_their_team_and_change_none(team: Team) -> None:
    NoticeDeliveryFactory.create(
        channel__team=team, channel__name="pager", state=DeliveryState.DEAD
    )
    shown = parsed(browser(member(team, "vera")).get(f"/teams/{team.pk}/notices/"))
    assert "pager" in shown.get_text()
    assert shown.select("main form") == []


def test_the_team_chooses_the_language_of_its_channels(
    as_admin: Client, team: Team
) -> None:
    page = f"/teams/{team.pk}/notices/language/"
    assert as_admin.post(page, {"language": "zh-hans"}).status_code == 302
    assert as_admin.post(page, {"language": "tlh"}).status_code == 422
    team.refresh_from_db()
    assert team.notice_language == "zh-hans"


def test_a_page_with_many_rows_takes_few_queries(as_admin: Client, team: Team) -> None:
    for number in range(5):
        channel = NoticeChannelFactory.create(team=team)
        state = DeliveryState.DEAD if number % 2 else DeliveryState.DELIVERED
        NoticeDeliveryFactory.create(channel=channel, state=state)
    assert queries_for(as_admin, f"/teams/{team.pk}/notices/") <= 12
    assert queries_for(as_admin, "/settings/notices/") <= 12
