"""What else to change: each proposal is read with its reasons and opens the wizard with it in place."""

import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    BenchmarkState,
    Cluster,
    Host,
    PairState,
    Release,
    Replica,
    RequestState,
    User,
)
from deployments.planning.engines.arguments import flag_values
from deployments.planning.plan import Plan, Role
from deployments.planning.planner import make_plan
from deployments.planning.revision import (
    Limits,
    RevisionSpec,
    RoleSpec,
    SpeculationChoice,
)
from deployments.selectors.planning_inputs import cluster_settings, host_snapshots
from deployments.telemetry.benchmarks.documents import run_document
from tests.benchmark_pair_rows import BenchmarkPairFactory
from tests.benchmark_rows import BenchmarkJobFactory, BenchmarkResultFactory
from tests.factories import (
    AcceptanceSampleFactory,
    DeploymentFactory,
    TargetModelFactory,
)
from tests.metric_rows import ServingHourFactory
from tests.plan_rows import released, stored
from tests.planning.builders import shipped
from tests.telemetry.benchmarks.blocks import block, runs
from tests.views.pages import parsed, queries_for, text_of
from tests.views.plan_fixtures import gpu_host  # noqa: F401 - fixture
from tests.wizard_values import DOCUMENTS, QWEN

pytestmark = pytest.mark.django_db


@pytest.fixture
def replica(cluster: Cluster, gpu: Host, alice: User) -> Replica:
    """A live replica of Qwen3-8B that drafts three tokens, as the planner plans it."""
    TargetModelFactory.create(key=QWEN, document=DOCUMENTS[QWEN])
    spec = RevisionSpec(
        name="chat",
        model=QWEN,
        engine="vllm==0.32.0",
        speculation=SpeculationChoice(method="eagle3", num_speculative_tokens=3),
        roles=(RoleSpec(role=Role.COMBINED, hosts=(gpu.name,)),),
        limits=Limits(max_model_len=32_768),
    )
    value = make_plan(
        spec, shipped(QWEN), host_snapshots([gpu]), cluster_settings(cluster)
    )
    assert value.gain is not None
    # Where it pays on this device is the estimate's business, not this test's.
    gain = replace(value.gain, break_even=16, break_even_high=24)
    value = replace(value, gain=gain)
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    release = released(stored(row, value), value)
    Release.objects.update(live_at=timezone.now() - timedelta(hours=20))
    return release.replicas.get()


def hour(replica: Replica, ago: int, running: float = 4.0, **more: Any) -> None:
    """An hour with 100 requests and 1,000 drafts."""
    start_s = int(time.time()) // 3600 * 3600 - 3600 * ago
    shares = more.pop("shares", [800, 650, 500])
    ServingHourFactory.create(
        replica=replica,
        start_s=start_s,
        scrapes=10,
        running_sum=10 * running,
        **{"requests": 100, "prompted": 200_000, "generated": 50_000, **more},
    )
    AcceptanceSampleFactory.create(
        replica=replica,
        timestamp_ns=(start_s + 1800) * 10**9,
        accepted=sum(shares),
        drafted=3000,
        num_drafts=1000,
        per_position=shares,
    )


def page(replica: Replica) -> str:
    return f"/deployments/{replica.release.deployment_id}/advice/"


def prepared(client: Client, replica: Replica, place: int = 0) -> Plan:
    """The plan that the wizard shows behind the button of a proposal."""
    link = parsed(client.get(page(replica))).select("#next-changes .actions a")[place]
    answer = client.get(str(link["href"]))
    assert answer.status_code == 200
    plan = answer.context["plan"]
    assert isinstance(plan, Plan)
    assert plan.revision["number"] == 2
    return plan


def test_load_beyond_the_break_even_prepares_a_revision_without_speculation(
    as_alice: Client, as_bob: Client, replica: Replica
) -> None:
    for ago in range(1, 6):
        hour(replica, ago, running=30.0)
    said = text_of(as_alice.get(page(replica)))
    assert "Turn speculation off: the load is beyond the break-even." in said
    assert "In 5 of 5 hours with traffic" in said
    assert queries_for(as_alice, page(replica)) <= 12
    assert prepared(as_alice, replica).decision.method == "off"
    assert parsed(as_bob.get(page(replica))).select("#next-changes .actions") == []


def test_low_acceptance_prepares_the_open_method(
    as_alice: Client, replica: Replica
) -> None:
    for ago in range(1, 4):
        hour(replica, ago, shares=[500, 300, 150])
    said = text_of(as_alice.get(page(replica)))
    decision = prepared(as_alice, replica).decision
    assert decision.method != "eagle3"
    count = decision.num_speculative_tokens
    assert f"Switch the method to {decision.method} with {count} tokens" in said


def test_a_pair_of_benchmarks_turns_speculation_off(
    as_alice: Client, replica: Replica
) -> None:
    hour(replica, 1)
    live = replica.release
    first, base, last = (
        BenchmarkJobFactory.create(
            replica=replica,
            state=BenchmarkState.DONE,
            result=BenchmarkResultFactory.create(
                team=live.deployment.team,
                runs=[
                    run_document(one)
                    for one in runs(
                        block(throughput=made, speculation=on),
                        block(throughput=made + 1, speculation=on),
                    )
                ],
            ),
        )
        for on, made in ((True, 800.0), (False, 1000.0), (True, 802.0))
    )
    BenchmarkPairFactory.create(
        deployment=live.deployment,
        with_it=live,
        state=PairState.DONE,
        first=first,
        base=base,
        last=last,
    )
    said = text_of(as_alice.get(page(replica)))
    assert "Turn speculation off: a benchmark with and without it says so." in said
    assert queries_for(as_alice, page(replica)) <= 12


def test_a_proposal_goes_to_the_vote_with_its_reasons(
    as_alice: Client, alice: User, replica: Replica
) -> None:
    for ago in range(1, 4):
        hour(replica, ago)
    shown = parsed(as_alice.get(page(replica)))
    form = shown.select_one("#next-changes form")
    assert form is not None
    assert form.text.strip() == "Propose this"
    key = form.select_one("[name=proposal]")["value"]  # type: ignore[index]
    answer = as_alice.post(page(replica), {"proposal": key})
    request = ApprovalRequest.objects.get(state=RequestState.OPEN)
    assert answer.status_code == 302
    assert str(request.pk) in answer.headers["Location"]
    assert (request.submitted_by, request.starts_itself) == (alice, False)
    assert request.comment.startswith("Draft 4 tokens instead of 3.")
    assert request.plan.num_speculative_tokens == 4
    assert request.plan.revision.document["speculation"]["method"] == "eagle3"
    gone = as_alice.post(page(replica), {"proposal": "count:eagle3:9:"})
    assert gone.status_code == 409
    assert "This is no longer proposed" in text_of(gone)


def test_long_requests_prepare_a_shorter_context(
    as_alice: Client, replica: Replica
) -> None:
    for ago in range(1, 9):
        long = ago % 2
        hour(
            replica,
            ago,
            prompted=2_000_000 if long else 200_000,
            shares=[600, 450, 300] if long else [800, 650, 500],
        )
    said = text_of(as_alice.get(page(replica)))
    assert "max_model_len 5,120 instead of 32,768" in said
    plan = prepared(as_alice, replica)
    flags = flag_values(plan.replicas[0].container.command)
    assert flags["--max-model-len"] == "5120"
    assert plan.decision.method == "eagle3", "what is not proposed stays"


def test_the_acceptance_tab_fetches_them_and_they_are_their_teams_own(
    client: Client,
    as_alice: Client,
    as_bob: Client,
    as_charlie: Client,
    replica: Replica,
) -> None:
    tab = parsed(as_alice.get(f"/deployments/{replica.release.deployment_id}/"))
    assert tab.select_one("#next-changes")["hx-get"] == page(replica)  # type: ignore[index]
    part = parsed(as_alice.get(page(replica), headers={"HX-Request": "true"}))
    assert "Nothing: the load is within the break-even" in part.text
    assert part.select("h1") == []
    assert client.get(page(replica)).status_code == 302
    assert as_charlie.get(page(replica)).status_code == 404
    assert as_bob.post(page(replica), {"proposal": "promote"}).status_code == 403
    assert as_charlie.post(page(replica)).status_code == 404
    Release.objects.update(state="stopped")
    assert "Nothing runs now" in text_of(as_alice.get(page(replica)))
