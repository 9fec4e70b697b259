"""Patterns over log lines: what they find, what they mark, and that none takes for ever."""

import time

import pytest

from deployments.telemetry.logs.searching import (
    LONGEST_PATTERN,
    PatternError,
    log_pattern,
)

LINE = "SpecDecoding metrics: Accepted: 406 tokens, Drafted: 609 tokens"


@pytest.mark.parametrize(
    ("pattern", "marked"),
    [
        (r"accepted: \d+", "Accepted: 406"),
        ("drafted", "Drafted"),
        (r"\d+ tokens, d", "406 tokens, D"),
        ("^spec", "Spec"),
        ("tokens$", "tokens"),
        (".*", LINE),
        (r"(?x) 406 # a comment", "406"),
    ],
)
def test_the_piece_that_matches_is_marked(pattern: str, marked: str) -> None:
    found = log_pattern(pattern)
    span = found.span(LINE)
    assert span is not None
    assert found.matches(LINE)
    assert LINE[slice(*span)].casefold() == marked.casefold()


def test_case_counts_only_where_the_pattern_says_so() -> None:
    assert log_pattern("ACCEPTED").matches(LINE)
    assert not log_pattern("(?-i)ACCEPTED").matches(LINE)


def test_no_match_and_a_very_long_line_have_no_mark() -> None:
    assert log_pattern("nothing").span(LINE) is None
    assert log_pattern("x").span("x" * 8000) is None
    assert log_pattern("x").matches("x" * 8000)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "unclosed group"),
        ("a)", "unopened group"),
        ("[a", "unclosed character class"),
        ("*", "repetition operator missing expression"),
        (
            "(?=a)",
            "look-around, including look-ahead and look-behind, is not supported",
        ),
        (r"(a)\1", "backreferences are not supported"),
        ("a" * (LONGEST_PATTERN + 1), "it has more than 200 characters"),
        ("(a{100}){100}", "it repeats more than 1000 times"),
        (r"(?:\w{30}){30}", "it is too large"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why(pattern: str, why: str) -> None:
    with pytest.raises(PatternError) as refused:
        log_pattern(pattern)
    assert refused.value.why == why


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", "(a*)*b", "a*a*a*a*a*a*a*a*b", "(.*)(.*)(.*)(.*)b"]
)
def test_patterns_that_explode_elsewhere_do_not_here(pattern: str) -> None:
    found = log_pattern(pattern)
    begin = time.process_time()
    assert not found.matches("a" * 8000)
    assert time.process_time() - begin < 0.5
