"""Upgrade the engine of a deployment: versions, what changes, and the prepared revision."""

from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from deployments.models import Cluster, Deployment, Host, ReleaseState, User
from deployments.planning.documents import from_document
from deployments.planning.engines.profile import find_profile
from deployments.planning.plan import Plan, Role
from deployments.planning.planner import make_plan
from deployments.planning.revision import RevisionSpec, RoleSpec
from deployments.selectors.planning_inputs import cluster_settings, host_snapshots
from deployments.services.engine_profiles import keep_profile
from tests.factories import (
    DeploymentFactory,
    DeviceFactory,
    HostFactory,
    TargetModelFactory,
)
from tests.plan_rows import released, stored
from tests.planning.builders import shipped
from tests.views.page_parts import attribute, words
from tests.views.pages import parsed
from tests.views.plan_fixtures import gpu_host  # noqa: F401 - fixture
from tests.wizard_values import DOCUMENTS, QWEN

OWN_IMAGE = "registry.example/vllm:v0.32.0-acme"


def planned(cluster: Cluster, gpu: Host, **changes: object) -> Plan:
    """Qwen3-8B on the host, as the planner plans it, on vLLM 0.32.0 unless said otherwise."""
    spec = RevisionSpec(
        name="chat",
        model=QWEN,
        engine="vllm==0.32.0",
        roles=(RoleSpec(role=Role.COMBINED, hosts=(gpu.name,)),),
    )
    return make_plan(
        replace(spec, **changes),  # type: ignore[arg-type]
        shipped(QWEN),
        host_snapshots([gpu]),
        cluster_settings(cluster),
    )


def deploy(
    cluster: Cluster, author: User, value: Plan, state: ReleaseState = ReleaseState.LIVE
) -> Deployment:
    """A deployment with one release of the plan."""
    TargetModelFactory.create(key=QWEN, document=DOCUMENTS[QWEN])
    row = DeploymentFactory.create(cluster=cluster, name="chat", created_by=author)
    released(stored(row, value), value, state)
    return row


@pytest.fixture(name="chat")
def running(cluster: Cluster, gpu: Host, alice: User) -> Deployment:
    """Qwen3-8B live on vLLM 0.32.0."""
    return deploy(cluster, alice, planned(cluster, gpu))


def page_of(row: Deployment, **query: str) -> str:
    return f"/deployments/{row.pk}/engine/?{urlencode(query)}"


def prepared(page: object) -> dict[str, list[str]]:
    """The state of the wizard behind the button."""
    address = attribute(page, ".lead a.button", "href")  # type: ignore[arg-type]
    return parse_qs(urlsplit(address).query)


def test_strangers_see_nothing(
    client: Client, as_charlie: Client, chat: Deployment
) -> None:
    assert client.get(page_of(chat)).status_code == 302
    assert as_charlie.get(page_of(chat)).status_code == 404
    assert as_charlie.post(page_of(chat)).status_code in {404, 405}


def test_versions_newest_first_finals_first_own_ones_too(
    as_alice: Client, chat: Deployment
) -> None:
    keep_profile(find_profile("vllm==0.32.0"), "acme")

    page = parsed(as_alice.get(page_of(chat)))

    groups = [
        (str(one["label"]), [str(each["value"]) for each in one.select("option")])
        for one in page.select("#id_to optgroup")
    ]
    assert [title for title, _names in groups] == ["Releases", "Own profiles"]
    assert groups[0][1][:2] == ["vllm==0.33.0", "vllm==0.32.0"]
    assert groups[1][1] == ["vllm==0.32.0+acme"]
    assert attribute(page, "#id_to option[selected]", "value") == "vllm==0.33.0"


def test_the_newer_version_is_planned_and_its_revision_prepared(
    as_alice: Client, chat: Deployment
) -> None:
    answer = as_alice.get(page_of(chat))
    page = parsed(answer)
    upgrade = answer.context["upgrade"]

    assert upgrade.after.engine_version == "0.33.0"
    assert upgrade.after.revision["number"] == 2
    assert "vllm/vllm-openai:v0.33.0" in words(page, '[aria-labelledby="h-around"]')
    assert "v0.33.0" in words(page, "pre ins")
    state = prepared(page)
    assert (state["engine"], state["name"]) == (["vllm==0.33.0"], ["chat"])
    assert state["step"] == ["review"]
    review = as_alice.get(attribute(page, ".lead a.button", "href"))
    assert review.context["plan"].digest == upgrade.after.digest


def test_a_method_that_the_version_no_longer_runs_is_said(
    as_alice: Client, cluster: Cluster, gpu: Host, alice: User
) -> None:
    value = planned(cluster, gpu)
    replica = value.replicas[0]
    command = (
        *("vllm", "serve", "/models/target", "--speculative-config"),
        '{"method":"medusa","model":"/models/m","num_speculative_tokens":3}',
    )
    container = replace(replica.container, command=command)
    old = replace(value, replicas=(replace(replica, container=container),))
    found = from_document(RevisionSpec, old.revision)
    document = {**old.revision, "engine": "vllm==0.32.0", "checkpoint": "no-such"}
    row = deploy(cluster, alice, replace(old, revision=document))

    answer = as_alice.get(page_of(row, to="vllm==0.33.0"))

    assert found.engine == "vllm==0.32.0"
    assert answer.status_code == 200
    assert "cannot be planned" in words(parsed(answer), ".verdict")
    lines = {one.name: one for one in answer.context["effects"]}
    assert str(lines["medusa"].word) == "removed"
    assert prepared(parsed(answer))["step"] == ["details"]


def test_extra_flags_that_go_are_findings_and_lead_to_the_details(
    as_alice: Client, cluster: Cluster, gpu: Host, alice: User
) -> None:
    flags = (("--disable-log-requests", ""),)
    value = planned(cluster, gpu, engine="vllm==0.9.2", extra_flags=flags)
    row = deploy(cluster, alice, value)

    answer = as_alice.get(page_of(row, to="vllm==0.33.0"))

    lines = {one.name: one for one in answer.context["effects"]}
    assert "--no-enable-log-requests" in lines["--disable-log-requests"].sentence
    assert any(
        "--disable-log-requests" in one.message
        for one in answer.context["upgrade"].after.findings
    )
    assert "no longer taken" in words(parsed(answer), ".verdict")


def test_the_tag_of_an_own_image_follows_and_a_typed_one_wins(
    as_alice: Client, cluster: Cluster, gpu: Host, alice: User
) -> None:
    row = deploy(cluster, alice, planned(cluster, gpu, image=OWN_IMAGE))
    typed = "registry.example/vllm:next"

    followed = prepared(parsed(as_alice.get(page_of(row))))
    chosen = prepared(parsed(as_alice.get(page_of(row, image=typed))))

    assert followed["image"] == ["registry.example/vllm:v0.33.0-acme"]
    assert chosen["image"] == [typed]


def test_ascend_says_cann_and_driver_of_the_image(
    as_alice: Client, cluster: Cluster, alice: User
) -> None:
    host = HostFactory.create(
        cluster=cluster, name="a3-1", platform="ascend-a3", model_root="/data/models"
    )
    for number in range(16):
        DeviceFactory.create(host=host, number=number)
    row = deploy(cluster, alice, planned(cluster, host, engine="vllm-ascend==0.18.0"))

    answer = as_alice.get(page_of(row, to="vllm-ascend==0.23.0"))

    facts = {one.label: one for one in answer.context["surroundings"]}
    cann = facts["CANN in the image"]
    assert (cann.now, cann.then) == ("8.5.1", "9.1.0")
    driver = facts["Driver (HDK) that the default graph mode needs"]
    assert driver.then == "25.5.1 or later"
    codes = {one.code for one in answer.context["upgrade"].after.findings}
    assert "DRIVER_NEEDED" in codes


def test_an_own_profile_needs_the_image_that_holds_it(
    as_alice: Client, chat: Deployment
) -> None:
    keep_profile(find_profile("vllm==0.33.0"), "acme")
    to = "vllm==0.33.0+acme"

    without = as_alice.get(page_of(chat, to=to))
    named = as_alice.get(page_of(chat, to=to, image=OWN_IMAGE))

    assert "name the image that holds it" in words(parsed(without), ".verdict")
    assert named.context["upgrade"].after.engine_version == "0.33.0+acme"
    assert prepared(parsed(named))["engine"] == [to]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"to": "vllm==9.9.9"}, "no profile of “vllm==9.9.9”"),
        ({"to": "vllm-ascend==0.23.0"}, "choose one of the list"),
        ({"image": "no such image"}, "write an image reference"),
    ],
)
def test_a_wrong_address_is_answered_in_a_sentence(
    as_alice: Client, chat: Deployment, query: dict[str, str], said: str
) -> None:
    answer = as_alice.get(page_of(chat, **query))

    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_viewers_compare_and_prepare_nothing(as_bob: Client, chat: Deployment) -> None:
    answer = as_bob.get(page_of(chat))

    assert answer.status_code == 200
    assert answer.context["upgrade"].after is not None


def test_nothing_planned_and_a_model_that_is_gone(
    as_alice: Client, cluster: Cluster, chat: Deployment, alice: User
) -> None:
    empty = DeploymentFactory.create(cluster=cluster, name="empty", created_by=alice)

    bare = as_alice.get(page_of(empty))
    cluster.team.models.all().delete()
    type(TargetModelFactory.build()).objects.all().delete()
    gone = as_alice.get(page_of(chat))

    assert (bare.status_code, gone.status_code) == (422, 422)
    assert "Nothing was planned" in bare.content.decode()
    assert QWEN in gone.content.decode()


def test_the_page_takes_few_queries(
    as_alice: Client,
    chat: Deployment,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    keep_profile(find_profile("vllm==0.33.0"), "acme")
    query = {"to": "vllm==0.33.0+acme", "image": OWN_IMAGE}

    with django_assert_max_num_queries(12):
        answer = as_alice.get(page_of(chat, **query))

    assert len(answer.content) < 150_000


def test_the_deployment_leads_here(as_alice: Client, chat: Deployment) -> None:
    page = parsed(as_alice.get(f"/deployments/{chat.pk}/configuration/"))

    assert page.select_one(f'a[href="/deployments/{chat.pk}/engine/"]')
