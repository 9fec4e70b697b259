"""The wizard's page: every step, for everybody, with and without scripts."""

from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup
from django.http import QueryDict
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from deployments.forms.wizard.draft import read_draft
from deployments.forms.wizard.steps import Step
from deployments.models import ApprovalRequest, Cluster, Host, TargetModel, User
from deployments.selectors.wizard_catalog import MOST_MODELS
from tests.factories import (
    ClusterFactory,
    DeploymentFactory,
    TargetModelFactory,
    TeamFactory,
)
from tests.plan_browser import PlainBrowser, one
from tests.plan_rows import released, stored
from tests.views.conftest import logged_in
from tests.views.plan_fixtures import (  # noqa: F401 - fixtures
    at,
    complete_state,
    gpu_host,
    local_host,
    shipped_models,
)
from tests.wizard_values import DOCUMENTS, GLM, LLAMA, QWEN

State = dict[str, object]


def soup(client: Client, address: str, status: int = 200) -> BeautifulSoup:
    answer = client.get(address)
    assert answer.status_code == status
    return BeautifulSoup(answer.content, "html.parser")


def test_people_who_are_not_logged_in_are_sent_to_the_log_in(db: None) -> None:
    answer = Client().get("/plan/?step=review")

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_page_only_reads(as_alice: Client, method: str) -> None:
    assert getattr(as_alice, method)("/plan/").status_code == 405


@pytest.mark.parametrize("step", Step)
def test_every_step_shows_itself_and_every_answer(
    as_alice: Client, state: State, step: Step
) -> None:
    page = soup(as_alice, at(step, state))

    assert one(page, "#wizard-steps [aria-current]")["value"] == step
    answers = [line.get_text() for line in page.select("#wizard-steps small")]
    assert answers[:4] == [
        "Qwen3-8B, bf16, 8.2\u00a0B",
        "gpu-1",
        "Chat: 1,000 in, 400 out, 16 at once",
        "EAGLE-3 \u00d73",
    ]
    assert "vllm serve /models/Qwen3-8B" in page.get_text()


@pytest.mark.parametrize("step", Step)
def test_every_step_shows_what_is_missing(as_alice: Client, step: Step) -> None:
    page = soup(as_alice, f"/plan/?step={step}")

    assert "Choose a model to see a plan." in one(page, "#wizard-preview").get_text()


@pytest.mark.parametrize("step", Step)
def test_every_step_takes_few_queries(
    as_alice: Client,
    state: State,
    step: Step,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(12):
        as_alice.get(at(step, state))


def test_a_button_leads_to_an_address_of_its_own(
    as_alice: Client, state: State
) -> None:
    answer = as_alice.get(at("model", state, to="method", tokens="", q="qwen"))

    assert answer.status_code == 302
    address = urlsplit(answer.headers["Location"])
    assert address.path == "/plan/"
    assert parse_qs(address.query) == {
        "step": ["method"],
        **{key: [value] for key, value in state.items()},
    }


def test_many_clusters_can_be_searched_without_scripts(
    as_alice: Client, state: State, cluster: Cluster
) -> None:
    browser = PlainBrowser(as_alice, at("hardware", state))
    assert browser.page.select("[name=find]") == []
    for number in range(20):
        ClusterFactory.create(team=cluster.team, name=f"lab-{number:02}")
    browser.visit(at("hardware", state))
    assert "9 more clusters." in browser.text("#wizard-clusters")
    browser.fill("find", "LAB 17")
    browser.press("Search")
    links = browser.page.select("#wizard-clusters a")
    assert [link.get_text() for link in links] == ["prod", "lab-17"]
    browser.follow("lab-17")
    assert browser.page.select("#wizard-clusters a")[0].get_text() == "lab-17"
    browser.fill("find", "nobody-has-this")
    browser.press("Search")
    assert len(browser.page.select("#wizard-clusters a")) == 1


def test_the_way_from_nothing_to_a_request_needs_no_scripts(
    as_alice: Client, state: State, cluster: Cluster, bob: User
) -> None:
    browser = PlainBrowser(as_alice, "/plan/")
    browser.fill("q", "qwen3")
    browser.press("Search")
    browser.follow("Qwen3-8B")
    browser.choose("checkpoint", "bf16")
    browser.press("Continue to hardware")
    browser.follow("prod")
    browser.choose("host", "gpu-1")
    browser.press("Continue to workload")
    browser.choose("preset", "own")
    browser.press("Update this page")
    browser.fill("concurrency", "8")
    browser.press("Continue to method")
    browser.choose("method", "ngram")
    browser.press("Continue to details")
    browser.fill("name", "qwen-chat")
    browser.fill("tokens", "4")
    browser.fill("extra_flags", "--seed 7")
    browser.press("Model")
    browser.press("Review")
    assert browser.status == 200
    assert browser.text(".verdict").startswith("Serve Qwen3-8B (bf16) as qwen-chat on")
    assert "These can: bob." in browser.text(".decide")
    browser.fill("comment", "Repeats its prompt")
    browser.press("Submit for approval")

    made = ApprovalRequest.objects.get()
    assert browser.status == 200
    assert browser.path == f"/approvals/{made.pk}/"
    revision = made.plan.revision.document
    assert made.comment == "Repeats its prompt"
    assert (revision["name"], revision["workload"]["concurrency"]) == ("qwen-chat", 8)
    assert revision["speculation"]["method"] == "ngram"
    assert revision["speculation"]["num_speculative_tokens"] == 4
    assert revision["extra_flags"] == [["--seed", "7"]]


def test_a_bad_value_stands_at_its_field_and_loses_nothing(
    as_alice: Client, state: State
) -> None:
    page = soup(
        as_alice,
        at("details", state, tokens="many", name="chat", goal="latency"),
        status=422,
    )

    (said,) = page.select("#slot_tokens .error")
    assert "“many” is not a whole number" in said.get_text()
    assert "tokens" in one(page, "#wizard-errors a")["href"]
    assert one(page, "[name=name]")["value"] == "chat"
    assert one(page, "[name=goal]")["value"] == "latency"
    assert "Planned without the values" in page.get_text()


def test_hostile_text_is_only_text(as_alice: Client, state: State) -> None:
    hostile = "\"><script>alert('x')</script>"

    answer = as_alice.get(at("model", state, q=hostile, name=hostile, **{hostile: "1"}))

    assert answer.status_code == 422
    assert b"<script>alert" not in answer.content


def test_what_the_planner_refuses_is_said_in_its_sentence(
    as_alice: Client, state: State
) -> None:
    page = soup(as_alice, at("review", state, combined_tp=3, combined_devices=4))

    assert "3 tensor parallel ranks do not divide" in page.get_text()
    assert page.select("form[method=post][action='/plan/submit/']") == []


def test_a_foreign_cluster_is_as_unknown_as_none(
    as_charlie: Client, state: State
) -> None:
    foreign = soup(as_charlie, at("hardware", state), status=422)
    nowhere = soup(
        as_charlie,
        at("hardware", state | {"cluster": "7c64333c-8f7f-433c-b2c8-32d9d33352ba"}),
        status=422,
    )

    sentences = [one(page, "#slot_cluster").get_text() for page in (foreign, nowhere)]
    assert "There is no cluster" in sentences[0]
    assert sentences[0].replace(str(state["cluster"]), "X") == sentences[1].replace(
        "7c64333c-8f7f-433c-b2c8-32d9d33352ba", "X"
    )
    assert "prod" not in foreign.get_text()


def test_a_foreign_model_is_unknown(as_charlie: Client, state: State) -> None:
    own = TeamFactory.create()
    TargetModelFactory.create(key="secret/model", team=own)

    page = soup(as_charlie, "/plan/?model=secret/model", status=422)

    assert "The catalog has no model “secret/model”" in page.get_text()
    assert page.select("#wizard-models tbody tr") != []


def test_the_entry_of_the_clusters_team_wins(
    as_alice: Client, state: State, cluster: Cluster
) -> None:
    document = {**DOCUMENTS[QWEN], "name": "Our Qwen"}
    TargetModelFactory.create(key=QWEN, team=cluster.team, document=document)

    page = soup(as_alice, at("review", state))

    assert "Serve Our Qwen" in one(page, ".verdict").get_text()


def test_members_without_the_role_see_why_they_may_only_look(
    as_bob: Client, state: State
) -> None:
    hardware = soup(as_bob, at("hardware", state))
    review = soup(as_bob, at("review", state))

    reason = "You are no operator in the team Serving platform"
    assert reason in one(hardware, "#id_cluster").get_text()
    assert reason in one(review, ".decide").get_text()
    assert review.select("form[action='/plan/submit/']") == []
    assert review.select("a[href^='/plan/files/']") != []


def test_people_of_no_team_can_plan_for_a_platform(
    models: object, charlie: User
) -> None:
    charlie.memberships.all().delete()
    page = soup(logged_in(charlie), "/plan/?step=hardware")

    assert "You are in no team with a cluster." in page.get_text()


def test_search_and_filters_find_models(as_alice: Client, models: object) -> None:
    TargetModelFactory.create(key=LLAMA, document=DOCUMENTS[LLAMA])

    def found(**values: str) -> list[str]:
        page = soup(as_alice, at("model", {}, **values))
        return [row.get_text() for row in page.select("#wizard-models th a")]

    assert found() == ["GLM-5.2", "Llama-3.1-8B-Instruct", "Qwen3-8B"]
    assert found(q="glm") == ["GLM-5.2"]
    assert found(q="8b qwen") == ["Qwen3-8B"]
    assert found(q="nothing") == []
    assert found(has="mtp") == ["GLM-5.2"]
    assert "GLM-5.2" in found(q="qwen", model=GLM)


def test_a_long_catalog_is_listed_in_part_with_its_families(
    as_alice: Client, models: object
) -> None:
    for number in range(MOST_MODELS):
        TargetModelFactory.create(key=f"a/{number:03}", family="Alpha")
    page = soup(as_alice, at("model", {}, model=QWEN))
    names = [row.get_text() for row in page.select("#wizard-models th a")]
    assert len(names) == MOST_MODELS + 1
    assert names[0] == "Qwen3-8B"
    assert "1 more model fits." in one(page, "#wizard-models").get_text()
    families = {
        link.get_text(): str(link["href"]) for link in page.select(".families a")
    }
    assert "Alpha" in families
    again = soup(as_alice, families["Alpha"])
    assert len(again.select("#wizard-models tbody tr")) == MOST_MODELS + 1
    assert one(again, ".families [aria-current]").get_text() == "Alpha"


def test_models_for_the_fleet_are_found(as_alice: Client, state: State) -> None:
    page = soup(as_alice, at("model", {}, has="fits"))

    names = [row.get_text() for row in page.select("#wizard-models th a")]
    assert names == ["GLM-5.2", "Qwen3-8B"]


def test_checkpoints_that_cannot_run_stay_with_the_reason(
    as_alice: Client, state: State
) -> None:
    page = soup(as_alice, at("model", state, model=GLM))

    closed = one(page, "li.closed:has(#checkpoint-w8a8)")
    assert closed is not None
    assert "gpu-1 is NVIDIA GPU" in closed.get_text()
    assert one(closed, "input").has_attr("disabled")
    large = one(page, "li.closed:has(#checkpoint-fp8)")
    assert large is not None
    assert "GiB of device memory; the chosen hosts have 160." in large.get_text()


def test_taking_another_model_drops_what_belonged_to_the_first(
    as_alice: Client, state: State
) -> None:
    page = soup(as_alice, at("model", state, checkpoint="bf16", tokens=3))

    link = str(one(page, "#wizard-models tr:-soup-contains('GLM-5.2') a")["href"])
    kept = parse_qs(urlsplit(link).query)
    assert kept["model"] == [GLM]
    assert kept["tokens"] == ["3"]
    assert "checkpoint" not in kept


def test_the_method_step_shows_the_path_and_every_method(
    as_alice: Client, state: State
) -> None:
    page = soup(as_alice, at("method", state))

    path = [line.get_text(" ") for line in page.select(".path li")]
    assert path[0].startswith("Does the checkpoint hold MTP weights? No")
    assert path[-1] == "So: EAGLE-3 \u00d73"
    closed = one(page, "li.closed:has(#method-mtp)")
    assert closed is not None
    assert "it was not trained with MTP layers" in closed.get_text()
    assert len(page.select("input[name=method]")) == 13
    columns = [cell.get_text() for cell in page.select(".compare thead th")][1:]
    assert columns == ["MTP", "EAGLE-3"]
    assert "no data" in one(page, ".compare").get_text()


def test_the_path_stays_when_a_person_chooses(as_alice: Client, state: State) -> None:
    page = soup(as_alice, at("method", state, method="off", pin=["off", "ngram"]))

    assert one(page, ".path li:last-child b").get_text() == "EAGLE-3 \u00d73"
    assert one(page, "li.chosen input")["value"] == "off"
    assert "--speculative-config" not in one(page, "#wizard-preview").get_text()
    columns = [cell.get_text() for cell in page.select(".compare thead th")][1:]
    assert columns == ["Off", "N-gram"]


def test_the_workload_step_plans_every_preset(as_alice: Client, state: State) -> None:
    page = soup(as_alice, at("workload", state, preset="batch"))

    rows = page.select("#wizard-answers tbody tr")
    assert len(rows) == 5
    sizes = {one(row, "th").get_text(): row.select("td")[1].get_text() for row in rows}
    assert sizes["Batch"] != sizes["Long documents"]


def test_prefill_and_decode_get_fields_and_hosts_of_their_own(
    as_alice: Client, state: State
) -> None:
    page = soup(
        as_alice, at("details", state, topology="disaggregated", prefill_tokens=0)
    )

    assert one(page, "[name=prefill_tokens]")["value"] == "0"
    assert one(page, "[name=decode_port]") is not None
    assert page.select("[name=combined_port]") == []
    assert one(page, "#prefill_host-gpu-1").has_attr("checked")


def test_without_a_release_everything_is_new(as_alice: Client, state: State) -> None:
    page = soup(as_alice, at("review", state))

    assert "Nothing of this name runs now" in page.get_text()


def test_what_runs_now_is_compared(
    as_alice: Client, alice: User, state: State, cluster: Cluster
) -> None:
    draft = read_draft(
        alice, QueryDict(at("review", state, name="chat").partition("?")[2])
    )
    assert draft.plan is not None
    deployment = DeploymentFactory.create(cluster=cluster, name="chat")
    released(stored(deployment, draft.plan), draft.plan)

    page = soup(as_alice, at("review", state, name="chat", tokens=5))

    assert "chat r1" in one(page, "section:has(#h-changes)").get_text()
    rows = {
        one(row, "th").get_text(): row for row in page.select("table.diff tbody tr")
    }
    count = rows["--speculative-config.num_speculative_tokens"]
    assert one(count, ".was").get_text() == "3"
    assert one(count, ".now").get_text() == "5"
    assert one(page, "dt:-soup-contains('Revision') + dd").get_text() == "2"


def test_practice_is_said_on_every_step(
    as_alice: Client, models: dict[str, TargetModel], local: Host
) -> None:
    state: State = {
        "model": QWEN,
        "cluster": str(local.cluster.pk),
        "host": local.name,
        "image_source": "practice",
    }
    for step in Step:
        page = soup(as_alice, at(step, state))
        assert page.select("main .badge.practice") != []
    assert "The practice image" in soup(as_alice, at("hardware", state)).get_text()


def test_a_platform_without_a_host_ends_in_files(
    as_alice: Client, models: object
) -> None:
    state: State = {"model": GLM, "place": "platform", "platform": "ascend-a3"}

    page = soup(
        as_alice, at("review", state, platform_hosts=2, topology="disaggregated")
    )

    assert "cannot be deployed to" in one(page, ".decide").get_text()
    assert page.select("form[action='/plan/submit/']") == []
    paths = [entry.get_text() for entry in page.select("details summary.mono")]
    assert "host-1/docker-compose.yaml" in paths
    assert "host-2/launch.sh" in paths


def test_the_workload_step_predicts_each_preset(as_alice: Client, state: State) -> None:
    page = soup(as_alice, at(Step.WORKLOAD, state))

    rows = {
        str(row.select_one("th").get_text()): row.select("td")[1].get_text()  # type: ignore[union-attr]
        for row in page.select("#wizard-answers tbody tr")
    }
    assert set(rows) == {"Chat", "Code", "Agents", "Long documents", "Batch"}
    assert all("\u00d7" in said for said in rows.values())
    assert " to " in rows["Chat"]
    assert " to " not in rows["Batch"]
    assert "median 1.34 of 21 pairs" in one(page, "#id_preset").get_text()
