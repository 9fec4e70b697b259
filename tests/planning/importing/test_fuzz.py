"""Fuzzing: no input makes the reader, the rules or the fixer raise, hang or run anything."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deployments.planning.importing.limits import UnreadableLaunchError
from deployments.planning.rules.launch.fixer import fixed_text
from deployments.planning.rules.launch.lint import LintReport, lint
from deployments.planning.rules.launch.settings import LintSettings

PIECES = [
    "vllm serve ", "M ", "python -m vllm.entrypoints.openai.api_server ", "docker run ", "-e A=b ",
    "vllm/vllm-openai:v0.32.0 ", "quay.io/ascend/vllm-ascend:v0.23.0-a3 ", "--speculative-config ",
    '\'{"method":"mtp","num_speculative_tokens":3}\' ', '{"method":"eagle3","model":"x"} ', "--speculative-model [gram] ",
    "--num-speculative-tokens ", "-tp ", "-pp 2 ", "--max-num-seqs ", "0 ", "-1 ", "8k ", "1e9 ", "99999999999999 ",
    "--compilation-config ", "'{\"cudagraph_capture_sizes\":[1,\"x\",null]}' ", "--kv-transfer-config ",
    "'{\"kv_role\":\"kv_producer\",\"kv_connector\":\"NixlConnector\"}' ", "'{\"kv_role\":[],\"kv_port\":{}}' ",
    "--speculative-config.method ", "--gpu-memory-utilization nan ", "bash -c ", "\\\n", "\n", "# c\n", " ", "'", '"',
    "$A ", "${A[@]} ", "A=(", ")", "{", "}", "[", "]", "services:\n  a:\n    image: x\n    command: ", "&x ", "*x ", "<<: ",
    "<<EOF\n", "EOF\n", "LLM(model=", "--- output ---\n", "\u2014port ", "\u4e2d\u6587", "`", "|", ";", "&", ">", "\t", "\r\n",
]  # fmt: skip
INPUTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=20).map(
        "".join
    ),
    st.binary(max_size=200),
)
SETTINGS = st.builds(
    LintSettings,
    engine=st.sampled_from([None, "vllm", "vllm-ascend"]),
    engine_version=st.one_of(
        st.none(),
        st.sampled_from(["0.6.0", "0.9.0", "0.23.0rc1-310p", "0.32.0", "0.20.x"]),
        st.text(max_size=8),
    ),
    platform=st.sampled_from([None, "cuda", "ascend-950"]),
)


def _survives(content: str | bytes, chosen: LintSettings) -> None:
    report = _report(content, chosen)
    if report is None:
        return
    assert report.verdict in {"accept", "warn", "reject"}
    assert report.document["verdict"] == report.verdict
    fixed_text(report.source, report.findings)


def _report(content: str | bytes, chosen: LintSettings) -> LintReport | None:
    try:
        return lint(content, chosen)
    except UnreadableLaunchError:
        return None


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(INPUTS, SETTINGS)
def test_no_input_is_too_strange(content: str | bytes, chosen: LintSettings) -> None:
    _survives(content, chosen)


def _fuzz_for(seconds: float) -> None:
    @settings(
        max_examples=200,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(INPUTS, SETTINGS)
    def fuzz(content: str | bytes, chosen: LintSettings) -> None:
        _survives(content, chosen)

    ending = time.monotonic() + seconds
    while time.monotonic() < ending:
        fuzz()


def test_no_input_is_too_strange_for_three_seconds() -> None:
    _fuzz_for(3)


@pytest.mark.slow
def test_no_input_is_too_strange_for_ten_minutes() -> None:
    _fuzz_for(600)
