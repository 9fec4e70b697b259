"""The router of prefill and decode apart: the program, where it listens, whom it reaches."""

from dataclasses import replace

from deployments.planning.container import NetworkMode
from deployments.planning.launch.compose import compose_document
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan, PlannedReplica, Role, plan_from_document
from deployments.planning.planner import make_plan
from deployments.planning.snapshot import ClusterSettings
from tests.planning.builders import (
    PRACTICE,
    a3,
    apart,
    codes,
    combined,
    cpu,
    decode,
    gpu,
    plan,
    prefill,
    shipped,
)
from tests.planning.cases import glm_52, kimi_k26

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
ANYWHERE = "0.0.0.0"  # noqa: S104 - what the command says, nothing binds
EXAMPLES = "/vllm-workspace/vllm-ascend/examples/disaggregated_prefill_v1"


def _router(made: Plan) -> PlannedReplica:
    (router,) = [one for one in made.replicas if one.role is Role.ROUTER]
    return router


def _gpus(**second: object) -> Plan:
    spec = apart(LLAMA, prefill("gpu-1"), decode("gpu-2"))
    other = gpu("gpu-2", **{"address": "10.0.1.2", **second})
    return plan(spec, gpu(), other, files_only=True)


def test_ascend_runs_the_proxy_of_its_own_image_in_front_of_every_head() -> None:
    router = _router(kimi_k26())
    assert router.container.command == (
        "python3",
        f"{EXAMPLES}/load_balance_proxy_server_example.py",
        *("--host", ANYWHERE, "--port", "8000"),
        *("--prefiller-hosts", "10.0.0.1", "--prefiller-ports", "8100"),
        *("--decoder-hosts", "10.0.0.2", "--decoder-ports", "8200"),
    )
    assert router.container.image.reference == "quay.io/ascend/vllm-ascend:v0.23.0-a3"
    assert (router.health_path, router.lists_models) == ("/healthcheck", True)
    assert (router.devices, router.container.devices) == ((), ())
    assert router.container.mounts == ()
    assert router.container.cap_add == ()
    assert router.host == "a3-02"


def test_vllm_runs_its_router_with_the_connectors_name() -> None:
    router = _router(_gpus())
    assert router.container.command == (
        *("vllm-router", "--policy", "round_robin", "--vllm-pd-disaggregation"),
        *("--kv-connector", "nixl"),
        *("--prefill", "http://10.0.1.1:8100", "--decode", "http://10.0.1.2:8200"),
        *("--host", ANYWHERE, "--port", "8000"),
    )
    assert router.container.image.reference == "vllm/vllm-router:v0.1.16"
    assert router.container.network_mode is NetworkMode.BRIDGE
    assert (router.health_path, router.health_port) == ("/health", 8000)


def test_layerwise_connector_gets_its_proxy_at_the_hosts_own_address() -> None:
    known = shipped("zai-org/GLM-5.2")
    serving = tuple(
        replace(one, kv_connector="MooncakeLayerwiseConnector") for one in known.serving
    )
    spec = apart(known.key, prefill("a"), decode("b"))
    hosts = [a3("a"), a3("b", "10.0.0.2")]
    made = make_plan(spec, replace(known, serving=serving), hosts, ClusterSettings())
    router = _router(made)
    assert router.container.command[1].endswith(
        "load_balance_proxy_layerwise_server_example.py"
    )
    assert router.container.command[2:6] == ("--host", "10.0.0.2", "--port", "8000")
    assert router.container.network_mode is NetworkMode.HOST
    assert not router.lists_models
    assert router.container.health_check is not None
    assert "10.0.0.2:8000/healthcheck" in router.container.health_check.test[-1]


def test_router_keeps_off_ports_that_are_taken() -> None:
    assert _router(_gpus(taken_ports=(8000,))).health_port == 8001


def test_unknown_addresses_behind_the_router_are_variables_with_a_finding() -> None:
    spec = apart(LLAMA, prefill("gpu-1"), decode("gpu-2"))
    made = plan(spec, gpu(address=None), gpu("gpu-2", address=None), files_only=True)
    command = _router(made).container.command
    assert "http://${PREFILL_0_ADDRESS}:8100" in command
    assert "http://${HOST_ADDRESS}:8200" in command
    assert "HOST_ADDRESS_UNKNOWN" in codes(made)
    environment = dict(launch_files(made))["gpu-2/.env.example"]
    assert "PREFILL_0_ADDRESS=" in environment


def test_router_comes_last_and_is_rendered_on_its_host() -> None:
    made = glm_52()
    assert [one.role for one in made.replicas][-1] is Role.ROUTER
    here = [one.container for one in made.replicas if one.host == "a3-02"]
    services = compose_document(here)["services"]
    assert isinstance(services, dict)
    assert "chat-r1-router-0" in services
    script = dict(launch_files(made))["a3-02/launch.sh"]
    assert script.rindex("chat-r1-router-0") > script.rindex("chat-r1-decode-0")


def test_plan_names_the_router_as_the_endpoint() -> None:
    finding = next(one for one in glm_52().findings if one.code == "ROUTER_PLANNED")
    assert "router on a3-02, port 8000" in finding.message
    assert finding.evidence.startswith("python3 /vllm-workspace/")


def test_nothing_to_route_means_no_router() -> None:
    made = plan(combined(LLAMA, "gpu-1"), gpu())
    assert Role.ROUTER not in [one.role for one in made.replicas]


def test_the_practice_image_routes_on_its_own_host_without_any_address() -> None:
    spec = apart(LLAMA, prefill("local"), decode("local"), image=PRACTICE)
    made = plan(spec, cpu())
    router = _router(made).container
    assert router.image.reference == PRACTICE
    assert router.network_mode is NetworkMode.HOST
    assert "http://127.0.0.1:8100" in router.command
    assert "http://127.0.0.1:8200" in router.command
    assert made.can_submit


def test_the_practice_router_needs_the_address_of_other_hosts() -> None:
    spec = apart(LLAMA, prefill("x"), decode("y"), image=PRACTICE)
    made = plan(spec, cpu("x"), cpu("y"))
    assert "http://${PREFILL_0_ADDRESS}:8100" in _router(made).container.command
    assert "HOST_ADDRESS_UNKNOWN" in codes(made)


def test_plans_stored_before_there_were_routers_read_back() -> None:
    document = plan(combined(LLAMA, "gpu-1"), gpu()).document
    replicas = document["replicas"]
    assert isinstance(replicas, list)
    assert isinstance(replicas[0], dict)
    assert "health_path" not in replicas[0]
    assert plan_from_document(document).replicas[0].health_path == "/health"
    assert plan_from_document(glm_52().document) == glm_52()
