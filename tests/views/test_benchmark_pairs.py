"""On against off in the browser: asked for on the tab, followed on a page of its own, judged there."""

import uuid
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from deployments.models import (
    BenchmarkJob,
    BenchmarkPair,
    BenchmarkState,
    PairState,
    ReleaseState,
    TeamRole,
)
from deployments.planning.text import text
from deployments.telemetry.benchmarks.documents import run_document
from tests.benchmark_pair_rows import BenchmarkPairFactory
from tests.benchmark_rows import BenchmarkJobFactory, BenchmarkResultFactory
from tests.factories import DeploymentFactory, member
from tests.plan_rows import released, request_for, stored
from tests.plan_values import plan_value
from tests.services.bench.test_pairs import Stage, stage
from tests.services.conftest import Team1, team1
from tests.telemetry.benchmarks.blocks import block, runs

__all__ = ["stage", "team1"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(team1: Team1, client: Client) -> Client:
    """The browser of the operator."""
    client.force_login(team1.alice)
    return client


def form(**more: Any) -> dict[str, Any]:
    """What the form sends for a pair in turn."""
    usual = {"dataset": "code", "levels": "1", "repeats": "1", "prompts": ""}
    return {"key": str(uuid.uuid4()), "arms": "in-turn", **usual, **more}


def test_asking_leads_to_the_steps_and_what_differs(
    stage: Stage, alice: Client
) -> None:
    address = reverse("deployment-benchmarks", args=[stage.deployment.pk])
    assert "in turn on its devices" in alice.get(address).content.decode()
    sent = form()
    answer = alice.post(address, sent, follow=True)
    assert alice.post(address, sent).status_code == 302
    pair = BenchmarkPair.objects.get()
    page = answer.content.decode()
    assert answer.redirect_chain[-1][0] == reverse("pair", args=[pair.pk])
    assert reverse("approval", args=[pair.request_id]) in page
    assert "ngram" in page.partition("What differs")[2]
    assert "Waiting for the approval" in alice.get(address).content.decode()
    again = alice.post(address, form())
    assert again.status_code == 409
    assert "waits for votes" in again.content.decode()


def test_what_runs_without_speculation_offers_no_pair_but_is_an_arm(
    stage: Stage, alice: Client
) -> None:
    value = plan_value(name="plain", number=1, method=None)
    deployment = DeploymentFactory.create(
        cluster=stage.team1.cluster, name="plain", created_by=stage.team1.alice
    )
    plan = stored(deployment, replace(value, model=stage.live.plan.model_key))
    released(plan, value)
    address = reverse("deployment-benchmarks", args=[deployment.pk])
    assert "in turn on its devices" not in alice.get(address).content.decode()
    answer = alice.post(address, form())
    assert answer.status_code == 409
    assert "Speculation is off here" in answer.content.decode()
    speculating = reverse("deployment-benchmarks", args=[stage.deployment.pk])
    page = alice.get(f"{speculating}?beside=1").content.decode()
    assert "With it here, without it on plain" in page
    refused = alice.post(speculating, form(arms=str(deployment.pk)))
    assert refused.status_code == 409
    assert "The arms differ in more than speculation" in refused.content.decode()


def test_a_page_that_waits_takes_the_steps_alone_and_all_of_it_at_the_end(
    stage: Stage, alice: Client
) -> None:
    pair = stage.ask()
    address = reverse("pair", args=[pair.pk])
    page = alice.get(address).content.decode()
    stamp = page.partition("?v=")[2].partition('"')[0]
    headers = {"HX-Request": "true"}
    assert alice.get(f"{address}?v={stamp}", headers=headers).status_code == 204
    part = alice.get(f"{address}?v=old", headers=headers).content.decode()
    assert part.lstrip().startswith('<section id="pair-steps"')
    answer = alice.post(reverse("pair-cancel", args=[pair.pk]), follow=True)
    assert "switched back first" in answer.content.decode()
    BenchmarkPair.objects.update(state=PairState.CANCELLED)
    ended = alice.get(f"{address}?v={stamp}", headers=headers)
    assert ended.headers["HX-Refresh"] == "true"


def test_the_verdict_stands_above_what_was_measured(
    team1: Team1, alice: Client
) -> None:
    with_it = team1.plan("chat", 1)
    live = released(with_it, plan_value(name="chat", number=1), ReleaseState.LIVE)
    deployment = live.deployment
    off = stored(deployment, plan_value(name="chat", number=2))
    measured = [
        job(live, team1, *(block(throughput=one, speculation=on) for one in figures))
        for on, figures in (
            (True, (1500.0, 1501.0)),
            (False, (1000.0, 1001.0)),
            (True, (1502.0, 1503.0)),
        )
    ]
    pair = BenchmarkPairFactory.create(
        with_it=live,
        request=request_for(off),
        state=PairState.DONE,
        first=measured[0],
        base=measured[1],
        last=measured[2],
    )
    page = alice.get(reverse("pair", args=[pair.pk])).content.decode()
    assert "Keep speculation: output throughput is 1.50 times" in page
    assert "Concurrency 8" in page
    assert page.count(">with, again</a>") == 1
    assert "1.5 to 2.5" in page
    assert page.count("result=") >= 3
    assert measured[1].result is not None
    measured[1].result.delete()
    page = alice.get(reverse("pair", args=[pair.pk])).content.decode()
    assert "Keep speculation" not in page
    assert "Result removed" in page


def job(live: Any, team1: Team1, *blocks: str) -> BenchmarkJob:
    """A benchmark that is done."""
    made: BenchmarkJob = BenchmarkJobFactory.create(
        replica=live.replicas.first(),
        state=BenchmarkState.DONE,
        result=BenchmarkResultFactory.create(
            team=team1.team, runs=[run_document(one) for one in runs(*blocks)]
        ),
    )
    return made


def test_a_viewer_sees_it_and_cannot_cancel_it(stage: Stage, client: Client) -> None:
    pair = stage.ask()
    BenchmarkPair.objects.update(hold=text("It waits."))
    client.force_login(member(stage.team1.team, "vera", TeamRole.VIEWER))
    page = client.get(reverse("pair", args=[pair.pk])).content.decode()
    assert "It waits." in page
    assert reverse("pair-cancel", args=[pair.pk]) not in page
    assert client.post(reverse("pair-cancel", args=[pair.pk])).status_code == 403
