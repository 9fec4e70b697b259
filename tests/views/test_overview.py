"""The overview: what waits for whom, what is accepted, and the first steps of a new panel."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    Cluster,
    Reachability,
    Release,
    ReleaseState,
    RequestState,
    User,
)
from tests import factories
from tests.views.pages import parsed, queries_for, text_of


def release_on(cluster: Cluster, name: str = "chat", **changes: object) -> Release:
    """A release of a new deployment of the cluster."""
    return factories.ReleaseFactory.create(
        deployment__cluster=cluster, deployment__name=name, **changes
    )


def test_anonymous_people_are_sent_to_log_in(db: None) -> None:
    """Nothing is shown without an account."""
    response = Client().get("/")
    assert response.status_code == 302
    assert response.headers["Location"] == "/accounts/login/?next=/"


def test_the_page_cannot_be_posted_to(as_alice: Client) -> None:
    """Reading changes nothing, so there is nothing to post."""
    assert as_alice.post("/").status_code == 405


def test_a_new_panel_shows_three_steps_and_how_to_get_a_docker_engine(
    as_alice: Client, cluster: Cluster
) -> None:
    """A newcomer without a host reads what to install and how to build the practice image."""
    response = as_alice.get("/")
    assert len(parsed(response).select(".numbered > li")) == 3
    text = text_of(response)
    assert "No host answers." in text
    assert "apt-get install docker.io" in text
    assert "make practice-image" in text


def test_a_reachable_host_ticks_the_first_step(
    as_alice: Client, cluster: Cluster
) -> None:
    """The step says which host answers, and no longer how to get one."""
    factories.HostFactory.create(cluster=cluster, name="here")
    text = text_of(as_alice.get("/"))
    assert "here : the Docker Engine answers." in text
    assert "apt-get" not in text


def test_deployments_of_another_team_do_not_end_the_first_steps(
    as_charlie: Client, cluster: Cluster
) -> None:
    """A stranger sees nothing of the team, not even that it has deployments."""
    release_on(cluster, "secret-chat")
    response = as_charlie.get("/")
    assert "Three steps" in text_of(response)
    assert "secret-chat" not in response.content.decode()


def test_an_open_request_waits_for_the_approver_and_not_for_its_author(
    alice: User, as_alice: Client, as_bob: Client, cluster: Cluster
) -> None:
    """The navigation counts it for bob only, and his page leads to it."""
    plan = factories.PlanFactory.create(
        revision__deployment__cluster=cluster, revision__created_by=alice
    )
    request = factories.ApprovalRequestFactory.create(plan=plan, submitted_by=alice)
    page = parsed(as_bob.get("/"))
    assert [link["href"] for link in page.select(".calls .button")] == [
        f"/approvals/{request.pk}/"
    ]
    count = page.select_one(".nav .count")
    assert count is not None
    assert count.get_text(" ", strip=True) == "1 waiting for you"
    assert parsed(as_alice.get("/")).select(".nav .count") == []


def test_an_expired_request_waits_for_nobody(as_bob: Client, cluster: Cluster) -> None:
    """Its time ran out, although no task has marked it yet."""
    plan = factories.PlanFactory.create(revision__deployment__cluster=cluster)
    past = timezone.now() - timedelta(minutes=1)
    factories.ApprovalRequestFactory.create(plan=plan, expires_at=past)
    assert "Nothing waits for you." in text_of(as_bob.get("/"))


def test_a_failure_is_shown_with_its_cause_until_another_release_follows(
    as_alice: Client, cluster: Cluster
) -> None:
    """The newest release of a deployment decides whether a person must look."""
    failed = release_on(
        cluster, state=ReleaseState.FAILED, number=1, cause="The image is missing."
    )
    assert "The image is missing." in text_of(as_alice.get("/"), ".calls")
    factories.ReleaseFactory.create(deployment=failed.deployment, number=2)
    assert "Nothing waits for you." in text_of(as_alice.get("/"))


def test_a_changing_release_can_be_followed(as_alice: Client, cluster: Cluster) -> None:
    """What is on its way is named with its state."""
    release = release_on(cluster, state=ReleaseState.PULLING)
    page = parsed(as_alice.get("/"))
    link = page.select_one(".calls .button")
    assert link is not None
    assert link["href"] == f"/releases/{release.pk}/"
    assert "Getting the image" in text_of(as_alice.get("/"), ".calls")


def test_an_unreachable_host_is_among_the_calls(
    as_alice: Client, cluster: Cluster
) -> None:
    """With the reason that the last contact gave."""
    release_on(cluster)
    factories.HostFactory.create(
        cluster=cluster,
        reachability=Reachability.UNREACHABLE,
        unreachable_since=timezone.now(),
        reason="The certificate expired.",
    )
    assert "The certificate expired." in text_of(as_alice.get("/"), ".calls")


def test_acceptance_is_summed_over_the_last_day(
    as_alice: Client, cluster: Cluster
) -> None:
    """Length and rate come from counts: 812 of 1,218 in 406 drafts are 67 % and 3.00."""
    release = release_on(cluster)
    replica = factories.ReplicaFactory.create(release=release)
    factories.AcceptanceSampleFactory.create_batch(2, replica=replica)
    old = timezone.now() - timedelta(hours=25)
    factories.AcceptanceSampleFactory.create(
        replica=replica, timestamp_ns=factories.nanoseconds(old), accepted=0
    )
    row = parsed(as_alice.get("/")).select_one("tbody tr")
    assert row is not None
    figures = [cell.get_text(strip=True) for cell in row.select(".fig")]
    assert figures == ["3.00", "67\u00a0%"]
    assert "Healthy" in row.get_text()


def test_prefill_replicas_are_not_judged(as_alice: Client, cluster: Cluster) -> None:
    """They decode one token per request, so their counts say nothing."""
    replica = factories.ReplicaFactory.create(
        release=release_on(cluster), role="prefill"
    )
    factories.AcceptanceSampleFactory.create(replica=replica)
    row = parsed(as_alice.get("/")).select_one("tbody tr")
    assert row is not None
    assert "No traffic" in row.get_text()


def test_no_traffic_is_no_data_and_never_zero(
    as_alice: Client, cluster: Cluster
) -> None:
    """A deployment that nobody asks has no rate."""
    release_on(cluster)
    response = as_alice.get("/")
    row = parsed(response).select_one("tbody tr")
    assert row is not None
    assert [cell.get_text(strip=True) for cell in row.select(".fig")] == [
        "no data",
        "no data",
    ]
    assert "No acceptance was measured" in text_of(response, "h1")


def test_a_drafter_that_never_fits_stands_first(
    as_alice: Client, cluster: Cluster
) -> None:
    """Under one per cent accepted is no low rate but a mistake."""
    good = factories.ReplicaFactory.create(release=release_on(cluster, "a-good"))
    factories.AcceptanceSampleFactory.create(replica=good)
    bad = factories.ReplicaFactory.create(release=release_on(cluster, "z-bad"))
    factories.AcceptanceSampleFactory.create(
        replica=bad, accepted=1, per_position=[1, 0, 0]
    )
    page = parsed(as_alice.get("/"))
    first = page.select_one("tbody tr")
    assert first is not None
    assert "z-bad" in first.get_text()
    assert "Nothing accepted" in first.get_text()


def test_practice_deployments_say_so(as_alice: Client, cluster: Cluster) -> None:
    """Figures of the practice image must not pass for real ones."""
    release_on(cluster, plan__practice=True)
    row = parsed(as_alice.get("/")).select_one("tbody tr")
    assert row is not None
    assert row.select_one(".practice") is not None


def test_recent_changes_are_newest_first_and_name_who(
    as_alice: Client, cluster: Cluster
) -> None:
    """A rejected request has two lines: what became of it, and who made it."""
    plan = factories.PlanFactory.create(
        revision__deployment__cluster=cluster, revision__number=4
    )
    request = factories.ApprovalRequestFactory.create(
        plan=plan, state=RequestState.REJECTED
    )
    hour_ago = timezone.now() - timedelta(hours=1)
    type(request).objects.filter(pk=request.pk).update(created_at=hour_ago)
    name = plan.revision.deployment.name
    lines = parsed(as_alice.get("/")).select(".log-list p")
    assert [line.get_text(" ", strip=True) for line in lines] == [
        f"{name} r4: rejected.",
        f"{name} r4 was submitted. {request.submitted_by}",
    ]


@pytest.mark.parametrize("deployments", [1, 6])
def test_the_number_of_queries_does_not_grow(
    as_bob: Client, cluster: Cluster, deployments: int
) -> None:
    """Twelve, however many deployments, hosts and samples there are."""
    for place in range(deployments):
        release = release_on(cluster, f"chat-{place}")
        replica = factories.ReplicaFactory.create(release=release)
        factories.DeviceFactory.create(host=replica.host, number=place)
        factories.BookingFactory.create(replica=replica, device=place)
        factories.AcceptanceSampleFactory.create_batch(2, replica=replica)
        plan = factories.PlanFactory.create(revision__deployment__cluster=cluster)
        factories.ApprovalRequestFactory.create(plan=plan)
    assert queries_for(as_bob, "/") <= 12


def test_long_lists_are_cut_and_say_where_the_rest_is(
    as_alice: Client, cluster: Cluster
) -> None:
    """A page of everything would be too heavy to be an overview."""
    for number in range(23):
        release_on(cluster, f"live-{number:02}")
        release_on(cluster, f"failed-{number:02}", state=ReleaseState.FAILED)
    page = parsed(as_alice.get("/"))
    assert len(page.select("section:has(#h-acceptance) tbody tr")) == 20
    assert page.select("[href='/deployments/?show=live']")
    assert len(page.select(".calls > li")) == 10
    assert "13 more are in the lists" in text_of(as_alice.get("/"))
    assert page.select("[href='/releases/?show=failed']")
