"""The course of a benchmark is bounded, repeats what it compares, and sends enough."""

from typing import Any

import pytest

from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset
from deployments.planning.errors import PlanningError


def test_each_repeat_goes_through_all_loads_with_requests_of_its_own() -> None:
    segments = Course(dataset=Dataset.CHAT, levels=(1, 16), repeats=3).segments
    assert [(one.repeat, one.concurrency) for one in segments] == [
        (1, 1), (1, 16), (2, 1), (2, 16), (3, 1), (3, 16),
    ]  # fmt: skip
    assert [one.number for one in segments] == [1, 2, 3, 4, 5, 6]
    assert [one.seed for one in segments] == [0, 0, 1, 1, 2, 2]
    assert [one.prompts for one in segments[:2]] == [32, 128]


def test_who_names_a_number_of_prompts_gets_it_at_every_load() -> None:
    segments = Course(dataset=Dataset.CHAT, prompts=50).segments
    assert {one.prompts for one in segments} == {50}


@pytest.mark.parametrize(
    ("course", "sentence"),
    [
        ({"levels": ()}, "Give one to 8 loads"),
        ({"levels": tuple(range(1, 10))}, "Give one to 8 loads"),
        ({"levels": (4, 1)}, "the lowest first"),
        ({"levels": (4, 4)}, "each load once"),
        ({"levels": (0, 4)}, "1 to 1024"),
        ({"levels": (1, 2000)}, "1 to 1024"),
        ({"repeats": 0}, "1 to 10 times"),
        ({"repeats": 11}, "1 to 10 times"),
        ({"levels": (1, 2, 3, 4, 5), "repeats": 10}, "50 runs are more than the 40"),
        ({"prompts": 15}, "at least as many prompts as its load, 16"),
        ({"prompts": 6000}, "at most 5000"),
        ({"dataset": Dataset.SHAREGPT}, "ShareGPT is read from a path"),
        ({"sharegpt_path": "/x"}, "ShareGPT is read from a path"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(
    course: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(PlanningError, match=sentence):
        Course(**{"dataset": Dataset.CHAT, **course})
