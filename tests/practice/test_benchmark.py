"""The practice image's ``vllm bench serve`` measures the practice server, and what it says is read."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset, Prompt, jsonl
from deployments.planning.bench.invocation import (
    PROMPTS_PATH,
    RESULT_FOLDER,
    Served,
    bench_arguments,
)
from deployments.telemetry.benchmarks.reader import read_benchmark
from tests.practice.running import PROGRAM, Running, speculation

PROMPTS = [Prompt(prompt=f"word {n} " * 5, output_tokens=20 + n) for n in range(8)]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    quiet = {"PRACTICE_TRAFFIC": "0", "PRACTICE_STEP_TIME": "0.001"}
    with Running("--served-model-name", "m", *speculation("mtp", 3), **quiet) as run:
        yield run.ready()


OWN = Course(dataset=Dataset.OWN, levels=(2,), prompts=8)


def bench(
    server: Running, folder: Path, *more: str, course: Course = OWN
) -> subprocess.CompletedProcess[str]:
    """Run the command that the panel would, with its files in a folder of ours."""
    served = Served(
        base_url=server.address,
        name="m",
        tokenizer="/models/m",
        version="0.32.0",
    )
    (folder / "prompts.jsonl").write_bytes(jsonl(PROMPTS))
    places = {PROMPTS_PATH: str(folder / "prompts.jsonl"), RESULT_FOLDER: str(folder)}
    words = bench_arguments(served, course, course.segments[0])
    return subprocess.run(
        [sys.executable, str(PROGRAM), *(places.get(one, one) for one in words), *more],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_its_result_is_read_and_agrees_with_its_table(
    server: Running, tmp_path: Path
) -> None:
    done = bench(server, tmp_path)
    assert done.returncode == 0, done.stderr
    (written,) = read_benchmark((tmp_path / "draftboard-result.json").read_bytes())
    (printed,) = read_benchmark(done.stdout.encode())
    assert (written.completed, written.failed, written.max_concurrency) == (8, 0, 2)
    assert written.generated_tokens == sum(one.output_tokens or 0 for one in PROMPTS)
    assert written.mean_itl_ms is not None
    assert written.mean_tpot_ms is not None
    assert written.mean_itl_ms > written.mean_tpot_ms
    told = written.speculation
    assert told is not None
    assert told.num_drafts
    assert told.drafted == 3 * told.num_drafts
    assert told.per_position is not None
    assert sum(told.per_position) == pytest.approx(
        (told.accepted or 0) / told.num_drafts
    )
    assert printed.speculation is not None
    assert printed.speculation.accepted == told.accepted
    assert printed.generated_tokens == written.generated_tokens


def test_sharegpt_sends_first_turns_and_asks_for_answers_of_the_second_ones_length(
    server: Running, tmp_path: Path
) -> None:
    talks = [
        {"conversations": [{"value": "word " * 9}, {"value": f"{'w ' * length}"}]}
        for length in (20, 30, 2)
    ]
    path = tmp_path / "share.json"
    path.write_text(json.dumps([*talks, {"conversations": []}]))
    course = Course(
        dataset=Dataset.SHAREGPT, levels=(2,), prompts=4, sharegpt_path=str(path)
    )
    done = bench(server, tmp_path, course=course)
    assert done.returncode == 0, done.stderr
    (run,) = read_benchmark((tmp_path / "draftboard-result.json").read_bytes())
    assert (run.completed, run.failed) == (4, 0)
    assert run.generated_tokens == 2 * (20 + 30)


def test_what_it_does_not_know_is_refused(server: Running, tmp_path: Path) -> None:
    done = bench(server, tmp_path, "--unheard-of")
    assert done.returncode == 2
    assert "unrecognized arguments: --unheard-of" in done.stderr


def test_failed_requests_are_counted(server: Running, tmp_path: Path) -> None:
    done = bench(server, tmp_path, "--model", "another")
    result = json.loads((tmp_path / "draftboard-result.json").read_text())
    assert done.returncode == 0
    assert (result["completed"], result["failed"]) == (0, 8)
