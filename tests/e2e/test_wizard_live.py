"""The wizard in a real browser: the preview follows, the focus stays, the address tells it all."""

import time
from collections.abc import Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from deployments.models import Cluster, Team, TeamRole, User
from tests.factories import (
    ClusterFactory,
    DeviceFactory,
    HostFactory,
    TargetModelFactory,
    TeamFactory,
    member,
)
from tests.wizard_values import DOCUMENTS, GLM, QWEN

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cluster(transactional_db: None) -> Cluster:
    """One host with eight devices, and two models."""
    for key in (GLM, QWEN):
        TargetModelFactory.create(key=key, document=DOCUMENTS[key])
    team: Team = TeamFactory.create(name="Serving")
    cluster: Cluster = ClusterFactory.create(team=team, name="prod", slug="prod")
    host = HostFactory.create(cluster=cluster, name="gpu-1", model_root="/data/models")
    for number in range(8):
        DeviceFactory.create(host=host, number=number)
    return cluster


@pytest.fixture
def page(cluster: Cluster, live_server: LiveServer, browser: Browser) -> Iterator[Page]:
    """The browser of an operator, on the first step; any error of a script fails the test."""
    alice: User = member(cluster.team, "alice", TeamRole.OPERATOR)
    client = Client()
    client.force_login(alice)
    cookies = [
        {"name": name, "value": morsel.value, "url": live_server.url}
        for name, morsel in client.cookies.items()
    ]
    context = browser.new_context(base_url=live_server.url)
    context.add_cookies(cookies)  # type: ignore[arg-type]
    opened = context.new_page()
    broken: list[str] = []
    opened.on("pageerror", lambda error: broken.append(str(error)))
    opened.goto("/plan/")
    yield opened
    context.close()
    assert broken == []


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_typing_keeps_the_focus_and_every_choice_is_in_the_address(page: Page) -> None:
    page.locator("#id_q").press_sequentially("qwen3-8", delay=20)
    expect(page.locator("#wizard-models tbody tr")).to_have_count(1)
    assert focused(page) == "id_q"
    expect(page.locator("#id_q")).to_have_value("qwen3-8")

    page.click("#wizard-models tbody a")
    expect(page.locator("#h-checkpoints")).to_have_text("Checkpoint of Qwen3-8B")
    page.click(".actions .primary")
    expect(page.locator("h1")).to_have_text("Where should it run?")
    assert focused(page) == "content"

    page.click("#id_cluster a")
    page.check("#host-gpu-1")
    expect(page.locator("#wizard-preview")).to_contain_text("vllm serve")
    assert focused(page) == "host-gpu-1"
    assert "host=gpu-1" in page.url
    expect(page.locator("#wizard-kept")).to_contain_text("Kept in your account")

    page.click("#wizard-steps >> text=Details")
    page.locator("#id_max_num_seqs").press_sequentially("77", delay=20)
    expect(page.locator("#wizard-preview pre")).to_contain_text("--max-num-seqs 77")
    assert focused(page) == "id_max_num_seqs"
    assert "max_num_seqs=77" in page.url

    page.reload()
    expect(page.locator("#id_max_num_seqs")).to_have_value("77")


def test_back_and_forward_walk_the_steps(page: Page, cluster: Cluster) -> None:
    page.goto(f"/plan/?step=workload&model={QWEN}&cluster={cluster.pk}&host=gpu-1")
    page.check("#preset-batch")
    expect(page.locator("#wizard-steps")).to_contain_text("Batch")
    page.click("#wizard-steps >> text=Method")
    expect(page.locator("h1")).to_have_text("How should qwen3-8b draft?")

    page.go_back()
    expect(page.locator("h1")).to_have_text("What will be asked of it?")
    expect(page.locator("#preset-batch")).to_be_checked()
    page.go_forward()
    expect(page.locator("h1")).to_have_text("How should qwen3-8b draft?")


def test_a_wrong_value_is_said_while_typing_and_goes_when_mended(
    page: Page, cluster: Cluster
) -> None:
    page.goto(f"/plan/?step=details&model={QWEN}&cluster={cluster.pk}&host=gpu-1")
    page.fill("#id_tokens", "99")
    expect(page.locator("#slot_tokens")).to_contain_text("from 1 to 64")
    expect(page.locator("#wizard-errors")).to_contain_text("Please correct this")
    assert focused(page) == "id_tokens"

    page.fill("#id_tokens", "4")
    expect(page.locator("#slot_tokens")).to_be_empty()
    expect(page.locator("#wizard-errors .error-summary")).to_have_count(0)


def test_a_choice_is_answered_at_once(page: Page, cluster: Cluster) -> None:
    page.goto(f"/plan/?step=method&model={QWEN}&cluster={cluster.pk}&host=gpu-1")
    start = time.perf_counter()
    with page.expect_response(lambda answer: "method=off" in answer.url) as caught:
        page.check("#method-off")
    assert caught.value.status == 200
    expect(page.locator("#wizard-steps")).to_contain_text("Off")
    assert time.perf_counter() - start < 2
    assert focused(page) == "method-off"
