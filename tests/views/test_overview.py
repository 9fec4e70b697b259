"""The overview: what waits for whom, what is accepted, and the first steps of a new panel."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    AcceptanceStanding,
    Cluster,
    Reachability,
    Release,
    ReleaseState,
    RequestState,
    Standing,
    User,
)
from deployments.services.rollups import roll_up
from deployments.services.standings import judge_standings
from tests import factories
from tests.views.pages import parsed, queries_for, text_of


def release_on(cluster: Cluster, name: str = "chat", **changes: object) -> Release:
    """A release of a new deployment of the cluster."""
    return factories.ReleaseFactory.create(
        deployment__cluster=cluster, deployment__name=name, **changes
    )


def judged() -> None:
    """Run the round that adds samples up and judges what is live."""
    roll_up()
    judge_standings()


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


def test_a_changing_release_is_in_progress_and_needs_nobody(
    as_alice: Client, cluster: Cluster
) -> None:
    """What is on its way is named with its state, and does not count as a call."""
    release = release_on(cluster, state=ReleaseState.PULLING)
    page = parsed(as_alice.get("/"))
    link = page.select_one("section:has(#h-progress) .calls .button")
    assert link is not None
    assert link["href"] == f"/releases/{release.pk}/"
    assert "Getting the image" in text_of(as_alice.get("/"), ".calls")
    assert "Nothing waits for you." in text_of(as_alice.get("/"))


def test_an_unreachable_host_says_why_beside_its_name(
    as_alice: Client, cluster: Cluster
) -> None:
    """With the reason that the last contact gave; the page's first lines count it."""
    release_on(cluster)
    factories.HostFactory.create(cluster=cluster)
    factories.HostFactory.create(
        cluster=cluster,
        reachability=Reachability.UNREACHABLE,
        unreachable_since=timezone.now(),
        reason="The certificate expired.",
    )
    response = as_alice.get("/")
    first = parsed(response).select_one("section:has(#h-hosts) tbody tr")
    assert first is not None
    assert "The certificate expired." in first.get_text()
    assert "1 host does not answer." in text_of(response)


def test_a_degraded_host_comes_before_those_that_are_well(
    as_alice: Client, cluster: Cluster
) -> None:
    """It answers, so it is counted by its own word."""
    release_on(cluster)
    factories.HostFactory.create(cluster=cluster, name="aaa")
    factories.HostFactory.create(
        cluster=cluster, reachability=Reachability.DEGRADED, reason="Its clock is off."
    )
    response = as_alice.get("/")
    first = parsed(response).select_one("section:has(#h-hosts) tbody tr")
    assert first is not None
    assert "Degraded" in first.get_text()
    assert "Its clock is off." in first.get_text()
    assert "1 host is degraded." in text_of(response)
    assert "not answer" not in text_of(response)


def silent(cluster: Cluster, name: str, minutes: int, **changes: object) -> Release:
    """A deployment that has been live for a day and was last heard of some minutes ago."""
    now = timezone.now()
    release = release_on(cluster, name, live_at=now - timedelta(days=1), **changes)
    factories.AcceptanceStandingFactory.create(
        deployment=release.deployment,
        heard_at=now - timedelta(minutes=minutes),
        verdict=Standing.HEALTHY,
    )
    return release


def test_silence_is_said_instead_of_as_expected(
    as_alice: Client, cluster: Cluster
) -> None:
    """What was healthy when it was last heard of is not healthy now; it needs a person."""
    silent(cluster, "quiet-one", 10)
    silent(cluster, "heard", 1)
    response = as_alice.get("/")
    page = parsed(response)
    rows = [row.get_text(" ", strip=True) for row in page.select("#h-calls, .calls li")]
    assert "quiet-one" in rows[1]
    assert "nothing was heard of it" in rows[1]
    assert len(rows) == 2
    first, second = page.select("section:has(#h-acceptance) tbody tr")
    assert "No data" in first.get_text()
    assert "since" in first.get_text()
    assert "Healthy" not in first.get_text()
    assert "Healthy" in second.get_text()
    assert "Nothing is heard of 1 live deployment." in text_of(response, ".sub")
    assert text_of(response, "h1") == "Acceptance is as expected on 1 of 1 deployment"
    assert "1 open" in text_of(response, "section:has(#h-calls) header")


def test_a_panel_that_hears_nothing_says_so_first(
    as_alice: Client, cluster: Cluster
) -> None:
    """No figure of yesterday stands in the heading."""
    silent(cluster, "quiet-one", 10)
    assert "nothing is heard of 1 live" in text_of(as_alice.get("/"), "h1")


def test_many_silent_deployments_are_told_in_one_line(
    as_alice: Client, cluster: Cluster
) -> None:
    """They have one cause, hosts or workers; the longest silence is named first."""
    for place in range(12):
        silent(cluster, f"quiet-{place:02}", 10 + place)
    page = parsed(as_alice.get("/"))
    (row,) = page.select(".calls > li")
    said = " ".join(row.get_text(" ").split())
    assert "12 deployments are live, but nothing is heard of them:" in said
    assert "quiet-11 , quiet-10 , quiet-09 and 9 more." in said
    assert row.select("a[href='/deployments/?show=silent']")
    assert "1 open" in text_of(as_alice.get("/"), "section:has(#h-calls) header")
    assert (
        len(parsed(as_alice.get("/deployments/?show=silent")).select("tbody tr")) == 12
    )


def test_what_does_not_draft_is_not_missed(as_alice: Client, cluster: Cluster) -> None:
    """Acceptance of a deployment without speculation is nobody's worry."""
    silent(cluster, "plain", 10, plan__method="off")
    assert "Nothing waits for you." in text_of(as_alice.get("/"))


def test_silence_begins_when_the_setting_says(
    as_alice: Client, cluster: Cluster, settings: Any
) -> None:
    """At each load anew, though the statements behind the page are kept."""
    silent(cluster, "quiet-one", 10)
    assert "nothing is heard of 1 live" in text_of(as_alice.get("/"), "h1")
    settings.STALE_AFTER_SECONDS = 3600
    assert "Nothing waits for you." in text_of(as_alice.get("/"))


def test_verdicts_are_counted_worst_first_over_all_deployments(
    as_alice: Client, cluster: Cluster
) -> None:
    for place in range(25):
        silent(cluster, f"fine-{place:02}", 1)
    silent(cluster, "zz-quiet", 30)
    page = parsed(as_alice.get("/"))
    counts = [
        one.get_text(" ", strip=True) for one in page.select(".verdict-counts li")
    ]
    assert counts == ["No data 1", "Healthy 25"]
    rows = page.select("section:has(#h-acceptance) tbody tr")
    assert len(rows) == 20
    assert "zz-quiet" in rows[0].get_text()


def test_the_week_before_is_compared_in_words(
    as_alice: Client, cluster: Cluster
) -> None:
    """2.00 tokens a step after 3.00 is down by a third."""
    release = silent(cluster, "falling", 0)
    AcceptanceStanding.objects.update(
        accepted=1000,
        drafted=3000,
        num_drafts=1000,
        before_accepted=2000,
        before_num_drafts=1000,
    )
    row = text_of(as_alice.get("/"), "section:has(#h-acceptance) tbody tr")
    assert release.deployment.name in row
    assert "down \u221233\xa0%" in row.replace(" %", "\xa0%")


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
    judged()
    row = parsed(as_alice.get("/")).select_one("tbody tr")
    assert row is not None
    figures = [cell.get_text(strip=True) for cell in row.select(".fig")]
    assert figures == ["3.00", "up +200\u00a0%", "67\u00a0%"]
    assert "Healthy" in row.get_text()


def test_too_few_drafts_are_no_verdict_and_not_nothing(
    as_alice: Client, cluster: Cluster
) -> None:
    replica = factories.ReplicaFactory.create(release=release_on(cluster))
    factories.AcceptanceSampleFactory.create(
        replica=replica, accepted=8, drafted=12, num_drafts=4, per_position=[4, 3, 1]
    )
    judged()
    response = as_alice.get("/")
    assert "can be judged yet" in text_of(response, "h1")


def test_prefill_replicas_are_not_judged(as_alice: Client, cluster: Cluster) -> None:
    """They decode one token per request, so their counts say nothing."""
    replica = factories.ReplicaFactory.create(
        release=release_on(cluster), role="prefill"
    )
    factories.AcceptanceSampleFactory.create(replica=replica)
    judged()
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
        "no baseline",
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
    judged()
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
        silent(cluster, f"silent-{place}", 20)
        release_on(cluster, f"moving-{place}", state=ReleaseState.PULLING)
    judged()
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
