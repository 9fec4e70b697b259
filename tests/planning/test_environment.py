"""Environment variables of a revision: they reach the engines, and what has no place there is refused."""

import pytest

from deployments.planning.canonical import Json
from deployments.planning.deployment_spec import parse_deployment_spec
from deployments.planning.environment import looks_secret
from deployments.planning.errors import PlanningError
from deployments.planning.plan import Plan, Role, Severity
from deployments.planning.spec_document import spec_document
from tests.planning.builders import (
    PRACTICE,
    a3,
    apart,
    combined,
    cpu,
    decode,
    gpu,
    plan,
    prefill,
)

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def _with(*environment: tuple[str, str]) -> Plan:
    return plan(combined(LLAMA, "gpu-1", environment=environment), gpu())


def _errors(made: Plan) -> list[str]:
    errors = (one for one in made.findings if one.severity is Severity.ERROR)
    return [one.code for one in errors if one.code.startswith("ENVIRONMENT")]


def test_a_variable_reaches_the_engine_and_the_order_does_not_matter() -> None:
    one = _with(("VLLM_LOGGING_LEVEL", "DEBUG"), ("NO_PROXY", "a,b"))
    other = _with(("NO_PROXY", "a,b"), ("VLLM_LOGGING_LEVEL", "DEBUG"))
    assert one.digest == other.digest
    environment = dict(one.replicas[0].container.environment)
    assert environment["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert environment["NO_PROXY"] == "a,b"
    assert _errors(one) == []


def test_a_documented_value_can_be_changed_but_not_that_of_the_platform() -> None:
    spec = combined(
        "deepseek-ai/DeepSeek-V4-Flash",
        "a3-01",
        environment=(("OMP_NUM_THREADS", "7"), ("ASCEND_PROCESS_LOG_PATH", "/logs")),
    )
    made = plan(spec, a3("a3-01"))
    environment = dict(made.replicas[0].container.environment)
    assert environment["OMP_NUM_THREADS"] == "7"
    assert _errors(made) == ["ENVIRONMENT_MANAGED"]


def test_a_router_gets_none_of_it() -> None:
    spec = apart(
        "zai-org/GLM-5.2",
        prefill("a3-01"),
        decode("a3-02"),
        checkpoint="w8a8",
        environment=(("VLLM_LOGGING_LEVEL", "DEBUG"),),
    )
    made = plan(spec, a3("a3-01", "10.0.0.1"), a3("a3-02", "10.0.0.2"))
    having = {
        one.role
        for one in made.replicas
        if "VLLM_LOGGING_LEVEL" in dict(one.container.environment)
    }
    assert having == {Role.PREFILL, Role.DECODE}


def test_practice_takes_variables_too() -> None:
    spec = combined(
        LLAMA, "local", image=PRACTICE, environment=(("PRACTICE_TRAFFIC", "4"),)
    )
    made = plan(spec, cpu())
    assert made.replicas[0].container.environment == (("PRACTICE_TRAFFIC", "4"),)


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("LD_PRELOAD", "/x.so", "ENVIRONMENT_FORBIDDEN"),
        ("PYTHONPATH", "/x", "ENVIRONMENT_FORBIDDEN"),
        ("CUDA_VISIBLE_DEVICES", "0", "ENVIRONMENT_FORBIDDEN"),
        ("ASCEND_RT_VISIBLE_DEVICES", "0", "ENVIRONMENT_FORBIDDEN"),
        ("HF_ENDPOINT", "https://mirror.example", "ENVIRONMENT_FORBIDDEN"),
        ("VLLM_API_KEY", "abcdefgh", "ENVIRONMENT_MANAGED"),
        ("VLLM_CACHE_ROOT", "/x", "ENVIRONMENT_MANAGED"),
        ("HF_TOKEN", "abcdefgh", "ENVIRONMENT_HOLDS_SECRET"),
        ("S3_SECRET", "abcdefgh", "ENVIRONMENT_HOLDS_SECRET"),
        ("OTHER", "sk-abcdefgh", "ENVIRONMENT_HOLDS_SECRET"),
        ("OTHER", "a$B", "ENVIRONMENT_HAS_DOLLAR"),
    ],
)
def test_what_has_no_place_there_is_an_error(name: str, value: str, code: str) -> None:
    made = _with((name, value))
    assert _errors(made) == [code]
    assert not made.can_submit


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("TOKENIZERS_PARALLELISM", "false", False),
        ("VLLM_MAX_TOKENS", "12", False),
        ("CACHE_KEY", "17", False),
        ("MY_KEY", "abc", True),
        ("DB_PASSWORD", "x", True),
        ("X", "hf_abcdef", True),
        ("X", "skip", False),
    ],
)
def test_secrets_are_told_by_name_or_value(
    name: str, value: str, *, secret: bool
) -> None:
    assert looks_secret(name, value) is secret


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ((("1A", "x"),), "no name of an environment variable"),
        ((("A B", "x"),), "no name of an environment variable"),
        ((("A", "x"), ("A", "y")), "stands twice"),
        ((("A", "x" * 2001),), "longer than 2000"),
        (tuple((f"A{n}", "x") for n in range(41)), "keep it to 40"),
    ],
)
def test_what_is_no_environment_is_refused(
    environment: tuple[tuple[str, str], ...], told: str
) -> None:
    with pytest.raises(PlanningError, match=told):
        _with(*environment)


def test_a_spec_file_carries_it_and_wants_text() -> None:
    base: dict[str, Json] = {
        "name": "chat",
        "model": LLAMA,
        "fleet": [{"platform": "nvidia"}],
    }
    given: dict[str, Json] = {"OMP_NUM_THREADS": 7, "NO_PROXY": "a"}
    spec, _hosts, _settings = parse_deployment_spec({**base, "environment": given})
    assert spec.environment == (("NO_PROXY", "a"), ("OMP_NUM_THREADS", "7"))
    written = spec_document(spec, (), None)["environment"]
    assert written == {"NO_PROXY": "a", "OMP_NUM_THREADS": "7"}
    with pytest.raises(PlanningError, match="write it in quotes"):
        parse_deployment_spec({**base, "environment": {"A": True}})
