"""Putting a plan to the vote: exactly what was shown, once, by people who may."""

from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from deployments.models import ApprovalRequest, Deployment, Device, Host, User
from tests.plan_browser import PlainBrowser, one, pairs_of
from tests.views.conftest import logged_in
from tests.views.plan_fixtures import (  # noqa: F401 - fixtures
    at,
    complete_state,
    gpu_host,
    local_host,
    shipped_models,
)
from tests.wizard_values import GLM, QWEN

State = dict[str, object]
Posted = dict[str, str | list[str]]


def posted(client: Client, state: State, **more: object) -> Posted:
    """What the submit form of the review would send."""
    page = BeautifulSoup(client.get(at("review", state, **more)).content, "html.parser")
    form = one(page, "form[action='/plan/submit/']")
    pairs = list(pairs_of(form))
    lists = {key: [value for name, value in pairs if name == key] for key, _ in pairs}
    return {key: found[0] if len(found) == 1 else found for key, found in lists.items()}


def said(answer: object) -> str:
    page = BeautifulSoup(answer.content, "html.parser")  # type: ignore[attr-defined]
    summary = page.select("main [role=alert]")[0]
    return summary.get_text(" ", strip=True)


def test_the_request_holds_the_digest_that_was_shown(
    as_alice: Client, alice: User, state: State
) -> None:
    form = posted(as_alice, state, name="chat", comment="Faster")

    answer = as_alice.post("/plan/submit/", form | {"comment": "Faster"})

    made = ApprovalRequest.objects.get()
    assert answer.status_code == 302
    assert urlsplit(answer.headers["Location"]).path == f"/approvals/{made.pk}/"
    assert (made.digest, made.comment) == (form["digest"], "Faster")
    assert (made.submitted_by, made.plan.revision.deployment.name) == (alice, "chat")


def test_two_clicks_make_one_request(as_alice: Client, state: State) -> None:
    form = posted(as_alice, state)

    first = as_alice.post("/plan/submit/", form)
    second = as_alice.post("/plan/submit/", form)

    assert second.headers["Location"] == first.headers["Location"]
    assert ApprovalRequest.objects.count() == 1


def test_a_changed_fleet_shows_the_new_plan_and_keeps_the_comment(
    as_alice: Client, state: State, gpu: Host
) -> None:
    form = posted(as_alice, state)
    Device.objects.filter(host=gpu).update(memory_bytes=141 << 30)

    answer = as_alice.post("/plan/submit/", form | {"comment": "Why"})

    assert answer.status_code == 409
    assert "changed since this plan was shown" in said(answer)
    page = BeautifulSoup(answer.content, "html.parser")
    fresh = one(page, "form[action='/plan/submit/'] [name=digest]")
    assert fresh["value"] != form["digest"]
    assert one(page, "#id_comment")["value"] == "Why"
    assert not Deployment.objects.exists()

    again = as_alice.post("/plan/submit/", form | {"digest": str(fresh["value"])})
    assert again.status_code == 302


def test_members_without_the_role_are_refused(
    as_alice: Client, as_bob: Client, state: State
) -> None:
    form = posted(as_alice, state)

    answer = as_bob.post("/plan/submit/", form)

    assert answer.status_code == 403
    assert "This needs the role “Operator”" in said(answer)
    assert not Deployment.objects.exists()


def test_for_strangers_the_cluster_does_not_exist(
    as_alice: Client, as_charlie: Client, state: State
) -> None:
    form = posted(as_alice, state)

    answer = as_charlie.post("/plan/submit/", form)

    assert answer.status_code == 422
    assert "There is no cluster" in answer.content.decode()
    assert not Deployment.objects.exists()


def test_a_plan_with_errors_is_not_put_to_the_vote(
    as_alice: Client, state: State
) -> None:
    browser = PlainBrowser(as_alice, at("review", state, combined_devices=8))
    button = one(browser.page, "form[action='/plan/submit/'] button")
    form = one(browser.page, "form[action='/plan/submit/']")

    answer = as_alice.post("/plan/submit/", dict(pairs_of(form)))

    assert button.has_attr("disabled")
    assert answer.status_code == 409
    assert "The plan has errors" in said(answer)
    assert not Deployment.objects.exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tokens": "many"}, "Mend what is marked"),
        ({"model": "acme/none"}, "Mend what is marked"),
        ({"comment": "x" * 2001}, "The comment is too long"),
        ({"comment": "a\x00b"}, "Null characters are not allowed"),
        ({"digest": ""}, "The digest of the plan is missing"),
        ({"digest": "sha256:" + "0" * 65}, "no digest of a plan"),
        ({"combined_tp": "3", "combined_devices": "4"}, "do not divide"),
    ],
)
def test_what_cannot_be_read_submits_nothing(
    as_alice: Client, state: State, change: Posted, sentence: str
) -> None:
    form = posted(as_alice, state)

    answer = as_alice.post("/plan/submit/", form | change)

    assert answer.status_code == 422
    assert sentence in said(answer)
    assert not Deployment.objects.exists()


def test_a_platform_without_a_host_cannot_be_submitted(
    as_alice: Client, models: object
) -> None:
    form = {
        "model": GLM,
        "place": "platform",
        "platform": "ascend-a3",
        "digest": "sha256:" + "0" * 64,
    }

    answer = as_alice.post("/plan/submit/", form)

    assert answer.status_code == 409
    assert "cannot be deployed to" in said(answer)


def test_several_hosts_and_roles_survive_the_form(
    as_alice: Client, state: State, local: Host
) -> None:
    for number, host in enumerate(Host.objects.all(), 1):
        host.address = f"10.0.0.{number}"
        host.save()
    form = posted(
        as_alice,
        state | {"host": ["gpu-1", "local"]},
        topology="disaggregated",
        image_source="practice",
        prefill_host="local",
        decode_host="gpu-1",
    )

    answer = as_alice.post("/plan/submit/", form)

    assert answer.status_code == 302
    document = ApprovalRequest.objects.get().plan.revision.document
    assert [role["hosts"] for role in document["roles"]] == [["local"], ["gpu-1"]]


def test_submitting_needs_the_token_of_the_page(alice: User, state: State) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)

    answer = strict.post("/plan/submit/", posted(logged_in(alice), state))

    assert answer.status_code == 403
    assert not Deployment.objects.exists()


def test_reading_submits_nothing(as_alice: Client, state: State) -> None:
    assert as_alice.get(f"/plan/submit/?model={QWEN}").status_code == 405


def test_people_who_are_not_logged_in_submit_nothing(db: None) -> None:
    assert Client().post("/plan/submit/", {}).status_code == 302
