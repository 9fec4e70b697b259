"""Patterns over log lines: what they find, what they mark, and that none takes for ever."""

import time

import pytest

from deployments.planning.failures.known import KNOWN_FAILURES
from deployments.telemetry.logs.scanning import ORDINARY
from deployments.telemetry.logs.searching import (
    FRAGMENT,
    LONGEST_PATTERN,
    PatternError,
    any_of,
    any_of_few,
    fragments_beside,
    fragments_of,
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


def test_every_word_holds_its_fragment_and_few_fragments_hold_for_all() -> None:
    words = {anchor for one in KNOWN_FAILURES for anchor in one.anchors}
    fragments = fragments_of(words, ORDINARY)
    assert set(fragments) == words
    assert len(set(fragments.values())) < len(words) / 2
    for word, fragment in fragments.items():
        assert fragment in word
        assert fragment == word or len(fragment) == FRAGMENT
        assert fragment == word or fragment not in ORDINARY


def test_pieces_that_were_met_in_vain_are_exchanged_for_others() -> None:
    fragments = {"abcdef": "bcde", "stuvwx": "stuv", "whole": "whole"}
    exchanged = fragments_beside(fragments, "xbcdex whole", "")
    assert exchanged["abcdef"] in {"abcd", "cdef"}
    assert exchanged | {"abcdef": "bcde"} == fragments
    assert fragments_beside(fragments, "abcdef", "")["abcdef"] == "abcdef"


def test_a_piece_is_never_digits_only_which_identifiers_are_full_of() -> None:
    assert fragments_of({"207008"}, "") == {"207008": "207008"}


def test_a_word_of_ordinary_pieces_and_a_short_one_stay_whole() -> None:
    assert fragments_of({"abcdef", "xyz"}, "abcdef") == {
        "abcdef": "abcdef",
        "xyz": "xyz",
    }


@pytest.mark.parametrize("amount", [1, 48, 49, 200])
def test_words_are_found_in_text_and_in_bytes_however_many_they_are(
    amount: int,
) -> None:
    words = {f"wörd{number:03d}." for number in range(amount)}
    for found in (any_of(words), any_of_few(words)):
        for word in words:
            assert found(f"a {word} b")
            assert found(f"a {word} b".encode())
        assert not found("a word000. b")
        assert not found(b"a word000x b")
