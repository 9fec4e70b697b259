"""Extra flags: abbreviations and twins are resolved before they are judged."""

import pytest

from deployments.planning.errors import PlanningError
from tests.planning.builders import codes, combined, gpu, plan

LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def _codes(flag: str, value: str = "") -> set[str]:
    made = plan(combined(LLAMA, "gpu-1", extra_flags=((flag, value),)), gpu())
    return {code for code in codes(made) if code.startswith("FLAG_")}


@pytest.mark.parametrize(
    "flag",
    [
        "--trust-remote-code",
        "--trust_remote_code",
        "--trust-remote",
        "--no-trust-remote-code",
        "--config",
        "--middleware",
        "--api-key",
        "--api-k",
        "--allowed-local-media-path",
        "--tool-parser-plugin",
        "--hf-overrides.a",
        "--worker-cls=evil",
        "--disable-log-stats",
    ],
)
def test_dangerous_flags_are_forbidden_in_every_spelling(flag: str) -> None:
    assert _codes(flag, "x") == {"FLAG_FORBIDDEN"}


@pytest.mark.parametrize(
    "flag",
    [
        "--model",
        "--port",
        "-tp",
        "--tensor_parallel_size",
        "--speculative-config.method",
        "-sc",
        "--spec-method",
        "--max-num-seqs",
        "--kv-transfer-config",
        "--headless",
    ],
)
def test_flags_of_the_plan_itself_are_managed(flag: str) -> None:
    assert _codes(flag, "x") == {"FLAG_MANAGED"}


def test_flags_that_the_catalog_sets_are_managed() -> None:
    made = plan(
        combined(
            "zai-org/GLM-5.2", "gpu-1", extra_flags=(("--tool-call-parser", "x"),)
        ),
        gpu(),
    )
    assert "FLAG_MANAGED" in codes(made)


@pytest.mark.parametrize("flag", ["--bogus", "--num-speculative-tokens", "bogus", "-z"])
def test_flags_that_the_version_does_not_know_are_unknown(flag: str) -> None:
    assert _codes(flag, "1") == {"FLAG_UNKNOWN"}


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--enable-chunked-prefill", ""),
        ("--no-enable-prefix-caching", ""),
        ("--seed", "7"),
    ],
)
def test_harmless_flags_reach_the_command(flag: str, value: str) -> None:
    made = plan(combined(LLAMA, "gpu-1", extra_flags=((flag, value),)), gpu())
    assert made.can_submit
    words = made.replicas[0].container.command
    assert words[words.index(flag) :][: 1 + bool(value)] == (
        flag,
        *([value] if value else []),
    )


def test_dollar_in_a_value_is_refused() -> None:
    assert _codes("--seed", "${HOST_ADDRESS}") == {"FLAG_VALUE_HAS_DOLLAR"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [("--trust-remote-code", {"FLAG_VALUE_IS_FLAG"}), ("-1", set())],
)
def test_value_that_is_a_flag_is_refused(value: str, expected: set[str]) -> None:
    assert _codes("--seed", value) == expected


@pytest.mark.parametrize(
    ("flag", "told"),
    [
        (
            "--enable-prefix-catching",
            "The nearest flag that it knows is --enable-prefix",
        ),
        (
            "--disable-log-requests",
            "nearest flag that it knows is --no-enable-log-requests",
        ),
        ("--flag-from-nowhere-at-all", "Check the spelling"),
    ],
)
def test_unknown_flag_names_the_nearest_known_one(flag: str, told: str) -> None:
    made = plan(combined(LLAMA, "gpu-1", extra_flags=((flag, ""),)), gpu())
    finding = next((one for one in made.findings if one.code == "FLAG_UNKNOWN"), None)
    assert finding is not None
    assert told in finding.fix


def test_unknown_version_names_the_nearest_known_one() -> None:
    with pytest.raises(
        PlanningError, match=r"0\.8\.5 to 0\.33\.0, the nearest is 0\.32\.0"
    ):
        plan(combined(LLAMA, "gpu-1", engine="vllm==0.32.7"), gpu())
