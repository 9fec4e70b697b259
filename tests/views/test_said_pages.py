"""Pages in another language hold no English sentence of the planner or the executor."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, NavigableString
from django.test import Client

from deployments.docker_api.client import open_engine
from deployments.docker_api.errors import DockerApiError
from deployments.forms.wizard.steps import Step
from deployments.models import (
    ApprovalRequest,
    Command,
    Decision,
    EventKind,
    Host,
    Release,
    ReleaseState,
    User,
)
from deployments.planning.plan import Plan
from deployments.planning.text import Text
from deployments.selectors.plans import stored_plan
from deployments.selectors.texts import say
from deployments.services.approvals import decide
from deployments.services.observation import store_unreachable
from deployments.services.releases import start_release
from deployments.services.rollout.executor import run_command
from tests.factories import AcceptanceSampleFactory
from tests.pseudo_language import active_pseudo_language  # noqa: F401 - fixture
from tests.team_rows import shown_changes
from tests.views.plan_fixtures import (  # noqa: F401 - fixtures
    at,
    complete_state,
    gpu_host,
    local_host,
    shipped_models,
)
from tests.views.test_plan_submit import posted
from tests.wizard_values import GLM

State = dict[str, object]
NOT_PROSE = "code, pre, kbd, textarea, script, style, .mono, .source, [lang=en]"
ENGLISH = re.compile(r"\b(?:[A-Za-z][a-z']+,? ){3,}[a-z']+\b")
TURNS = 40
WORDS_OF_OTHERS = (
    "No such file or directory",
    "vLLM model registry of tests",
    "vllm-ascend documentation v0.23.0, speculative decoding guide",
    "vllm-ascend documentation, speculative decoding guide",
    "published configuration of GLM-5; assumed the same for GLM-5.2, whose size differs",
)
"""What the operating system answers, titles of documents, sources that data files name."""

pytestmark = pytest.mark.usefixtures("pseudo_language")


@pytest.fixture(autouse=True)
def _far_away(alice: User, bob: User, gpu: Host, tmp_path: Path) -> None:
    """Everybody reads the language; nothing listens where the host's engine should."""
    User.objects.update(language="zh-hans")
    Host.objects.update(docker_address=f"unix://{tmp_path}/docker.sock")


@pytest.fixture
def request_row(as_alice: Client, state: State) -> ApprovalRequest:
    """A plan that alice submitted."""
    as_alice.post("/plan/submit/", posted(as_alice, state))
    return ApprovalRequest.objects.get()


@pytest.fixture
def failed(request_row: ApprovalRequest, alice: User, bob: User) -> Release:
    """Its release, which the executor gave up, since the host does not answer."""
    digest = request_row.digest
    shown_changes(bob, request_row)
    decide(bob, request_row, Decision.APPROVE, shown_digest=digest, comment="")
    request_row.refresh_from_db()
    release = start_release(alice, request_row, "key")
    for _turn in range(TURNS):
        Command.objects.update(not_before=None)
        run_command(release.commands.get().pk)
    release.refresh_from_db()
    assert release.state == ReleaseState.FAILED
    return release


def prose(client: Client, path: str) -> str:
    """What people read on a page, without code and titles of documents."""
    answer = client.get(path)
    assert answer.status_code == 200, path
    page = BeautifulSoup(answer.content, "lxml")
    for element in page.select(NOT_PROSE):
        element.decompose()
    nodes = [
        node for node in page.find_all(string=True) if type(node) is NavigableString
    ]
    return "\n".join(" ".join(node.split()) for node in nodes)


def english(shown: str) -> list[str]:
    """Runs of words that no translation has touched."""
    for words in WORDS_OF_OTHERS:
        shown = shown.replace(words, "")
    return ENGLISH.findall(shown)


def texts_of(plan: Plan) -> Iterator[Text]:
    """Everything that a plan says."""
    for finding in plan.findings:
        yield from (finding.message, finding.fix)
    for step in plan.decision.path:
        yield from (step.question, step.answer, step.because)


@pytest.mark.parametrize("step", Step)
def test_no_step_of_the_wizard_speaks_english(
    as_alice: Client, state: State, step: Step
) -> None:
    assert english(prose(as_alice, at(step, state))) == []


@pytest.mark.parametrize(
    "change", [{"method": "mtp"}, {"model": GLM}, {"tokens": "40"}]
)
def test_what_the_planner_finds_is_said(
    as_alice: Client, state: State, change: State
) -> None:
    for step in (Step.METHOD, Step.REVIEW):
        assert english(prose(as_alice, at(step, state, **change))) == []


def test_a_request_says_its_findings_and_its_path(
    as_bob: Client, request_row: ApprovalRequest
) -> None:
    shown = prose(as_bob, f"/approvals/{request_row.pk}/")
    assert english(shown) == []
    flat = " ".join(shown.split())
    for text in texts_of(stored_plan(request_row.plan)):
        assert say(text) in flat


def test_a_failed_release_says_what_happened(as_alice: Client, failed: Release) -> None:
    shown = prose(as_alice, f"/releases/{failed.pk}/")
    assert english(shown) == []
    flat = " ".join(shown.split())
    messages = [event.message for event in failed.events.all() if event.message]
    assert len(messages) > 3
    failure = next(
        event.message for event in failed.events.all() if event.kind == EventKind.FAILED
    )
    assert failed.cause.startswith(failure)
    for said in (failure, failed.next_action):
        assert said
        assert say(said) in flat
    for message in messages[-3:]:
        assert say(message) in flat


def test_a_warning_is_said(as_alice: Client, failed: Release) -> None:
    Release.objects.update(warning=failed.cause)
    assert english(prose(as_alice, f"/releases/{failed.pk}/")) == []


@pytest.mark.parametrize("tab", ["", "configuration/", "releases/", "acceptance/"])
def test_a_deployment_says_why_nothing_runs(
    as_alice: Client, failed: Release, tab: str
) -> None:
    AcceptanceSampleFactory.create_batch(3, replica=failed.replicas.first())
    path = f"/deployments/{failed.deployment_id}/{tab}"
    assert english(prose(as_alice, path)) == []


@pytest.mark.parametrize("path", ["/", "/approvals/", "/deployments/", "/fleet/"])
def test_lists_say_it_too(as_alice: Client, failed: Release, path: str) -> None:
    assert english(prose(as_alice, path)) == []


def test_a_host_says_why_it_does_not_answer(as_alice: Client, gpu: Host) -> None:
    gpu.refresh_from_db()
    with pytest.raises(DockerApiError) as caught, open_engine(gpu.docker_address):
        pass
    store_unreachable(gpu, caught.value)
    for path in ("/fleet/", f"/fleet/hosts/{gpu.pk}/"):
        shown = prose(as_alice, path)
        assert english(shown) == []
        assert say(gpu.reason) in " ".join(shown.split())
