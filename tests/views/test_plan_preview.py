"""The live preview: one partial and what follows from it, fast."""

import time
from statistics import median

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from deployments.forms.wizard.steps import Step
from tests.plan_browser import one
from tests.views.plan_fixtures import (  # noqa: F401 - fixtures
    at,
    complete_state,
    gpu_host,
    local_host,
    shipped_models,
)

State = dict[str, object]


def preview(
    client: Client, step: str, state: State, status: int = 200, **more: object
) -> BeautifulSoup:
    address = at(step, state, **more).replace("/plan/?", "/plan/preview/?")
    answer = client.get(address, headers={"HX-Request": "true"})
    assert answer.status_code == status
    return BeautifulSoup(answer.content, "html.parser")


def test_people_who_are_not_logged_in_leave_the_page(db: None) -> None:
    answer = Client().get(
        "/plan/preview/",
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/plan/?q=a"},
    )

    assert answer.headers["HX-Redirect"] == "/accounts/login/?next=%2Fplan%2F%3Fq%3Da"


def test_the_preview_only_reads(as_alice: Client) -> None:
    assert as_alice.post("/plan/preview/").status_code == 405


@pytest.mark.parametrize(
    ("step", "extra"),
    [
        ("model", {"wizard-models", "slot_q", "slot_has", "slot_checkpoint"}),
        ("workload", {"wizard-answers", "slot_preset"}),
        ("hardware", {"wizard-clusters", "slot_host"}),
    ],
)
def test_the_answer_is_the_preview_and_its_company(
    as_alice: Client, state: State, step: str, extra: set[str]
) -> None:
    page = preview(as_alice, step, state)

    assert page.select("html, main, h1, form") == []
    inside, *others = page.find_all(recursive=False)
    assert inside["id"] == "wizard-preview"
    assert {tag["id"] for tag in others} == {"wizard-steps", "wizard-errors"} | extra
    assert all(tag["hx-swap-oob"] == "true" for tag in others)


def test_the_address_of_the_page_follows(as_alice: Client, state: State) -> None:
    page = preview(as_alice, "details", state, tokens=4, name="chat")

    address = str(one(page, "#wizard-preview")["data-address"])
    assert address == at("details", state, name="chat", tokens=4)
    assert as_alice.get(address).status_code == 200


def test_a_choice_changes_the_command(as_alice: Client, state: State) -> None:
    page = preview(as_alice, "details", state, max_num_seqs=77)

    assert "--max-num-seqs 77" in one(page, "pre").get_text()
    assert "77" in one(page, "#wizard-planned").get_text()


def test_a_bad_value_is_said_while_typing(as_alice: Client, state: State) -> None:
    page = preview(as_alice, "details", state, status=422, max_num_seqs="1e9")

    assert "“1e9” is not a whole number" in one(page, "#slot_max_num_seqs").get_text()
    assert one(page, "#slot_max_model_len").get_text() == ""
    assert "vllm serve" in one(page, "pre").get_text()


def test_a_plan_that_does_not_come_out_says_why(as_alice: Client, state: State) -> None:
    page = preview(as_alice, "details", state, engine="vllm-ascend==0.23.0")

    assert "vllm-ascend does not run on NVIDIA GPU" in page.get_text()


@pytest.mark.parametrize("step", Step)
def test_the_preview_takes_few_queries_and_little_time(
    as_alice: Client,
    state: State,
    step: Step,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(12):
        preview(as_alice, step, state)
    # Time of this process alone: the other tests share the processors.
    times = []
    for _ in range(5):
        start = time.process_time()
        preview(as_alice, step, state)
        times.append(time.process_time() - start)
    assert median(times) < 0.2


def test_the_preview_draws_memory_and_says_what_speculation_brings(
    as_alice: Client, state: State
) -> None:
    page = preview(as_alice, "details", state)

    assert page.select(".plan-memory svg.memory rect.weights")
    assert "Fits" in one(page, ".plan-memory").get_text()
    assert "Tokens per step" in one(page, ".plan-gain").get_text()
    assert page.select(".plan-gain svg.chart path.series")
    assert len(page.select(".plan-gain tbody tr")) == 7


def test_the_details_show_what_each_count_brings_while_it_is_typed(
    as_alice: Client, state: State
) -> None:
    page = preview(as_alice, "details", {**state, "tokens": "5"})

    counts = one(page, "#wizard-counts")
    assert counts["hx-swap-oob"] == "true"
    chosen = one(page, "#wizard-counts tr.chosen")
    assert one(page, "#wizard-counts tr.chosen th").get_text(" ").startswith("5")
    assert "3.08" in chosen.get_text()
    assert not preview(as_alice, "method", state).select("#wizard-counts")


def test_without_drafting_no_count_is_weighed(as_alice: Client, state: State) -> None:
    page = preview(as_alice, "details", {**state, "method": "off"})

    assert "Nothing is predicted" in one(page, "#wizard-counts").get_text()
