"""A live canary is compared with the other replicas; one click asks to promote it, one rolls it back."""

import time
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Cluster,
    MinuteRollup,
    Release,
    ReleaseState,
    RequestState,
    User,
)
from deployments.planning.plan import Role
from deployments.planning.planner import make_plan
from deployments.planning.revision import RevisionSpec, RoleSpec, SpeculationChoice
from deployments.selectors.planning_inputs import cluster_settings, host_snapshots
from deployments.services.releases import begin_release
from tests.factories import (
    DeploymentFactory,
    DeviceFactory,
    HostFactory,
    TargetModelFactory,
)
from tests.metric_rows import ServingMinuteFactory
from tests.plan_rows import released, request_for, stored
from tests.planning.builders import shipped
from tests.views.pages import parsed, queries_for, text_of
from tests.wizard_values import DOCUMENTS, QWEN

pytestmark = pytest.mark.django_db
NAMES = ("gpu-1", "gpu-2")
THREE = SpeculationChoice(method="eagle3", num_speculative_tokens=3)
FIVE = SpeculationChoice(method="eagle3", num_speculative_tokens=5)


@pytest.fixture
def trying(cluster: Cluster, alice: User) -> Release:
    """A live release of two replicas, of which one tries five tokens, and one before it."""
    TargetModelFactory.create(key=QWEN, document=DOCUMENTS[QWEN])
    hosts = []
    for name in NAMES:
        host = HostFactory.create(cluster=cluster, name=name, model_root="/data/models")
        DeviceFactory.create(host=host, number=0)
        hosts.append(host)
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=alice)
    found = []
    for number, canary in enumerate((None, FIVE), 1):
        spec = RevisionSpec(
            name="chat",
            model=QWEN,
            engine="vllm==0.32.0",
            speculation=THREE,
            roles=(RoleSpec(role=Role.COMBINED, hosts=NAMES),),
            number=number,
            canary=canary,
        )
        value = make_plan(
            spec, shipped(QWEN), host_snapshots(hosts), cluster_settings(cluster)
        )
        state = ReleaseState.LIVE if canary else ReleaseState.STOPPED
        found.append(released(stored(row, value), value, state, number))
    Release.objects.update(live_at=timezone.now() - timedelta(hours=2))
    return found[-1]


def serve(release: Release, seconds: dict[bool, float]) -> None:
    """Ten minutes ago both replicas drafted 1,000 times; a token took so many seconds."""
    start_s = int(time.time()) // 60 * 60 - 600
    for replica in release.replicas.all():
        count = 5 if replica.canary else 3
        MinuteRollup.objects.create(
            deployment=release.deployment,
            replica=replica,
            start_s=start_s,
            positions=count,
            accepted=1500,
            drafted=1000 * count,
            num_drafts=1000,
            per_position=[],
            windows=6,
            newest_ns=start_s * 10**9,
        )
        mean = seconds[replica.canary]
        ServingMinuteFactory.create(
            replica=replica,
            start_s=start_s,
            scrapes=4,
            running_sum=16.0,
            output_token={"sum": mean * 1000, "count": 1000, "le": {"0.05": 1000}},
        )


def address(release: Release) -> str:
    return f"/deployments/{release.deployment_id}/advice/"


def test_it_is_compared_and_promoted_by_one_click(
    as_alice: Client, as_bob: Client, alice: User, trying: Release
) -> None:
    assert "Too little yet" in text_of(as_alice.get(address(trying)), "#canary")
    serve(trying, {True: 0.016, False: 0.02})
    shown = as_alice.get(address(trying))
    said = text_of(shown, "#canary")
    assert "The canary writes 25 % more tokens in the same time: promote it." in said
    assert queries_for(as_alice, address(trying)) <= 12
    acts = [one.text.strip() for one in parsed(shown).select("#canary button")]
    assert acts == ["Promote", "Roll back to r1 now"]
    assert parsed(as_bob.get(address(trying))).select("#canary button") == []

    answer = as_alice.post(address(trying), {"proposal": "promote"})
    request = ApprovalRequest.objects.get(state=RequestState.OPEN)
    assert answer.status_code == 302
    assert (request.submitted_by, request.starts_itself) == (alice, False)
    document = request.plan.revision.document
    assert document["speculation"]["num_speculative_tokens"] == 5
    assert "canary" not in document
    page = text_of(as_alice.get(f"/approvals/{request.pk}/"))
    assert "Promote the canary of chat" in page
    assert "Every replica restarts, not the canary alone" in page


def test_a_slower_canary_goes_back_and_nothing_else_is_proposed_meanwhile(
    as_alice: Client, trying: Release
) -> None:
    serve(trying, {True: 0.025, False: 0.02})
    said = text_of(as_alice.get(address(trying)), "#canary")
    assert "20 % fewer tokens in the same time: roll it back." in said
    refused = as_alice.post(address(trying), {"proposal": "count:eagle3:4:"})
    assert refused.status_code == 409
    assert "A canary runs already" in text_of(refused)


def test_the_row_of_a_canary_is_marked_when_its_release_begins(
    alice: User, trying: Release
) -> None:
    Release.objects.update(state=ReleaseState.STOPPED)
    request = request_for(trying.plan, RequestState.RELEASED)
    begun = begin_release(alice, request, "key")
    assert list(begun.replicas.values_list("rank", "canary")) == [(0, False), (1, True)]
