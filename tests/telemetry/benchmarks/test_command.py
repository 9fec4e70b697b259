"""``manage.py read_benchmark``: answers, exit codes and refusals."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.telemetry.benchmarks.blocks import block

RECORDED = Path(__file__).parents[1] / "fixtures" / "benchmarks"
OFF, ON = str(RECORDED / "baseline.json"), str(RECORDED / "suffix.json")


def answer(*arguments: str) -> tuple[int, str]:
    output = io.StringIO()
    try:
        call_command("read_benchmark", *arguments, stdout=output)
    except SystemExit as end:
        return int(str(end.code)), output.getvalue()
    return 0, output.getvalue()


def document(*arguments: str) -> tuple[int, Any]:
    code, text = answer(*arguments, "--json")
    return code, json.loads(text)


def test_one_file_answers_with_runs_and_no_comparison() -> None:
    code, found = document(ON)
    assert code == 0
    assert found["comparison"] is None
    (run,) = found["runs"]
    assert run["generated_tokens"] == 3072
    assert run["speculation"]["num_drafts"] == 571
    assert run["speculation"]["num_speculative_tokens"] == 8


def test_two_files_answer_with_a_verdict() -> None:
    code, found = document(OFF, ON)
    assert code == 0
    assert len(found["runs"]) == 2
    assert found["comparison"]["comparable"] is True
    assert found["comparison"]["verdict"] == "keep"
    assert found["comparison"]["request_throughput_ratio"] == pytest.approx(
        1.276, abs=0.001
    )


def test_a_pair_that_must_not_be_compared_is_exit_code_1() -> None:
    code, found = document(ON, OFF)
    assert code == 1
    assert found["comparison"]["comparable"] is False
    assert found["comparison"]["throughput_ratio"] is None
    assert found["comparison"]["why"]


def test_in_words() -> None:
    _, text = answer(OFF, ON)
    assert "Concurrency 4: 1817.57 output tokens/s" in text
    assert "Acceptance rate 75.8%" in text
    assert "Verdict: keep." in text
    assert "No figures of speculation." in text


def test_standard_input_is_one_of_the_two(monkeypatch: pytest.MonkeyPatch) -> None:
    class Standard:
        buffer = io.BytesIO(block().encode())

    monkeypatch.setattr("sys.stdin", Standard)
    code, found = document("-")
    assert (code, found["runs"][0]["max_concurrency"]) == (0, 8)
    with pytest.raises(CommandError, match="Only one of the two") as refused:
        answer("-", "-")
    assert refused.value.returncode == 2


def test_unusable_input_is_exit_code_2(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.txt"
    nothing.write_text("hello")
    with pytest.raises(CommandError, match="No benchmark result was found") as refused:
        answer(str(nothing))
    assert refused.value.returncode == 2
    with pytest.raises(CommandError, match="cannot be read") as missing:
        answer(str(tmp_path / "missing.json"))
    assert missing.value.returncode == 2
