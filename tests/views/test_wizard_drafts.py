"""What is unfinished in the wizard waits in the account: kept, gone on with, dropped, forgotten."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from deployments.models import LONGEST_DRAFT, User, WizardDraft
from deployments.services.wizard_drafts import MOST_DRAFTS
from tests.team_rows import WizardDraftFactory
from tests.views.plan_fixtures import (  # noqa: F401 - fixtures
    complete_state,
    gpu_host,
    local_host,
    shipped_models,
)
from tests.views.test_plan_submit import State, posted
from tests.wizard_values import QWEN

pytestmark = pytest.mark.django_db


def keep(client: Client, query: str, *, scripted: bool = True) -> int:
    """Send an address of the wizard as its script does; the status of the answer."""
    accept = {"Accept": "application/json"} if scripted else {}
    answer = client.post(reverse("plan-draft-keep"), {"query": query}, headers=accept)
    return answer.status_code


def listed(client: Client, page: str) -> list[str]:
    """Where the unfinished plans of a page lead to."""
    soup = BeautifulSoup(client.get(page).content, "html.parser")
    links = soup.select("section[aria-labelledby=h-drafts] a.button")
    return [str(link["href"]) for link in links]


def test_what_was_left_half_way_is_found_again_and_dropped(
    as_alice: Client, as_bob: Client
) -> None:
    state = f"step=workload&model={QWEN}&host=gpu-1&preset=code&nonsense=1&q=qwen"
    assert keep(as_alice, state) == 204
    assert keep(as_alice, state.replace("workload", "method")) == 204

    kept = WizardDraft.objects.get()
    (address,) = listed(as_alice, "/plan/")
    assert listed(as_alice, "/") == [address]  # the first steps of an empty panel
    assert listed(as_bob, "/plan/") == []
    assert parse_qs(urlsplit(address).query) == {
        "step": ["method"],
        "model": [QWEN],
        "host": ["gpu-1"],
        "preset": ["code"],
    }
    drop = reverse("plan-draft-drop", args=[kept.pk])
    assert as_bob.post(drop).status_code == 404
    assert as_alice.post(drop, {"back": "overview"}).headers["Location"] == "/"
    assert not WizardDraft.objects.exists()


def test_a_browser_without_scripts_keeps_with_a_button(as_alice: Client) -> None:
    page = as_alice.get(f"/plan/?step=hardware&model={QWEN}").content
    form = BeautifulSoup(page, "html.parser").select_one("#wizard-keep")
    assert form is not None
    query = str(form.select("input[name=query]")[0]["value"])

    assert keep(as_alice, query, scripted=False) == 302
    assert len(listed(as_alice, "/")) == 1


def test_secrets_and_what_has_no_model_or_no_end_stay_out(as_alice: Client) -> None:
    typed = "environment=HF_TOKEN%3Dhf_abcdefghijklmnopqrstuvwxyz0123456789"
    assert keep(as_alice, f"step=details&model={QWEN}&{typed}") == 204
    assert "hf_" not in WizardDraft.objects.get().query
    assert keep(as_alice, "step=workload&preset=code") == 409
    long = "&".join(f"host={number:050}" for number in range(LONGEST_DRAFT // 50))
    assert keep(as_alice, f"step=hardware&model=a/b&{long}") == 409
    assert WizardDraft.objects.count() == 1


def test_only_the_newest_few_are_kept(as_alice: Client, alice: User) -> None:
    WizardDraftFactory.create_batch(MOST_DRAFTS, user=alice)
    oldest = timezone.now() - timedelta(days=1)
    gone = WizardDraftFactory.create(user=alice, changed_at=oldest)

    keep(as_alice, "step=method&model=new/one")

    models = WizardDraft.objects.values_list("model", flat=True)
    assert len(models) == MOST_DRAFTS
    assert models[0] == "new/one"
    assert gone.model not in models
    alice.refresh_from_db()
    assert alice.unfinished_plans == MOST_DRAFTS


def test_what_was_submitted_is_no_longer_unfinished(
    as_alice: Client, alice: User, state: State
) -> None:
    WizardDraftFactory.create(user=alice, model=state["model"])
    as_alice.post("/plan/submit/", posted(as_alice, state))
    assert not WizardDraft.objects.exists()
