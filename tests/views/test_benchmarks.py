"""Benchmarks: bringing results, comparing them, and files of them."""

import csv
import io
import uuid
from collections.abc import Iterable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from deployments.models import BenchmarkResult, Team, TeamRole
from tests.benchmark_rows import BenchmarkResultFactory
from tests.factories import (
    ClusterFactory,
    DeploymentFactory,
    TeamFactory,
    member,
)
from tests.telemetry.benchmarks.blocks import block
from tests.world import browser

pytestmark = pytest.mark.django_db

OFF = block()
ON = block(throughput=1430, tpot=7, speculation=True)


@pytest.fixture
def team() -> Team:
    """The team of the person who brings results."""
    return TeamFactory.create(name="Serving", slug="serving")


@pytest.fixture
def client(team: Team) -> Client:
    """The browser of its operator."""
    return browser(member(team, "olga", TeamRole.OPERATOR))


def bring(client: Client, team: Team, **values: Any) -> Any:
    data = {"name": "Qwen3-8B, chat", "team": str(team.pk), **values}
    return client.post(reverse("benchmark-add"), data, follow=True)


def get(client: Client, route: str, keys: Iterable[object]) -> Any:
    return client.get(reverse(route), {"result": [str(key) for key in keys]})


def page_of(answer: Any) -> BeautifulSoup:
    return BeautifulSoup(answer.content, "html.parser")


def words(answer: Any) -> str:
    return " ".join(page_of(answer).get_text(" ").split())


def test_a_pasted_pair_is_kept_and_compared_at_once(client: Client, team: Team) -> None:
    answer = bring(client, team, off_text=OFF, on_text=ON)
    assert answer.status_code == 200
    said = words(answer)
    assert "Keep speculation: output throughput is 1.43 times that without it" in said
    assert "+43.0 % better" in said
    assert "\N{MINUS SIGN}30.0 % better" in said
    assert "22.40 ms between chunks of 3.20 tokens are 7.00 ms for a token" in said
    assert "seed, not measured" in said
    assert said.count("vllm bench serve --base-url") == 1
    names = BenchmarkResult.objects.order_by("created_at").values_list(
        "name", flat=True
    )
    assert list(names) == ["Qwen3-8B, chat · off", "Qwen3-8B, chat · on"]


def test_inter_token_latency_is_never_called_better_or_worse(
    client: Client, team: Team
) -> None:
    answer = bring(client, team, off_text=OFF, on_text=ON)
    row = next(
        row
        for row in page_of(answer).select("tbody tr")
        if "Inter-token latency" in row.get_text()
    )
    assert "+124.0 %" in row.get_text()
    assert "worse" not in row.get_text()
    assert "by step" in row.get_text()


def test_an_uploaded_file_alone_is_shown(client: Client, team: Team) -> None:
    file = SimpleUploadedFile("on.txt", ON.encode())
    answer = bring(client, team, on_file=file)
    kept = BenchmarkResult.objects.get()
    assert answer.redirect_chain[-1][0] == reverse("benchmark", args=[kept.pk])
    assert "Acceptance rate % 73.5" in words(answer)


def test_runs_that_differ_are_shown_but_not_judged(client: Client, team: Team) -> None:
    other = block(throughput=1430, speculation=True, concurrency=16)
    answer = bring(client, team, off_text=OFF, on_text=other)
    said = words(answer)
    assert "must not be compared" in said
    assert "concurrency is 8 in the first and 16 in the second" in said
    assert "Concurrency 16" in said
    assert "seed, not measured" not in said


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "Paste at least one result"),
        ({"off_text": "hello"}, "No benchmark result was found"),
        ({"off_text": OFF, "name": ""}, "This field is required"),
        (
            {"off_text": OFF, "deployment": "nobody"},
            "no single deployment of this name",
        ),
        ({"off_text": OFF, "revision": "3"}, "Name the deployment of this revision"),
    ],
)
def test_what_cannot_be_kept_is_said_and_nothing_is_lost(
    client: Client, team: Team, values: dict[str, str], sentence: str
) -> None:
    answer = bring(client, team, **values)
    assert answer.status_code == 422
    assert sentence in words(answer)
    area = page_of(answer).select_one("#id_off_text")
    assert area is not None
    assert area.get_text().strip() == values.get("off_text", "").strip()
    assert not BenchmarkResult.objects.exists()


def test_a_file_that_is_too_large_is_refused(
    client: Client, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deployments.forms.benchmarks.LARGEST_UPLOAD", 2**20)
    file = SimpleUploadedFile("off.json", b" " * (2**20 + 1))
    answer = bring(client, team, off_file=file)
    assert "larger than 1 MiB" in words(answer)


def test_a_result_names_the_deployment_that_it_measured(
    client: Client, team: Team
) -> None:
    deployment = DeploymentFactory.create(
        cluster=ClusterFactory.create(team=team), name="chat"
    )
    answer = bring(client, team, off_text=OFF, deployment="chat")
    assert BenchmarkResult.objects.get().deployment == deployment
    assert page_of(answer).select_one(f'a[href="/deployments/{deployment.pk}/"]')
    empty = bring(client, team, off_text=OFF, deployment="chat", revision="9")
    assert "no such revision" in words(empty)


def test_a_viewer_reads_and_brings_nothing(team: Team) -> None:
    viewer = browser(member(team, "vera", TeamRole.VIEWER))
    kept = BenchmarkResultFactory.create(team=team)
    listed = viewer.get(reverse("benchmark-list"))
    assert kept.name in words(listed)
    assert page_of(listed).select_one("#id_off_text") is None
    assert bring(viewer, team, off_text=OFF).status_code == 422
    assert viewer.post(reverse("benchmark-remove", args=[kept.pk])).status_code == 403
    assert BenchmarkResult.objects.count() == 1


def test_another_team_cannot_be_written_to(client: Client) -> None:
    other = TeamFactory.create()
    assert bring(client, other, off_text=OFF).status_code == 422
    assert not BenchmarkResult.objects.exists()


def test_the_base_is_the_one_without_speculation_whatever_the_order(
    client: Client, team: Team
) -> None:
    bring(client, team, off_text=OFF, on_text=ON)
    off, on = BenchmarkResult.objects.order_by("created_at")
    answer = get(client, "benchmark-compare", [on.pk, off.pk])
    assert "Each against Qwen3-8B, chat · off" in words(answer)
    assert "Keep speculation" in words(answer)


def test_more_than_two_are_each_compared_with_the_base(
    client: Client, team: Team
) -> None:
    bring(client, team, off_text=OFF, on_text=ON)
    slow = block(throughput=500, tpot=20, speculation=True)
    bring(client, team, name="count 8", on_text=slow)
    keys = list(BenchmarkResult.objects.values_list("pk", flat=True))
    said = words(get(client, "benchmark-compare", keys))
    assert "Keep speculation" in said
    assert "Turn speculation off" in said


def test_gone_and_foreign_results_are_told(client: Client, team: Team) -> None:
    kept = BenchmarkResultFactory.create(team=team)
    foreign = BenchmarkResultFactory.create(name="secret")
    address = "benchmark-compare"
    answer = get(client, address, [kept.pk, foreign.pk, uuid.uuid4(), "x"])
    assert "2 results of this address are gone" in words(answer)
    assert "secret" not in words(answer)
    nothing = get(client, address, [foreign.pk])
    assert "None of these results is there any more" in words(nothing)
    assert "No result is chosen yet" in words(get(client, address, []))


def test_files_hold_the_runs_and_the_comparison(client: Client, team: Team) -> None:
    bring(client, team, name="=cmd", off_text=OFF, on_text=ON)
    keys = list(BenchmarkResult.objects.values_list("pk", flat=True))
    document = get(client, "benchmark-data", keys).json()
    assert document["comparisons"][0]["verdict"] == "keep"
    assert len(document["results"]) == 2
    sheet = get(client, "benchmark-file", keys).content.decode()
    rows = list(
        csv.DictReader(io.StringIO(sheet.lstrip("\N{ZERO WIDTH NO-BREAK SPACE}")))
    )
    assert rows[0]["result"] == "'=cmd · off"
    assert rows[0]["acceptance_rate"] == ""
    assert float(rows[1]["output_tokens_per_s"]) == 1430


def test_an_operator_removes_a_result(client: Client, team: Team) -> None:
    kept = BenchmarkResultFactory.create(team=team)
    answer = client.post(reverse("benchmark-remove", args=[kept.pk]), follow=True)
    assert "is removed" in words(answer)
    assert not BenchmarkResult.objects.exists()


def test_pages_ask_few_queries(
    client: Client, team: Team, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    rows = [BenchmarkResultFactory.create(team=team) for _ in range(20)]
    with django_assert_max_num_queries(12):
        client.get(reverse("benchmark-list"))
    with django_assert_max_num_queries(12):
        get(client, "benchmark-compare", [row.pk for row in rows[:6]])


def test_text_of_a_result_is_text_on_the_page(client: Client, team: Team) -> None:
    hostile = "Namespace(model='<script>alert(1)</script>')\n" + OFF
    answer = bring(client, team, name="<b>x</b>", off_text=hostile)
    assert b"<script>alert" not in answer.content
    assert b"<b>x</b>" not in answer.content


def test_many_results_are_read_in_pages(client: Client, team: Team) -> None:
    made = [BenchmarkResultFactory.create(team=team) for _ in range(26)]

    def names(number: str) -> list[str]:
        page = page_of(client.get(reverse("benchmark-list"), {"page": number}))
        return [cell.get_text(strip=True) for cell in page.select(".kept tbody th")]

    assert len(names("1")) == 25
    assert names("2") == [made[0].name]
    assert names("99") == names("2")
    assert names("x") == names("1")
