"""The endpoint's API key: named in the revision, asked for by the files, its value nowhere."""

import json
from dataclasses import replace

import pytest

from deployments.planning.canonical import canonical_json
from deployments.planning.errors import PlanningError
from deployments.planning.importing.reader import read_launches
from deployments.planning.launch.compose import compose_document, compose_file
from deployments.planning.launch.engine_api import create_body
from deployments.planning.launch.files import launch_files
from deployments.planning.launch.script import launch_script
from deployments.planning.plan import Plan, Role, Severity, plan_from_document
from deployments.planning.planner import make_plan
from deployments.planning.revision import RevisionSpec
from deployments.planning.rules.endpoint import is_public
from deployments.planning.snapshot import ClusterSettings, HostSnapshot
from tests.planning.builders import (
    PRACTICE,
    a3,
    apart,
    combined,
    cpu,
    decode,
    gpu,
    prefill,
    shipped,
)

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
KNOWN = ClusterSettings(secrets=(("chat-key", 3),))


def _planned(
    spec: RevisionSpec, *hosts: HostSnapshot, settings: ClusterSettings = KNOWN
) -> Plan:
    return make_plan(spec, shipped(spec.model), hosts, settings)


def _codes(plan: Plan) -> dict[str, Severity]:
    return {one.code: one.severity for one in plan.findings}


def test_a_plan_names_the_secret_with_its_version_and_reads_back() -> None:
    plan = _planned(combined(LLAMA, "gpu-1", api_key="chat-key"), gpu())
    (secret,) = plan.replicas[0].container.secrets
    assert (secret.variable, secret.secret, secret.version) == (
        "VLLM_API_KEY",
        "chat-key",
        3,
    )
    assert plan.can_submit
    assert plan_from_document(json.loads(canonical_json(plan.document))) == plan


def test_another_version_is_another_plan() -> None:
    spec = combined(LLAMA, "gpu-1", api_key="chat-key")
    newer = replace(KNOWN, secrets=(("chat-key", 4),))
    assert _planned(spec, gpu()).digest != _planned(spec, gpu(), settings=newer).digest


def test_files_ask_for_the_key_and_the_engine_gets_it_from_the_executor() -> None:
    plan = _planned(combined(LLAMA, "gpu-1", api_key="chat-key"), gpu())
    container = plan.replicas[0].container
    service = compose_document([container])["services"][container.name]  # type: ignore[index,call-overload]
    assert service["environment"]["VLLM_API_KEY"] == (  # type: ignore[index,call-overload]
        "${VLLM_API_KEY:?Set VLLM_API_KEY in .env}"
    )
    script = launch_script([container])
    assert ': "${VLLM_API_KEY:?Set VLLM_API_KEY in .env: ' in script
    assert "--env VLLM_API_KEY \\" in script
    assert "VLLM_API_KEY=" in dict(launch_files(plan))["gpu-1/.env.example"]
    body = create_body(container, secrets={"VLLM_API_KEY": "k-1"})
    assert "VLLM_API_KEY=k-1" in body["Env"]  # type: ignore[operator]
    for rendered in (compose_file([container]), script):
        (read,) = read_launches(rendered).launches
        assert tuple(word.text for word in read.words) == container.command


def test_a_revision_without_a_key_says_nothing_of_secrets() -> None:
    plan = _planned(combined(LLAMA, "gpu-1"), gpu())
    assert plan.replicas[0].container.secrets == ()
    container = plan.document["replicas"][0]["container"]  # type: ignore[index,call-overload]
    assert "secrets" not in container  # type: ignore[operator]


@pytest.mark.parametrize("name", ["sk-Abc/def", "Key", "a" * 41, "", "-a"])
def test_a_key_in_the_place_of_its_name_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(PlanningError) as refusal:
        _planned(combined(LLAMA, "gpu-1", api_key=name), gpu())
    assert "never written into a revision" in str(refusal.value)
    assert not name or name not in str(refusal.value)


def test_an_unknown_secret_is_an_error_on_a_cluster_and_none_for_files() -> None:
    spec = combined(LLAMA, "gpu-1", api_key="other")
    assert _codes(_planned(spec, gpu()))["API_KEY_UNKNOWN"] is Severity.ERROR
    files = _planned(spec, gpu(), settings=ClusterSettings(files_only=True))
    assert "API_KEY_UNKNOWN" not in _codes(files)
    assert files.replicas[0].container.secrets[0].version is None


@pytest.mark.parametrize(
    ("address", "key", "found"),
    [
        ("8.8.4.4", None, True),
        ("2a00:1450::1", None, True),
        ("8.8.4.4", "off", False),
        ("8.8.4.4", "chat-key", False),
        ("10.1.0.1", None, False),
        ("192.168.7.7", None, False),
        ("100.64.0.9", None, False),
        ("127.0.0.1", None, False),
        ("fd00::1", None, False),
        ("gpu-1.example", None, False),
        (None, None, False),
    ],
)
def test_only_a_known_public_address_without_a_key_is_worth_a_warning(
    address: str | None, key: str | None, *, found: bool
) -> None:
    plan = _planned(combined(LLAMA, "gpu-1", api_key=key), gpu(address=address))
    assert ("PUBLIC_PORT_WITHOUT_KEY" in _codes(plan)) is found
    assert is_public(address or "") is (address in {"8.8.4.4", "2a00:1450::1"})


def test_practice_on_a_public_address_is_no_finding() -> None:
    spec = combined(LLAMA, "local", image=PRACTICE)
    plan = _planned(spec, cpu(address="8.8.4.4"))
    assert "PUBLIC_PORT_WITHOUT_KEY" not in _codes(plan)


def test_the_proxy_of_vllm_ascend_sends_the_key_and_asks_for_none() -> None:
    spec = apart(
        "zai-org/GLM-5.2",
        prefill("a3-01"),
        decode("a3-02"),
        checkpoint="w8a8",
        api_key="chat-key",
    )
    plan = _planned(spec, a3("a3-01", "10.0.0.1"), a3("a3-02", "10.0.0.2"))
    secrets = {
        one.role: [secret.variable for secret in one.container.secrets]
        for one in plan.replicas
    }
    assert secrets[Role.ROUTER] == ["OPENAI_API_KEY"]
    assert secrets[Role.DECODE] == ["VLLM_API_KEY"]
    assert _codes(plan)["ROUTER_ASKS_NO_KEY"] is Severity.WARNING
    router = plan.replicas[-1].container
    assert 'export OPENAI_API_KEY="$VLLM_API_KEY"' in launch_script([router])
    assert "OPENAI_API_KEY" in compose_file([router])


def test_vllm_router_takes_no_key() -> None:
    spec = apart(LLAMA, prefill("gpu-1"), decode("gpu-2"), api_key="chat-key")
    plan = _planned(spec, gpu(address="10.0.0.1"), gpu("gpu-2", address="10.0.0.2"))
    assert _codes(plan)["API_KEY_STOPS_AT_ROUTER"] is Severity.ERROR
    assert not plan.can_submit
