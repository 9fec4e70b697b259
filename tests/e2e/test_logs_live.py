"""Logs in a real browser: lines arrive, scrolling pauses, nothing moves under one's hands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from deployments.models import (
    Deployment,
    LogRequest,
    LogTail,
    Release,
    ReleaseState,
    Replica,
    User,
)
from tests.factories import (
    ClusterFactory,
    DeploymentFactory,
    ReplicaFactory,
    TeamFactory,
    member,
)
from tests.log_rows import (
    ERROR,
    INFO,
    METRICS,
    WARNING,
    add_lines,
    now_ns,
    tail_with,
)
from tests.plan_rows import released, stored
from tests.plan_values import plan_value

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATIENCE_MS = 20_000


@pytest.fixture
def alice(transactional_db: None) -> User:
    """A member without any role."""
    return member(TeamFactory.create(name="Serving"), "alice")


@pytest.fixture
def deployment(alice: User) -> Deployment:
    team = alice.memberships.get().team
    cluster = ClusterFactory.create(team=team, name="prod", slug="prod")
    row: Deployment = DeploymentFactory.create(
        cluster=cluster, name="chat", created_by=alice
    )
    return row


@pytest.fixture
def release(deployment: Deployment) -> Release:
    value = plan_value()
    return released(stored(deployment, value), value, ReleaseState.LIVE)


@pytest.fixture
def replica(release: Release) -> Replica:
    return release.replicas.select_related("host", "release").get()


@pytest.fixture
def chromium(browser: Browser) -> Browser:
    return browser


def tab(browser: Browser, server: LiveServer, user: User, **options: object) -> Page:
    """A tab in which the person is logged in."""
    client = Client()
    client.force_login(user)
    cookies = [
        {"name": name, "value": morsel.value, "url": server.url}
        for name, morsel in client.cookies.items()
    ]
    context = browser.new_context(base_url=server.url, **options)  # type: ignore[arg-type]
    context.add_cookies(cookies)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    return context.new_page()


@pytest.fixture
def page(chromium: Browser, live_server: LiveServer, alice: User) -> Iterator[Page]:
    """Alice's tab; any error of a script fails the test."""
    expect.set_options(timeout=PATIENCE_MS)
    opened = tab(chromium, live_server, alice)
    broken: list[str] = []
    opened.on("pageerror", lambda error: broken.append(str(error)))
    yield opened
    assert broken == []


def at_end(page: Page) -> bool:
    return bool(
        page.evaluate(
            "() => { const log = document.querySelector('.log');"
            " return log.scrollHeight - log.scrollTop - log.clientHeight < 4; }"
        )
    )


def test_lines_arrive_by_themselves_and_only_new_ones_are_sent(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    tail = tail_with(replica, *[INFO.format(number) for number in range(300)])
    page.goto(f"/deployments/{deployment.pk}/logs/")
    expect(page.locator(".log__line")).to_have_count(300)
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    assert at_end(page)

    with page.expect_response(
        lambda answer: "/lines/" in answer.url and answer.status == 200
    ) as caught:
        add_lines(tail, "one more", ERROR)
    expect(page.locator(".log__line")).to_have_count(302)
    assert "Started server" not in caught.value.text()
    assert "one more" in caught.value.text()
    assert at_end(page)
    expect(page.locator("[data-log-error]")).to_be_visible()
    expect(page.locator(".log-state")).to_contain_text("302 lines")


def test_looking_on_keeps_the_request_alive_and_pausing_ends_it(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    with page.expect_response("**/logs/tail/") as asked:
        page.goto(f"/deployments/{deployment.pk}/logs/")
    assert asked.value.status == 204
    request = LogRequest.objects.get(replica=replica)
    LogTail.objects.create(request=request)
    expect(page.locator("[data-log-state]")).to_have_text("Following")

    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-log-state]")).to_contain_text("Nothing is read")
    asked_for: list[str] = []
    page.on("request", lambda sent: asked_for.append(sent.url))
    page.wait_for_timeout(3000)
    assert asked_for == []

    with page.expect_request("**/logs/lines/**"):
        page.get_by_role("button", name="Follow").click()
    expect(page.locator("[data-log-state]")).to_have_text("Following")


def test_scrolling_pauses_and_the_end_follows_again(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    tail = tail_with(replica, *[INFO.format(number) for number in range(300)])
    page.goto(f"/deployments/{deployment.pk}/logs/")
    expect(page.locator(".log__line")).to_have_count(300)
    page.locator(".log").focus()
    page.keyboard.press("Home")
    expect(page.locator("[data-log-state]")).to_contain_text("because you scrolled")
    add_lines(tail, "came meanwhile")
    page.wait_for_timeout(3000)
    expect(page.locator(".log__line")).to_have_count(300)
    assert page.evaluate("document.querySelector('.log').scrollTop") == 0

    page.locator(".log").focus()
    page.keyboard.press("End")
    expect(page.locator(".log__line")).to_have_count(301)
    expect(page.locator("[data-log-state]")).to_have_text("Following")


def test_focus_and_selection_stay_while_lines_arrive(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    tail = tail_with(replica, METRICS, *[INFO.format(number) for number in range(100)])
    page.goto(f"/deployments/{deployment.pk}/logs/")
    page.evaluate(
        "() => { const line = document.querySelectorAll('.log__line')[90];"
        " getSelection().selectAllChildren(line); }"
    )
    before = page.evaluate("document.querySelector('.log').scrollTop")
    add_lines(tail, "new one")
    expect(page.locator(".log__line")).to_have_count(102)
    assert "Started server 89" in page.evaluate("getSelection().toString()")
    assert page.evaluate("document.querySelector('.log').scrollTop") == before

    page.evaluate("getSelection().removeAllRanges()")
    page.locator("#id_q").focus()
    add_lines(tail, "another one")
    expect(page.locator(".log__line")).to_have_count(103)
    assert page.evaluate("document.activeElement.id") == "id_q"
    assert at_end(page)


def test_values_of_an_acceptance_line_are_read_by_keyboard(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    tail_with(replica, INFO.format(1), METRICS)
    page.goto(f"/deployments/{deployment.pk}/logs/")
    chip = page.locator(".log__chip")
    tip = page.locator(".log__tip")
    expect(tip).to_be_hidden()
    chip.focus()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("3.00 mean acceptance length")
    expect(tip).to_contain_text("406 accepted of 609 drafted tokens")
    expect(chip).to_have_accessible_description(tip.inner_text().replace("\n", " "))
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_a_lost_connection_says_so_and_comes_back(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    tail = tail_with(replica, INFO.format(1))
    page.goto(f"/deployments/{deployment.pk}/logs/")
    expect(page.locator("[data-log-state]")).to_have_text("Following")
    page.context.set_offline(True)
    expect(page.locator("[data-log-state]")).to_contain_text("connection is lost")
    add_lines(tail, "while it was lost")
    page.context.set_offline(False)
    expect(page.locator(".log")).to_contain_text("while it was lost")
    expect(page.locator("[data-log-state]")).to_have_text("Following")


def test_a_tail_that_was_forgotten_begins_anew(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    tail = tail_with(replica, "old one", "old two")
    page.goto(f"/deployments/{deployment.pk}/logs/")
    expect(page.locator(".log__line")).to_have_count(2)
    tail.request.delete()
    tail_with(replica, "fresh")
    expect(page.locator(".log__line")).to_have_count(1)
    expect(page.locator(".log")).to_contain_text("fresh")


def test_several_replicas_stand_in_order_of_time(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    other = ReplicaFactory.create(release=replica.release, host=replica.host, rank=1)
    begin = now_ns()
    second = 1_000_000_000
    first = tail_with(replica, "a0", "a1", begin_ns=begin)
    tail_with(other, "b0", begin_ns=begin + second // 2)
    both = f"replica={replica.pk}&replica={other.pk}"
    page.goto(f"/deployments/{deployment.pk}/logs/?{both}")
    shown = page.locator(".log__text")
    expect(shown).to_have_text(["a0", "b0", "a1"])

    slower = LogTail.objects.get(request__replica=other)
    add_lines(first, "a2", begin_ns=begin + 9 * second)
    expect(shown).to_have_text(["a0", "b0", "a1", "a2"])
    add_lines(slower, "b1", begin_ns=begin + 5 * second)
    expect(shown).to_have_text(["a0", "b0", "a1", "b1", "a2"])

    page.goto(f"/deployments/{deployment.pk}/logs/?{both}&layout=side")
    expect(page.locator("[data-log-pane]")).to_have_count(2)
    add_lines(slower, "b2")
    expect(page.locator("[data-log-pane]").nth(1)).to_contain_text("b2")
    expect(page.locator("[data-log-pane]").nth(0)).not_to_contain_text("b2")


def test_first_error_and_wrap(
    page: Page, deployment: Deployment, replica: Replica
) -> None:
    tail_with(
        replica,
        *[INFO.format(number) for number in range(100)],
        ERROR,
        *[INFO.format(number) for number in range(100)],
    )
    page.goto(f"/deployments/{deployment.pk}/logs/")
    page.get_by_role("link", name="First error").click()
    expect(page.locator("[data-level=ERROR]")).to_be_focused()
    expect(page.locator("[data-level=ERROR]")).to_be_in_viewport()
    expect(page.locator("[data-log-state]")).to_contain_text("because you scrolled")
    page.get_by_label("Wrap long lines").check()
    assert "wrap=on" in page.url
    page.reload()
    expect(page.get_by_label("Wrap long lines")).to_be_checked()
    expect(page.locator("#log-panes")).to_have_class("log-panes wrap")


@pytest.fixture
def tall_tail(replica: Replica) -> LogTail:
    """A log with everything in it that looks special."""
    lines = [INFO.format(number) for number in range(60)]
    return tail_with(replica, *lines, WARNING, ERROR, METRICS, INFO, ended=True)


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("light", 390),
        ("dark", 1440),
        pytest.param("light", 1440, marks=pytest.mark.slow),
        pytest.param("dark", 390, marks=pytest.mark.slow),
    ],
)
def test_no_accessibility_violation(
    theme: Literal["light", "dark"],
    width: int,
    page: Page,
    tall_tail: LogTail,
    screens: Path,
) -> None:
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 900})
    deployment = tall_tail.request.replica.release.deployment_id
    page.goto(f"/deployments/{deployment}/logs/?q=server")
    expect(page.locator("mark").first).to_be_visible()
    assert Axe().run(page).violations_count == 0
    page.goto(f"/deployments/{deployment}/logs/")
    page.locator(".log__chip").focus()
    page.screenshot(path=screens / f"logs-{theme}-{width}.png")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    overflow = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert overflow == 0


def test_without_scripts_lines_are_read_by_buttons_and_reload(
    chromium: Browser,
    live_server: LiveServer,
    alice: User,
    deployment: Deployment,
    replica: Replica,
) -> None:
    opened = tab(chromium, live_server, alice, java_script_enabled=False)
    opened.goto(f"/deployments/{deployment.pk}/logs/")
    opened.get_by_role("button", name="Read the log now").click()
    opened.wait_for_url(f"**/deployments/{deployment.pk}/logs/?replica=**")
    assert LogRequest.objects.filter(replica=replica).exists()
    LogRequest.objects.all().delete()
    tail_with(replica, INFO.format(1), ERROR)
    opened.get_by_role("link", name="Reload").click()
    expect(opened.locator(".log__line")).to_have_count(2)
    opened.locator("#id_level").select_option("ERROR")
    opened.get_by_role("button", name="Apply").click()
    expect(opened.locator(".log__line")).to_have_count(1)
    opened.get_by_role("link", name="First error").click()
    assert opened.url.rpartition("#")[2].startswith("l")


def test_the_release_page_follows_the_replica_in_focus(
    page: Page, release: Release, replica: Replica
) -> None:
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.STARTING, live_at=None
    )
    page.goto(f"/releases/{release.pk}/")
    expect(page.locator(f"#tail-{release.pk}")).to_contain_text("lines come within")
    LogRequest.objects.filter(replica=replica).delete()
    tail_with(replica, *[INFO.format(number) for number in range(30)])
    expect(page.locator(".small-log .log__line")).to_have_count(12)
    expect(page.locator(".small-log")).to_contain_text("Started server 29")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.get_by_role("link", name="Whole log").click()
    expect(page.locator(".log__line")).to_have_count(30)
