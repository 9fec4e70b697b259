"""The page of an approval request: what an approver weighs, from the stored plan only."""

import io
import zipfile
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Cluster,
    Decision,
    Deployment,
    Plan,
    ReleaseState,
    RequestState,
    User,
)
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import DecisionStep, Finding, Severity
from deployments.planning.text import Text
from tests.factories import (
    DeploymentFactory,
    HostFactory,
    PlanFactory,
    TargetModelFactory,
)
from tests.plan_rows import released, request_for, stored, vote
from tests.plan_values import plan_value
from tests.views.page_parts import attribute, words
from tests.views.pages import parsed, queries_for

TIMES = "\N{MULTIPLICATION SIGN}"
CANARY = "<script>alert('canary')</script>"


@pytest.fixture
def deployment(cluster: Cluster, alice: User) -> Deployment:
    """The deployment that alice made."""
    return DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)


@pytest.fixture
def request_row(deployment: Deployment, bob: User) -> ApprovalRequest:
    """An open request of alice that bob may decide."""
    return request_for(stored(deployment, plan_value()), comment="Faster replies.")


def address(row: ApprovalRequest, act: str = "") -> str:
    """The page, or one of its acts."""
    return f"/approvals/{row.pk}/" + (f"{act}/" if act else "")


def test_anonymous_people_are_sent_to_log_in(
    client: Client, request_row: ApprovalRequest
) -> None:
    assert client.get(address(request_row)).status_code == 302


def test_request_of_another_team_is_unknown(
    as_charlie: Client, request_row: ApprovalRequest
) -> None:
    assert as_charlie.get(address(request_row)).status_code == 404
    for act in ("decide", "withdraw", "release"):
        assert as_charlie.post(address(request_row, act)).status_code == 404
    assert as_charlie.get(address(request_row, "files")).status_code == 404


@pytest.mark.parametrize("act", ["decide", "withdraw", "release"])
def test_acts_are_no_get(
    as_alice: Client, request_row: ApprovalRequest, act: str
) -> None:
    assert as_alice.get(address(request_row, act)).status_code == 405


def test_first_plan_is_shown_whole(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    page = parsed(as_bob.get(address(request_row)))
    assert words(page, "h1") == f"Start chat with MTP {TIMES}3"
    shown = page.get_text(" ")
    for word in ("Faster replies.", "gpu-1", "8000", "--max-num-seqs", "vllm 0.32.0"):
        assert word in shown
    assert request_row.digest in str(page)
    assert "Nothing runs under this name now" in shown


def test_change_is_shown_against_what_runs(
    as_bob: Client, deployment: Deployment
) -> None:
    value = plan_value(number=1, count=3)
    released(stored(deployment, value), value, ReleaseState.LIVE)
    row = request_for(
        stored(deployment, plan_value(number=2, method="eagle3", count=5))
    )
    page = parsed(as_bob.get(address(row)))
    assert words(page, "h1") == f"Change chat from MTP {TIMES}3 to EAGLE-3 {TIMES}5"
    rows = {
        words(line, "th"): [cell.get_text(strip=True) for cell in line.select("td")]
        for line in page.select(".diff tbody tr")
    }
    assert rows["--speculative-config.num_speculative_tokens"] == ["±", "all", "3", "5"]
    assert "--max-num-seqs" not in rows
    added = [line.get_text() for line in page.select(".code ins")]
    assert any('"method":"eagle3"' in line for line in added)
    assert "r2 against r1" in page.get_text(" ")


def test_page_comes_from_the_stored_document_alone(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    def plan_parts() -> list[str]:
        page = parsed(as_bob.get(address(request_row)))
        parts = "section.block:not(#preflight, [aria-labelledby=h-comments])"
        return [str(part) for part in page.select(parts)]

    before = plan_parts()
    # What the columns, the catalog and the fleet say now must not reach the approver.
    Cluster.objects.update(image_rewrites=[["vllm/", "evil.example/"]])
    HostFactory.create(
        cluster=request_row.plan.revision.deployment.cluster, name="gpu-1"
    )
    TargetModelFactory.create(key="acme/target", name="Another target")
    assert plan_parts() == before


def test_plan_that_does_not_match_its_digest_cannot_be_decided(
    as_bob: Client, deployment: Deployment
) -> None:
    value = plan_value()
    good = stored(deployment, value)
    forged = PlanFactory.create(
        revision=good.revision,
        document=good.document.replace("max-num-seqs", "max-num-evil"),
        digest="sha256:" + "1" * 64,
    )
    row = request_for(forged)
    page = parsed(as_bob.get(address(row)))
    assert "does not match its digest" in page.get_text(" ")
    assert page.select(".decide") == []
    assert as_bob.get(address(row, "files")).status_code == 409


def test_every_leaf_of_the_plan_is_on_the_page(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    shown = parsed(as_bob.get(address(request_row))).get_text(" ")
    value = plan_value()
    container = value.replicas[0].container
    for leaf in (
        *container.command,
        container.image.reference,
        str(container.image.digest),
        container.mounts[0].source,
        str(container.pids_limit),
        container.logging.max_size,
        value.snapshot_digests[0][1],
    ):
        assert leaf in shown


def test_untrusted_text_is_escaped(as_bob: Client, deployment: Deployment) -> None:
    said = Text(CANARY)
    value = replace(
        plan_value(),
        findings=(
            Finding(
                code="x",
                category="x",
                severity=Severity.WARNING,
                message=said,
                fix=said,
                source=CANARY,
                evidence=CANARY,
            ),
        ),
    )
    value = replace(
        value,
        decision=replace(
            value.decision,
            path=(DecisionStep(question=said, answer=said, because=said),),
        ),
    )
    row = request_for(stored(deployment, value), comment=CANARY)
    content = as_bob.get(address(row)).content.decode()
    assert CANARY not in content
    assert "&lt;script&gt;alert(&#x27;canary&#x27;)" in content


def test_practice_plan_says_so(as_bob: Client, deployment: Deployment) -> None:
    value = plan_value()
    practice = replace(value, replicas=(replace(value.replicas[0], practice=True),))
    row = request_for(stored(deployment, practice))
    assert parsed(as_bob.get(address(row))).select_one(".badge.practice")
    assert parsed(as_bob.get("/approvals/")).select_one(".badge.practice")


def test_approver_sees_the_buttons_and_others_why_not(
    as_alice: Client, as_bob: Client, as_dora: Client, request_row: ApprovalRequest
) -> None:
    assert len(parsed(as_bob.get(address(request_row))).select(".decide button")) == 2
    for client in (as_alice, as_dora):
        page = parsed(client.get(address(request_row)))
        assert page.select(".decide") == []
        assert "Deciding needs the role “Approver”" in page.get_text(" ")


def test_author_who_may_approve_is_told_to_find_another(
    as_bob: Client, bob: User, cluster: Cluster
) -> None:
    own = DeploymentFactory.create(cluster=cluster, name="own", created_by=bob)
    row = request_for(stored(own, plan_value(name="own")))
    page = parsed(as_bob.get(address(row)))
    assert "asks for another person" in page.get_text(" ")
    assert page.select(".decide") == []
    answer = as_bob.post(
        address(row, "decide"), {"decision": "approve", "digest": row.digest}
    )
    assert answer.status_code == 403
    assert "you wrote this plan yourself" in words(parsed(answer), ".error-summary")


def test_approving_leads_back_to_the_page(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    answer = as_bob.post(
        address(request_row, "decide"),
        {"decision": "approve", "digest": request_row.digest, "comment": "Go."},
    )
    assert (answer.status_code, answer.headers["Location"]) == (
        302,
        address(request_row),
    )
    request_row.refresh_from_db()
    assert request_row.state == RequestState.APPROVED
    assert request_row.approvals.get().comment == "Go."
    assert "“Go.”" in parsed(as_bob.get(address(request_row))).get_text(" ")


def test_rejecting_needs_a_reason(as_bob: Client, request_row: ApprovalRequest) -> None:
    sent = {"decision": "reject", "digest": request_row.digest}
    refused = as_bob.post(address(request_row, "decide"), sent)
    assert refused.status_code == 422
    assert "Say in a few words why" in words(parsed(refused), ".error-summary")
    assert not request_row.approvals.exists()
    as_bob.post(address(request_row, "decide"), {**sent, "comment": "Too deep."})
    request_row.refresh_from_db()
    assert request_row.state == RequestState.REJECTED


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"decision": "maybe", "digest": "sha256:1"},
        {"decision": "approve"},
        {"decision": "approve", "digest": "x" * 100},
    ],
)
def test_malformed_decisions_change_nothing(
    as_bob: Client, request_row: ApprovalRequest, sent: dict[str, str]
) -> None:
    assert as_bob.post(address(request_row, "decide"), sent).status_code == 422
    request_row.refresh_from_db()
    assert request_row.state == RequestState.OPEN


def test_another_digest_than_the_shown_one_is_a_conflict(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    answer = as_bob.post(
        address(request_row, "decide"),
        {"decision": "approve", "digest": "sha256:" + "1" * 64, "comment": "Kept?"},
    )
    assert answer.status_code == 409
    page = parsed(answer)
    assert "changed since you opened" in words(page, ".error-summary")
    assert attribute(page, "[name=comment]", "value") == "Kept?"
    assert attribute(page, "[name=digest]", "value") == request_row.digest


def test_decided_request_is_a_conflict_and_shows_what_it_is_now(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    ApprovalRequest.objects.update(
        state=RequestState.WITHDRAWN, decided_at=timezone.now()
    )
    answer = as_bob.post(
        address(request_row, "decide"),
        {"decision": "approve", "digest": request_row.digest},
    )
    assert answer.status_code == 409
    assert "taken back before it ran" in parsed(answer).get_text(" ")


def test_withdrawing(
    as_alice: Client, as_bob: Client, request_row: ApprovalRequest
) -> None:
    assert as_bob.post(address(request_row, "withdraw")).status_code == 403
    assert as_alice.post(address(request_row, "withdraw")).status_code == 302
    assert as_alice.post(address(request_row, "withdraw")).status_code == 409
    request_row.refresh_from_db()
    assert request_row.state == RequestState.WITHDRAWN


def test_one_click_deploys_and_a_second_finds_the_first(
    as_alice: Client, bob: User, request_row: ApprovalRequest
) -> None:
    make_approved(request_row, bob)
    HostFactory.create(
        cluster=request_row.plan.revision.deployment.cluster, name="gpu-1"
    )
    page = parsed(as_alice.get(address(request_row)))
    sent = {"key": attribute(page, ".decide [name=key]", "value")}
    first = as_alice.post(address(request_row, "release"), sent)
    second = as_alice.post(address(request_row, "release"), sent)
    release = request_row.releases.get()
    assert (first.status_code, first.headers["Location"]) == (
        302,
        f"/releases/{release.pk}/",
    )
    assert second.headers["Location"] == first.headers["Location"]
    assert release.commands.count() == 1
    assert words(page, "#h-diff") == "What would run"
    started = parsed(as_alice.get(address(request_row)))
    assert words(started, "#h-diff") == "What is being started"


def test_deploying_without_a_key_or_right_or_approval_is_refused(
    as_alice: Client, as_bob: Client, bob: User, request_row: ApprovalRequest
) -> None:
    key = {"key": "5b0e7671-f028-4716-95c5-37c44aa17c15"}
    early = as_alice.post(address(request_row, "release"), key)
    assert early.status_code == 409
    assert "so nothing may run" in words(parsed(early), ".error-summary")
    make_approved(request_row, bob)
    assert as_bob.post(address(request_row, "release"), key).status_code == 403
    assert as_alice.post(address(request_row, "release")).status_code == 422
    gone = as_alice.post(address(request_row, "release"), key)
    assert gone.status_code == 409
    assert "no longer in this cluster" in words(parsed(gone), ".error-summary")
    assert parsed(gone).select_one(".decide button")


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (RequestState.EXPIRED, "Its time ran out"),
        (RequestState.STALE, "A host changed between planning and deploying"),
        (RequestState.SUPERSEDED, "A newer revision of this deployment was submitted"),
        (RequestState.REJECTED, "This plan will not run"),
        (RequestState.WITHDRAWN, "taken back"),
    ],
)
def test_ended_requests_say_what_became_of_them(
    as_bob: Client, deployment: Deployment, state: RequestState, sentence: str
) -> None:
    row = request_for(stored(deployment, plan_value()), state)
    page = parsed(as_bob.get(address(row)))
    assert sentence in words(page, ".facts")
    assert page.select(".decide") == []


def test_request_whose_time_ran_out_is_expired_before_the_sweeper_came(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    ApprovalRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    page = parsed(as_bob.get(address(request_row)))
    assert "Expired" in words(page, ".facts")
    assert page.select(".decide") == []


def test_replaced_request_links_to_the_newer_one(
    as_bob: Client, deployment: Deployment
) -> None:
    old = request_for(stored(deployment, plan_value(number=1)), RequestState.SUPERSEDED)
    new = request_for(stored(deployment, plan_value(number=2)))
    page = parsed(as_bob.get(address(old)))
    assert page.select_one(f".facts a[href='{address(new)}']")


def test_operator_can_plan_again_from_the_revision(
    as_alice: Client, request_row: ApprovalRequest
) -> None:
    page = parsed(as_alice.get(address(request_row)))
    assert "name=chat" in attribute(page, ".head a[href^='/plan/?']", "href")


def test_files_are_those_of_the_stored_plan(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    answer = as_bob.get(address(request_row, "files"))
    assert answer.headers["Content-Type"] == "application/zip"
    assert 'filename="chat-r1.zip"' in answer.headers["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
        script = archive.getinfo("gpu-1/launch.sh")
    assert found == dict(launch_files(plan_value()))
    assert script.external_attr >> 16 & 0o111 == 0o111
    assert as_bob.get(address(request_row, "files")).content == answer.content


@pytest.mark.parametrize("state", [RequestState.OPEN, RequestState.SUPERSEDED], ids=str)
def test_page_takes_few_queries(
    as_bob: Client, deployment: Deployment, state: RequestState
) -> None:
    value = plan_value(number=1)
    released(stored(deployment, value), value, ReleaseState.LIVE)
    row = request_for(stored(deployment, plan_value(number=2)), state)
    assert queries_for(as_bob, address(row)) <= 12


def test_a_vote_that_a_newer_plan_made_void_leads_to_what_changed_since(
    as_bob: Client, as_alice: Client, deployment: Deployment, bob: User
) -> None:
    older = request_for(stored(deployment, plan_value(number=1)), RequestState.OPEN)
    vote(older, bob)
    assert "since your vote" not in words(parsed(as_bob.get(address(older))), "main")
    ApprovalRequest.objects.filter(pk=older.pk).update(
        state=RequestState.SUPERSEDED, decided_at=timezone.now()
    )
    newer = request_for(stored(deployment, plan_value(number=2, count=4)))
    page = parsed(as_bob.get(address(newer)))
    (link,) = [one for one in page.select("a") if "since your vote" in one.text]
    assert "You voted on r1" in words(page, "main")
    shown = as_bob.get(str(link["href"]))
    assert "r2 against r1" in words(parsed(shown), "main")
    assert "since your vote" not in words(parsed(as_alice.get(address(newer))), "main")


def make_approved(row: ApprovalRequest, by: User) -> None:
    """Let somebody approve."""
    vote(row, by, Decision.APPROVE)
    ApprovalRequest.objects.filter(pk=row.pk).update(
        state=RequestState.APPROVED, decided_at=timezone.now()
    )
    row.refresh_from_db()
    assert Plan.objects.filter(pk=row.plan_id).exists()
