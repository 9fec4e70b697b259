"""``manage.py lint_launch``: keys, exit codes, and what it writes."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

GOOD = 'vllm serve M --speculative-config \'{"method":"mtp","num_speculative_tokens":3}\' --max-num-seqs 4 -tp 8\n'
BAD = "vllm serve M --speculative-config {method:mtp,num_speculative_tokens:3}\n"


def run(path: Path, *words: str) -> tuple[int, str]:
    """Exit code and standard output."""
    out = StringIO()
    try:
        call_command("lint_launch", str(path), *words, stdout=out)
    except SystemExit as ending:
        return int(ending.code or 0), out.getvalue()
    return 0, out.getvalue()


def answered(path: Path, *words: str) -> dict[str, Any]:
    """The JSON answer."""
    return dict(json.loads(run(path, "--json", *words)[1]))


@pytest.fixture
def launch(tmp_path: Path) -> Path:
    path = tmp_path / "launch.sh"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_the_answer_has_the_agreed_keys(launch: Path) -> None:
    answer = answered(launch, "--engine-version", "0.32.0")
    assert answer["verdict"] == "accept"
    assert answer["findings"] == answer["diagnoses"] == []
    assert answer["launches"] == [
        {
            "program": "vllm serve",
            "model": "M",
            "flags": {
                "--speculative-config": '{"method":"mtp","num_speculative_tokens":3}',
                "--max-num-seqs": "4",
                "--tensor-parallel-size": "8",
            },
            "env": {},
            "image": None,
            "speculation": {
                "method": "mtp",
                "method_as_written": "mtp",
                "num_speculative_tokens": 3,
                "drafter": None,
                "drafter_resolved": None,
                "config": {"method": "mtp", "num_speculative_tokens": 3},
            },
            "max_num_seqs": 4,
            "decode_tokens_per_step": 16,
            "required_capture_size": 16,
            "devices_required": 8,
        }
    ]


def test_findings_have_the_agreed_keys_and_end_in_exit_code_one(launch: Path) -> None:
    launch.write_text(BAD, encoding="utf-8")
    code, text = run(launch, "--json")
    assert code == 1
    finding = json.loads(text)["findings"][0]
    assert finding["code"] == "SPEC_JSON_INVALID"
    assert finding["category"] == "quoting"
    assert finding["severity"] == "error"
    assert set(finding) >= {
        "message",
        "fix",
        "source",
        "evidence",
        "line",
        "correction",
    }


def test_fix_writes_the_file_and_prints_the_difference(launch: Path) -> None:
    launch.write_text(BAD, encoding="utf-8")
    code, text = run(launch, "--fix")
    assert code == 1
    assert "-vllm serve M --speculative-config {method" in text
    assert launch.read_text(encoding="utf-8").startswith(
        "vllm serve M --speculative-config '{"
    )
    assert run(launch, "--fix") == (0, "Nothing can be corrected mechanically.\n")


def test_program_output_is_read_as_a_log(launch: Path) -> None:
    launch.write_text(
        f"{GOOD}--- output ---\nPipeline parallelism is not supported for this model.\n",
        encoding="utf-8",
    )
    diagnoses = answered(launch)["diagnoses"]
    assert [one["category"] for one in diagnoses] == ["pipeline-parallel"]
    assert diagnoses[0]["line"] == 3


def test_the_short_answer_is_for_people(launch: Path) -> None:
    code, text = run(launch, "--engine-version", "0.32.0")
    assert code == 0
    assert text.splitlines() == [
        "Verdict: accept.",
        "vllm serve M: drafts 3 tokens with mtp; needs 8 devices.",
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a\0b", ()),
        (b"x" * 1_000_001, ()),
        (GOOD.encode(), ("--platform", "abacus")),
        (GOOD.encode(), ("--engine", "steam")),
    ],
)
def test_unusable_input_is_one_sentence_and_exit_code_two(
    launch: Path, content: bytes, words: tuple[str, ...]
) -> None:
    launch.write_bytes(content)
    with pytest.raises(CommandError) as caught:
        call_command("lint_launch", str(launch), *words)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_exit_code_two(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("lint_launch", str(tmp_path / "nothing"))
    assert caught.value.returncode == 2


@pytest.mark.parametrize("form", ["command", "compose", "script"])
def test_a_launch_is_written_in_another_form(launch: Path, form: str) -> None:
    code, written = run(launch, "--as", form)
    assert code == 0
    again = launch.with_name(f"again-{form}")
    again.write_text(written, encoding="utf-8")
    first, second = answered(launch)["launches"][0], answered(again)["launches"][0]
    assert second["flags"] == first["flags"]
    assert second["model"] == "M"


def test_two_servers_in_another_form_get_two_names(launch: Path) -> None:
    launch.write_text(GOOD + GOOD, encoding="utf-8")
    written = run(launch, "--as", "compose")[1]
    assert "  launch:\n" in written
    assert '  "launch-2":\n' in written


def test_an_input_without_a_server_has_no_other_form(launch: Path) -> None:
    launch.write_text("ls\n", encoding="utf-8")
    with pytest.raises(CommandError, match="starts no server"):
        run(launch, "--as", "script")


@pytest.mark.parametrize("version", ["0.11.0+", "0.11.0+cu129", "0.20.x"])
def test_no_database_is_needed(launch: Path, tmp_path: Path, version: str) -> None:
    empty = {**os.environ, "DATABASE_URL": f"sqlite:///{tmp_path}/empty.sqlite3"}
    command = [sys.executable, "manage.py", "lint_launch", str(launch), "--json"]
    done = subprocess.run(
        [*command, "--engine", "vllm", "--engine-version", version],
        env=empty,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["launches"][0]["speculation"]["method"] == "mtp"
