"""The page of a cluster's freeze windows, and what the page of a request says of them."""

from datetime import UTC, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from deployments.models import (
    ApprovalRequest,
    Cluster,
    FreezeWindow,
    RequestState,
    User,
)
from tests.factories import DeploymentFactory
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value
from tests.team_rows import FreezeWindowFactory
from tests.views.page_parts import words
from tests.views.pages import parsed, text_of


def path(cluster: Cluster, act: str = "") -> str:
    return f"/fleet/clusters/{cluster.pk}/freezes/{act}"


def sent(**changes: Any) -> dict[str, Any]:
    """What the form sends: every Friday and Saturday night."""
    tomorrow = (timezone.now() + timedelta(days=1)).date()
    return {
        "name": "weekend",
        "kind": "deny",
        "time_zone": "Europe/Berlin",
        "first_day": tomorrow.isoformat(),
        "begins": "18:00",
        "hours": "12",
        "minutes": "30",
        "repeat": "weekly",
        "weekdays": ["4", "5"],
        "last_day": "",
        **changes,
    }


def closed(cluster: Cluster) -> FreezeWindow:
    """A window that holds now."""
    begun = timezone.now().astimezone(UTC) - timedelta(hours=1)
    return FreezeWindowFactory.create(
        cluster=cluster,
        name="audit",
        first_day=begun.date(),
        begins=begun.time(),
    )


@pytest.fixture(name="request_row")
def approved_request(cluster: Cluster, alice: User, bob: User) -> ApprovalRequest:
    """A request of alice that bob approved."""
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    request = request_for(stored(row, plan_value()), RequestState.APPROVED)
    vote(request, bob)
    return request


def test_strangers_see_and_end_nothing(
    client: Client, as_charlie: Client, cluster: Cluster
) -> None:
    row = closed(cluster)
    assert client.get(path(cluster)).status_code == 302
    assert as_charlie.get(path(cluster)).status_code == 404
    assert as_charlie.post(path(cluster), sent()).status_code == 404
    ending = as_charlie.post(path(cluster, "end/"), {"window": str(row.pk)})
    assert ending.status_code == 404


def test_members_read_and_only_admins_change(
    as_alice: Client, cluster: Cluster
) -> None:
    row = closed(cluster)
    page = parsed(as_alice.get(path(cluster)))

    assert page.select("main form") == []
    assert "audit" in page.get_text()
    assert as_alice.post(path(cluster), sent()).status_code == 403
    ending = as_alice.post(path(cluster, "end/"), {"window": str(row.pk)})
    assert ending.status_code == 403
    assert FreezeWindow.objects.get().ended_at is None


def test_an_admin_adds_a_window_and_ends_it(as_dora: Client, cluster: Cluster) -> None:
    page = parsed(as_dora.post(path(cluster), sent(), follow=True))
    row = FreezeWindow.objects.get()

    assert (row.cluster, row.minutes, row.weekdays) == (cluster, 750, [4, 5])
    line = words(page, "tbody tr")
    for said in ("weekend", "Every week", "(Fri, Sat)", "18:00", "Europe/Berlin"):
        assert said in line
    ended = as_dora.post(path(cluster, "end/"), {"window": str(row.pk)}, follow=True)
    assert "“weekend” is ended" in text_of(ended, ".messages")
    assert "approved may start at any time" in ended.content.decode()
    again = as_dora.post(path(cluster, "end/"), {"window": str(row.pk)})
    assert again.status_code == 409


def test_windows_of_others_cannot_be_ended_here(
    as_dora: Client, cluster: Cluster
) -> None:
    other = FreezeWindowFactory.create()
    for value in (str(other.pk), "no-id", ""):
        answer = as_dora.post(path(cluster, "end/"), {"window": value})
        assert answer.status_code == 404
    assert FreezeWindow.objects.get().ended_at is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hours": "0", "minutes": "0"}, "Say how long it lasts"),
        ({"hours": "744", "minutes": "1"}, "Say how long it lasts"),
        ({"last_day": "2020-01-01"}, "before the first day"),
        ({"repeat": "once", "first_day": "2020-01-01"}, "is over and never comes"),
        ({"time_zone": "Mars/Olympus"}, "Select a valid choice"),
        ({"kind": "perhaps"}, "Select a valid choice"),
    ],
)
def test_wrong_windows_are_refused_with_a_reason(
    as_dora: Client, cluster: Cluster, changes: dict[str, str], said: str
) -> None:
    answer = as_dora.post(path(cluster), sent(**changes))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not FreezeWindow.objects.exists()


def test_the_request_says_until_when_it_is_frozen_and_has_no_button(
    as_alice: Client, cluster: Cluster, request_row: ApprovalRequest
) -> None:
    address = f"/approvals/{request_row.pk}/"
    assert parsed(as_alice.get(address)).select(".decide")
    closed(cluster)

    page = parsed(as_alice.get(address))
    assert page.select(".decide") == []
    said = words(page, ".silence")
    assert "Frozen until" in said
    assert "UTC by “audit” ( in 2" in said
    assert "it starts only after that" in said
    assert "not while the freeze holds" in words(page, ".facts")
    refused = as_alice.post(f"{address}release/", {"key": "a" * 32})
    assert refused.status_code == 409
    assert "freeze “audit”" in refused.content.decode()


def test_the_pages_take_few_queries(
    as_dora: Client,
    as_alice: Client,
    cluster: Cluster,
    request_row: ApprovalRequest,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for _more in range(3):
        closed(cluster)
    for client, address in (
        (as_dora, path(cluster)),
        (as_alice, f"/approvals/{request_row.pk}/"),
    ):
        with django_assert_max_num_queries(12):
            client.get(address)
