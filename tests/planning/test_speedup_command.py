"""``manage.py predict_speedup``."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

LLAMA = (
    "--model=meta-llama/Llama-3.1-8B-Instruct",
    "--platform=nvidia",
    "--devices=1",
    "--method=eagle3",
)


def answer(*arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("predict_speedup", *arguments, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_the_curve_has_the_asked_loads() -> None:
    found = answer(
        *LLAMA,
        "--acceptance-rate=.6",
        "--num-speculative-tokens=3",
        "--concurrency=32,1",
    )
    assert [point["concurrency"] for point in found["curve"]] == [1, 32]
    assert found["expected_tokens_per_step"] == pytest.approx(2.8)
    assert found["curve"][0]["speedup"] > found["curve"][1]["speedup"]


def test_per_position_rates_tell_the_count() -> None:
    found = answer(*LLAMA, "--per-position=.8,.6")
    assert found["expected_tokens_per_step"] == pytest.approx(2.4)


def test_without_acceptance_the_prior_answers_and_says_so() -> None:
    found = answer(*LLAMA)
    assert found["kind"] == "assumed"


def test_a_model_outside_the_catalog_is_known_by_its_published_shape() -> None:
    found = answer(
        "--model=Llama-3.3-70B-Instruct",
        "--platform=nvidia",
        "--device=H200",
        "--devices=4",
        "--method=draft_model",
        "--draft-model=meta-llama/Llama-3.1-8B-Instruct",
        "--mean-acceptance-length=3.1",
        "--num-speculative-tokens=4",
    )
    assert found["curve"][0]["speedup"] > 1


def test_a_pair_of_benchmarks_corrects_the_answer() -> None:
    found = answer(
        *LLAMA,
        "--mean-acceptance-length=2.8",
        "--num-speculative-tokens=3",
        "--measured=8:10:8:2.8",
        "--concurrency=8",
    )
    assert found["curve"][0]["speedup"] == pytest.approx(1.25, abs=0.01)
    assert found["kind"] == "measured"


def test_a_platform_without_figures_answers_null() -> None:
    found = answer(
        "--model=Qwen/Qwen3-32B", "--platform=cpu", "--devices=1", "--method=ngram"
    )
    assert found["curve"][0]["speedup"] is None
    assert found["best_num_speculative_tokens"] is None


def test_the_text_for_people_says_what_was_not_measured() -> None:
    out = io.StringIO()
    call_command("predict_speedup", *LLAMA, "--concurrency", "1", "128", stdout=out)
    assert "no band: not measured" in out.getvalue()


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ("--model=nobody/Nothing", "no model"),
        ("--method=magic", "not a speculative method"),
        ("--device=abacus", "No speed figures"),
        ("--devices=0", "at least 1"),
        ("--quantization=odd", "is not known"),
        ("--num-speculative-tokens=0", "at least 1"),
        ("--concurrency=0", "at least 1"),
        ("--per-position=a,b", "list of numbers"),
        ("--measured=1:2", "four numbers"),
        ("--mean-acceptance-length=9", "bonus token"),
    ],
)
def test_unusable_input_is_refused_with_the_way_out(changed: str, word: str) -> None:
    with pytest.raises(CommandError, match=word) as refused:
        call_command("predict_speedup", *LLAMA, changed)
    assert refused.value.returncode == 2
