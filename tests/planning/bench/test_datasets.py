"""Prompts: those that are shipped are many and varied, those of a team are read with care."""

import json

import pytest

from deployments.planning.bench.datasets import (
    Dataset,
    Prompt,
    jsonl,
    own_prompts,
    shipped_prompts,
    with_length,
)
from deployments.planning.errors import PlanningError

SHIPPED = [one for one in Dataset if one.shipped]


@pytest.mark.parametrize("dataset", SHIPPED)
def test_shipped_prompts_are_many_different_and_say_their_length(
    dataset: Dataset,
) -> None:
    prompts = shipped_prompts(dataset)
    assert len(prompts) >= 48
    texts = [one.prompt for one in prompts]
    assert len(set(texts)) == len(texts)
    assert len({text[:40] for text in texts}) > 0.9 * len(texts)
    assert all(16 <= (one.output_tokens or 0) <= 1024 for one in prompts)
    assert max(map(len, texts)) <= 8000


def test_chinese_prompts_are_chinese() -> None:
    for one in shipped_prompts(Dataset.CHINESE):
        assert sum("\u4e00" <= sign <= "\u9fff" for sign in one.prompt) >= 8


def test_only_random_tokens_judge_nothing() -> None:
    assert [one for one in Dataset if not one.judges] == [Dataset.RANDOM]
    with pytest.raises(PlanningError, match="ships no prompts for own"):
        shipped_prompts(Dataset.OWN)


def test_prompts_of_a_team_keep_what_they_say() -> None:
    source = (
        '{"prompt": "Käse?", "output_tokens": 20}\n\n{"prompt": "b", "more": 1}\r\n'
    )
    found = own_prompts(source)
    assert found == (Prompt(prompt="Käse?", output_tokens=20), Prompt(prompt="b"))
    whole = with_length(found)
    assert [one.output_tokens for one in whole] == [20, 256]
    lines = jsonl(whole).decode().splitlines()
    assert json.loads(lines[0]) == {"prompt": "Käse?", "output_tokens": 20}


def test_a_line_separator_in_a_prompt_does_not_cut_its_line() -> None:
    (one,) = own_prompts('{"prompt": "a\u2028b"}')
    assert one.prompt == "a\u2028b"
    assert jsonl([one]).count(b"\n") == 1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("", "no prompt in the file"),
        ("hello", "Line 1 .* it is no JSON:"),
        ('{"prompt": "a"}\n[1]', "Line 2 .* no JSON object"),
        ('{"text": "a"}', "missing or empty"),
        ('{"prompt": " "}', "missing or empty"),
        ('{"prompt": "a", "output_tokens": 0}', "whole number from 1 to 8192"),
        ('{"prompt": "a", "output_tokens": true}', "whole number from 1"),
        ('{"prompt": "a", "output_tokens": 1.5}', "whole number from 1"),
        ("[" * 100_000, "Line 1 .* no JSON"),
        ('{"prompt": "a"}\n' * 5001, "5001 prompts; at most 5000"),
        ('{"prompt": "' + "a" * (8 << 20) + '"}', "more than 8 MiB"),
    ],
)
def test_other_files_are_refused_by_line(source: str, sentence: str) -> None:
    with pytest.raises(PlanningError, match=sentence):
        own_prompts(source)
