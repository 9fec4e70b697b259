"""The benchmarks tab of a deployment: ask, watch, cancel; the host is not touched by any page."""

import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from deployments.models import (
    BenchmarkJob,
    BenchmarkState,
    Deployment,
    Platform,
    ReleaseState,
    SegmentState,
    TeamRole,
)
from deployments.planning.bench.datasets import (
    Dataset,
    own_prompts,
    shipped_prompts,
)
from deployments.planning.text import text
from tests.benchmark_rows import (
    BenchmarkJobFactory,
    BenchmarkResultFactory,
    BenchmarkSegmentFactory,
)
from tests.factories import ClusterFactory, DeploymentFactory, HostFactory, member
from tests.plan_rows import released, stored
from tests.plan_values import plan_value

pytestmark = pytest.mark.django_db


@pytest.fixture
def deployment() -> Deployment:
    """A live deployment of one replica."""
    cluster = ClusterFactory.create()
    HostFactory.create(cluster=cluster, name="gpu-1", platform=Platform.NVIDIA)
    row: Deployment = DeploymentFactory.create(cluster=cluster, name="chat")
    value = plan_value(name="chat", number=1)
    released(stored(row, value), value, ReleaseState.LIVE)
    return row


@pytest.fixture
def operator(deployment: Deployment, client: Client) -> Client:
    """The browser of an operator."""
    client.force_login(member(deployment.cluster.team, "alice", TeamRole.OPERATOR))
    return client


def form(**more: Any) -> dict[str, Any]:
    """What the form sends as it stands."""
    usual = {"dataset": "code", "levels": "1, 4", "repeats": "2", "prompts": ""}
    return {"key": str(uuid.uuid4()), **usual, **more}


def address(deployment: Deployment) -> str:
    return reverse("deployment-benchmarks", args=[deployment.pk])


def test_an_operator_asks_once_however_often_they_click(
    deployment: Deployment, operator: Client
) -> None:
    sent = form()
    operator.post(address(deployment), sent)
    answer = operator.post(address(deployment), sent, follow=True)
    assert answer.status_code == 200
    job = BenchmarkJob.objects.get()
    assert (job.state, job.course["levels"]) == (BenchmarkState.WAITING, [1, 4])
    assert [one.concurrency for one in job.segments.all()] == [1, 4, 1, 4]
    assert "0 of 4" in answer.content.decode()
    again = operator.post(address(deployment), form())
    assert again.status_code == 409
    assert "two would measure each other" in again.content.decode()


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"levels": "4, 1"}, "the lowest first"),
        ({"levels": "one"}, "Write loads as numbers"),
        ({"levels": ", "}, "Write loads as numbers"),
        ({"repeats": "99"}, "1 to 10 times"),
        ({"dataset": "own"}, "There is no prompt in the file"),
        ({"dataset": "sharegpt"}, "ShareGPT is read from a path"),
        (
            {"dataset": "own", "own_file": SimpleUploadedFile("a", b"\xff\xfe")},
            "no UTF-8 text",
        ),
        (
            {"dataset": "own", "own_file": SimpleUploadedFile("a", b"x")},
            "Line 1 of the prompts",
        ),
    ],
)
def test_what_cannot_be_measured_is_said_and_kept(
    deployment: Deployment, operator: Client, sent: dict[str, Any], sentence: str
) -> None:
    answer = operator.post(address(deployment), form(**sent))
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not BenchmarkJob.objects.exists()


def test_own_prompts_and_loads_in_chinese_marks_are_taken(
    deployment: Deployment, operator: Client
) -> None:
    own = SimpleUploadedFile("own.jsonl", '{"prompt": "你好"}'.encode())
    sent = form(dataset="own", own_file=own, levels="1\uff0c4\u30018")
    assert operator.post(address(deployment), sent).status_code == 302
    job = BenchmarkJob.objects.get()
    assert job.prompts == '{"prompt": "你好"}'
    assert job.course["levels"] == [1, 4, 8]


def test_shipped_prompts_can_be_read_and_used_elsewhere(operator: Client) -> None:
    where = reverse("benchmark-prompts-file")
    code = operator.get(f"{where}?dataset=code").content.decode()
    assert own_prompts(code) == shipped_prompts(Dataset.CODE)
    everything = operator.get(where).content.decode()
    assert len(own_prompts(everything)) > len(own_prompts(code))
    assert operator.get(f"{where}?dataset=own").status_code == 404


def test_a_viewer_sees_and_asks_for_nothing(
    deployment: Deployment, client: Client
) -> None:
    client.force_login(member(deployment.cluster.team, "victor"))
    assert "An operator of the team" in client.get(address(deployment)).content.decode()
    assert client.post(address(deployment), form()).status_code == 403
    assert not BenchmarkJob.objects.exists()


def test_the_list_says_how_each_ended_and_rests_while_nothing_changes(
    deployment: Deployment, operator: Client
) -> None:
    replica = deployment.releases.get().replicas.first()
    kept = BenchmarkResultFactory.create(
        team=deployment.cluster.team, deployment=deployment
    )
    BenchmarkJobFactory.create(replica=replica, state=BenchmarkState.DONE, result=kept)
    BenchmarkJobFactory.create(
        replica=replica,
        state=BenchmarkState.FAILED,
        cause=text("The client ended."),
        lines=["Traceback <b>", "boom"],
    )
    job = BenchmarkJobFactory.create(replica=replica, state=BenchmarkState.RUNNING)
    BenchmarkSegmentFactory.create(job=job, state=SegmentState.DONE, run={})
    BenchmarkSegmentFactory.create(job=job)
    page = operator.get(address(deployment)).content.decode()
    assert "1 of 2" in page
    assert "The client ended." in page
    assert "Traceback &lt;b&gt;" in page
    assert reverse("benchmark", args=[kept.pk]) in page
    stamp = page.partition("?v=")[2].partition('"')[0]
    same = operator.get(
        f"{address(deployment)}?v={stamp}", headers={"HX-Request": "true"}
    )
    assert same.status_code == 204
    later = operator.get(f"{address(deployment)}?v=old", headers={"HX-Request": "true"})
    assert later.content.decode().count("<section") == 1


def test_cancelling_asks_the_worker_and_only_once_matters(
    deployment: Deployment, operator: Client
) -> None:
    replica = deployment.releases.get().replicas.first()
    job = BenchmarkJobFactory.create(replica=replica)
    cancel = reverse("measuring-cancel", args=[job.pk])
    page = operator.post(cancel, follow=True).content.decode()
    assert "Plan the same without speculation" in page
    job.refresh_from_db()
    assert job.cancel_asked_at is not None
    assert "ends within seconds" in page
    BenchmarkJob.objects.update(state=BenchmarkState.CANCELLED)
    assert "has ended" in operator.post(cancel, follow=True).content.decode()


def test_the_tab_takes_few_queries(
    deployment: Deployment,
    operator: Client,
    django_assert_max_num_queries: Any,
) -> None:
    replica = deployment.releases.get().replicas.first()
    for number in range(5):
        BenchmarkJobFactory.create(
            replica=replica,
            state=BenchmarkState.CANCELLED if number else BenchmarkState.RUNNING,
        )
        BenchmarkResultFactory.create(
            team=deployment.cluster.team, deployment=deployment
        )
    operator.get(address(deployment))
    with django_assert_max_num_queries(12):
        operator.get(address(deployment))
