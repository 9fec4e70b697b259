"""The two reading commands: their answers, exit codes and refusals."""

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

FIXTURES = Path(__file__).parent / "fixtures"


def answer(command: str, name: str, *flags: str) -> tuple[int, str]:
    output = io.StringIO()
    try:
        call_command(command, str(FIXTURES / name), *flags, stdout=output)
    except SystemExit as end:
        return int(str(end.code)), output.getvalue()
    return 0, output.getvalue()


def document(command: str, name: str) -> tuple[int, Any]:
    code, text = answer(command, name, "--json")
    return code, json.loads(text)


def test_read_log_answers_with_one_object() -> None:
    code, log = document("read_log", "vllm-0.32.0-mtp.log")
    assert code == 0
    assert log["record_count"] == len(log["records"]) == 9
    assert log["startup"]["method"] == "mtp"
    assert log["records"][0]["format"] == "v1"
    assert log["totals"]["accepted"] == 4836
    assert log["advice"]["verdict"] == "normal"


def test_critical_diagnosis_is_exit_code_1() -> None:
    code, log = document("read_log", "failure-draft_vocab_mismatch.log")
    assert code == 1
    assert log["diagnoses"][0]["code"] == "VOCABULARY_MISMATCH"
    assert log["advice"] is None


def test_read_log_in_words_names_cause_and_fix() -> None:
    _, text = answer("read_log", "failure-eagle3_missing_path.log")
    assert "/models/does-not-exist is not in the container" in text
    assert "Mount the directory" in text


def test_read_metrics_answers_with_one_object() -> None:
    code, metrics = document("read_metrics", "vllm-0.32.0-mtp.prom")
    assert code == 0
    assert metrics["engines"]["0"]["accepted"] == 4836
    assert metrics["consistent"] is True


def test_read_metrics_in_words() -> None:
    _, text = answer("read_metrics", "vllm-0.32.0-mtp.prom")
    assert "4836 of 7839 drafted tokens accepted" in text
    _, text = answer("read_metrics", "failure-unknown_flag.log")
    assert "no scrape of an engine" in text


@pytest.mark.parametrize("command", ["read_log", "read_metrics"])
def test_missing_file_is_one_sentence_and_exit_code_2(command: str) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file") as error:
        call_command(command, "/no/such/file")
    assert error.value.returncode == 2


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"accepted 2340 / drafted 3000 = 78.0%\n"))
    monkeypatch.setattr("sys.stdin", stream)
    output = io.StringIO()
    call_command("read_log", "-", "--json", stdout=output)
    assert json.loads(output.getvalue())["records"][0]["accepted"] == 2340


def test_a_large_log_is_read_to_its_end_in_little_memory(tmp_path: Path) -> None:
    """The command holds a block of it and the records, never the whole."""
    noise = (
        b"(APIServer pid=1) INFO:     10.1.2.3:40000 - GET /health 200 OK\n" * 16_000
    )
    record = b"accepted 2340 / drafted 3000 = 78.0%\n"
    log = tmp_path / "large.log"
    with log.open("wb") as file:
        for _ in range(24):
            file.write(noise + record)
    output = io.StringIO()
    tracemalloc.start()
    call_command("read_log", str(log), "--json", stdout=output)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    answer = json.loads(output.getvalue())
    assert answer["record_count"] == len(answer["records"]) == 24
    assert answer["records"][-1]["line"] == 24 * 16_001
    assert peak < 16 * 1024 * 1024 < log.stat().st_size
