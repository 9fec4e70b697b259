"""A deployment spec leaves the wizard and comes back with every answer."""

from dataclasses import replace

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from deployments.forms.wizard.draft import export_hosts
from deployments.forms.wizard.spec import address_at, spec_from
from deployments.forms.wizard.specification import address_of_read, address_of_text
from deployments.models import TeamRole
from deployments.planning.deployment_spec import parse_deployment_spec
from deployments.planning.errors import PlanningError
from deployments.planning.revision import RevisionSpec
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.spec_document import settled, spec_document
from deployments.planning.spec_text import read_document_text, written_spec
from deployments.services.catalog import load_shipped_catalog
from tests.factories import TeamFactory, member
from tests.forms.test_wizard_state import CLUSTER, OFFERED, specs
from tests.wizard_values import GLM, HOSTS, form_of

GPUS = tuple(
    HostSnapshot(name=name, platform="nvidia", device="H100", device_count=8)
    for name in HOSTS
)
places = st.fixed_dictionaries(
    {
        "place": st.just("platform"),
        "platform": st.sampled_from(["nvidia", "ascend-a3", "ascend-a2", "cpu"]),
        "platform_hosts": st.integers(1, 3).map(str),
    },
    optional={
        "platform_devices": st.integers(0, 64).map(str),
        "platform_device": st.sampled_from(["H200", 'a "name": yes']),
        "platform_memory": st.integers(1, 2048).map(str),
        "platform_architecture": st.sampled_from(["x86_64", "aarch64"]),
    },
)


def read(written: str) -> tuple[RevisionSpec, tuple[HostSnapshot, ...]]:
    spec, hosts, _settings = parse_deployment_spec(read_document_text(written))
    return settled(spec), hosts


@given(specs())
def test_every_revision_on_a_cluster_survives_the_file(spec: RevisionSpec) -> None:
    written = written_spec(spec_document(spec, GPUS, "serving/prod"))

    back, hosts = read(written)
    address = address_of_read(back, hosts, CLUSTER.row, OFFERED)

    assert back == settled(spec)
    shown = spec_from(form_of(OFFERED, address))
    assert shown is not None
    assert settled(shown) == settled(spec)
    assert written_spec(spec_document(back, GPUS, "serving/prod")) == written_spec(
        spec_document(settled(spec), GPUS, "serving/prod")
    )


@given(specs(), places)
def test_every_answer_for_a_platform_survives_the_file(
    spec: RevisionSpec, place: dict[str, str]
) -> None:
    wanted = min(int(place["platform_hosts"]), len(HOSTS))
    names = tuple(f"host-{rank}" for rank in range(1, wanted + 1))
    taken = dict(zip(HOSTS, (*names, *names, *names), strict=False))
    roles = tuple(
        replace(role, hosts=tuple(dict.fromkeys(taken[name] for name in role.hosts)))
        for role in spec.roles
    )
    if len(roles) == 1:
        roles = (replace(roles[0], hosts=names),)
    form = form_of(OFFERED, address_at(replace(spec, roles=roles), place))
    answers, hosts = spec_from(form), export_hosts(form)
    assert answers is not None

    back, fleet = read(written_spec(spec_document(answers, hosts)))
    again = form_of(OFFERED, address_of_read(back, fleet, None, OFFERED))

    shown = spec_from(again)
    assert shown is not None
    assert settled(shown) == settled(answers)
    assert export_hosts(again) == hosts


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"address": "10.0.0.1"}, "all alike"),
        ({"model_root": "/data"}, "all alike"),
        ({"device_memory_bytes": 1000}, "whole number of GiB"),
    ],
)
def test_what_the_wizard_cannot_show_is_refused(
    change: dict[str, object], said: str
) -> None:
    host = replace(GPUS[0], **change)  # type: ignore[arg-type]
    spec = RevisionSpec(name="x", model=GLM, roles=())

    with pytest.raises(PlanningError, match=said):
        address_of_read(spec, (host,), None, OFFERED)


SPEC = """
name: glm-52-chat
model: GLM-5.2
topology: disaggregated
roles: {prefill: {hosts: 1, num_speculative_tokens: 1}, decode: {num_speculative_tokens: 3}}
fleet: [{platform: ascend-a3, count: 2}]
extra_flags: {seed: 7}
limits: {gpu_memory_utilization: 0.92}
"""


def test_a_spec_opens_the_wizard_and_its_review_gives_it_back(
    admin_client: Client,
) -> None:
    load_shipped_catalog()

    opened = admin_client.post("/plan/spec/", {"text": SPEC})

    assert opened.status_code == 302
    review = admin_client.get(opened.headers["Location"])
    assert review.status_code == 200
    written = review.context["yaml"]
    again = admin_client.post("/plan/spec/", {"text": written})
    assert again.headers["Location"] == opened.headers["Location"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Give the spec once"),
        ("name: [", "cannot be read at line"),
        ("name: x", "cannot be read: model"),
        (SPEC.replace("GLM-5.2", "GPT-9"), "no model"),
        (SPEC + "cluster: nobody/prod\n", "There is no cluster"),
        (SPEC + "colour: red\n", "colour"),
    ],
)
def test_a_bad_spec_gives_one_sentence_and_keeps_the_text(
    text: str, said: str, admin_client: Client
) -> None:
    load_shipped_catalog()

    answer = admin_client.post("/plan/spec/", {"text": text})

    assert answer.status_code == 422
    assert said in answer.content.decode()


@pytest.mark.django_db
def test_sharing_cards_is_a_matter_of_clusters() -> None:
    load_shipped_catalog()
    person = member(TeamFactory.create(), "erin", TeamRole.OPERATOR)
    with pytest.raises(PlanningError, match="split_cards is decided by the policy"):
        address_of_text(person, f"{SPEC}split_cards: true\n")


@pytest.mark.django_db
def test_where_logs_go_is_a_matter_of_clusters() -> None:
    load_shipped_catalog()
    team = TeamFactory.create()
    person = member(team, "erin", TeamRole.OPERATOR)
    with pytest.raises(PlanningError, match="log_root is decided by the policy"):
        address_of_text(person, f"{SPEC}log_root: /data/logs\n")
    with pytest.raises(PlanningError, match="log_root is the directory on every host"):
        address_of_text(person, f"{SPEC}log_root: data/logs\n")
