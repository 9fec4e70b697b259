"""The command that repeats a run, and results side by side."""

import shlex

import pytest

from deployments.telemetry.benchmarks.repeating import command, completed, untold
from deployments.telemetry.benchmarks.side_by_side import Change, side_by_side
from tests.telemetry.benchmarks.blocks import block, runs

TOLD = "Namespace(model='Qwen/Qwen3-8B', backend='openai-chat', dataset_name='sharegpt', dataset_path='/data/a b.json', random_input_len=1024, seed=7, ignore_eos=True, num_prompts=200)\n"


def test_what_is_known_stands_in_the_command() -> None:
    (run,) = runs(TOLD + block(rate=4.0))
    said = shlex.join(command(run))
    assert "--model Qwen/Qwen3-8B --dataset-name sharegpt" in said
    assert "--dataset-path '/data/a b.json'" in said
    assert "--max-concurrency 8 --request-rate 4 --seed 7 --temperature 0" in said
    assert "--ignore-eos" in said
    assert "random-input-len" not in said
    assert untold(run) == ()


def test_what_is_not_told_stands_in_capitals() -> None:
    (run,) = runs("Output token throughput (tok/s): 5")
    assert untold(run) == ("MODEL", "DATASET", "PROMPTS")
    assert "--request-rate inf" in shlex.join(command(run))


def test_runs_of_one_benchmark_complete_each_other_at_the_lowest_load() -> None:
    several = runs(block(concurrency=64), TOLD + block(concurrency=8))
    run = completed(several)
    assert (run.max_concurrency, run.model) == (8, "Qwen/Qwen3-8B")
    assert completed(runs(block(), TOLD + block())).conditions["seed"] == "7"


def test_differences_are_signed_and_judged_by_direction() -> None:
    (table,) = side_by_side(
        [runs(block()), runs(block(throughput=1200, tpot=12, speculation=True))]
    )
    lines = {line.measure: line.cells[1] for line in table.lines}
    assert lines["output_tokens_per_s"].difference == pytest.approx(0.2)
    assert lines["output_tokens_per_s"].change is Change.BETTER
    assert lines["mean_tpot_ms"].change is Change.WORSE
    assert lines["mean_itl_ms"].change is Change.OPEN
    assert lines["mean_ttft_ms"].change is Change.SAME
    assert lines["acceptance_rate"].difference is None


def test_a_load_that_one_result_lacks_stays_empty() -> None:
    first, second = side_by_side(
        [runs(block(concurrency=1), block(concurrency=1)), runs(block(concurrency=8))]
    )
    assert [len(found) for found in first.runs] == [2, 0]
    assert [len(found) for found in second.runs] == [0, 1]
    assert second.lines[0].cells[1].difference is None
