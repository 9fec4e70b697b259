"""The command of a benchmark fits the version of the image that runs it."""

import pytest

from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset
from deployments.planning.bench.invocation import (
    PROMPTS_PATH,
    Served,
    bench_arguments,
    part_measured,
    untold,
)
from deployments.planning.errors import PlanningError
from tests.planning.builders import combined, gpu, plan

QWEN = "Qwen/Qwen3-8B"


def served(version: str = "0.32.0") -> Served:
    return Served(
        base_url="http://127.0.0.1:8000",
        name="chat",
        tokenizer="/models/target",
        version=version,
    )


def arguments(version: str = "0.32.0", **course: object) -> tuple[str, ...]:
    asked = Course(**{"dataset": Dataset.CODE, **course})  # type: ignore[arg-type]
    return bench_arguments(served(version), asked, asked.segments[-1])


def after(words: tuple[str, ...], flag: str) -> str:
    return words[words.index(flag) + 1]


def test_a_run_is_repeatable_and_tells_what_a_verdict_needs() -> None:
    words = arguments(seed=7)
    assert words[:4] == ("bench", "serve", "--base-url", "http://127.0.0.1:8000")
    assert after(words, "--temperature") == "0"
    assert after(words, "--seed") == "9"
    assert after(words, "--max-concurrency") == "16"
    assert after(words, "--num-prompts") == "128"
    assert after(words, "--num-warmups") == "32"
    assert after(words, "--percentile-metrics") == "ttft,tpot,itl,e2el"
    assert after(words, "--dataset-path") == PROMPTS_PATH
    assert "--save-result" in words


@pytest.mark.parametrize(
    ("version", "api", "template", "length", "warm"),
    [
        ("0.9.2", "--endpoint-type", "--custom-skip-chat-template", "256", False),
        ("0.10.2", "--endpoint-type", "--custom-skip-chat-template", "256", False),
        ("0.11.0", "--backend", "--custom-skip-chat-template", "256", False),
        ("0.11.1", "--backend", "--skip-chat-template", "256", True),
        ("0.13.0", "--backend", "--skip-chat-template", "256", True),
        ("0.14.0", "--backend", "--skip-chat-template", "-1", True),
        ("0.33.0", "--backend", "--skip-chat-template", "-1", True),
    ],
)
def test_flags_are_those_of_the_version(
    version: str, api: str, template: str, length: str, *, warm: bool
) -> None:
    words = arguments(version)
    assert after(words, api) == "openai-chat"
    assert template in words
    assert after(words, "--custom-output-len") == length
    assert ("--num-warmups" in words) is warm
    both = {"--endpoint-type", "--backend"}
    assert len(both & set(words)) == 1


def test_what_a_version_cannot_do_is_said() -> None:
    with pytest.raises(PlanningError, match=r"0\.9\.1 cannot .* begins with 0\.9\.2"):
        arguments("0.9.1")
    assert "random" in arguments("0.8.5", dataset=Dataset.RANDOM)
    assert [str(one) for one in untold("0.33.0")] == []
    assert len(untold("0.10.2")) == 3
    assert len(untold("0.12.0")) == 1


def test_of_several_engines_the_one_that_is_measured_is_said() -> None:
    two = plan(combined(QWEN, "gpu-1", "gpu-2"), gpu("gpu-1"), gpu("gpu-2"))
    (sentence,) = part_measured(two)
    assert str(sentence).startswith(
        "2 replicas answer, each for itself: the first one, on gpu-1"
    )
    assert part_measured(plan(combined(QWEN, "gpu-1"), gpu("gpu-1"))) == ()


def test_sharegpt_is_read_where_it_lies() -> None:
    words = arguments(dataset=Dataset.SHAREGPT, sharegpt_path="/data/share.json")
    assert after(words, "--dataset-path") == "/data/share.json"
    assert "--custom-output-len" not in words
