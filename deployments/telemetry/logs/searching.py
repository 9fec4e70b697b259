"""Searching: regular expressions in log lines, in time that grows with the text only.

Patterns run in the ``regex`` crate of Rust, which pydantic brings along: a finite automaton
without backtracking, so that no pattern can take exponential time.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from pydantic_core import SchemaError, SchemaValidator, core_schema

LONGEST_PATTERN = 200
LARGEST_REPEAT = 1000
LONGEST_MARKED = 2000
FRAGMENT = 4
AT_ONCE = 48
"""So many words are compared many bytes at a time; from 65 on each byte is looked at."""
Search: TypeAlias = Callable[[str | bytes], bool]
"""Whether a text holds what is looked for."""

_ESCAPED = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
_REPEAT = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_SAID = re.compile(r"error: (?P<why>[^\n]+)\s*$")


class PatternError(ValueError):
    """The pattern cannot be used; ``why`` is the reason in a few words of the regex engine."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The pattern cannot be used: {why}.")
        self.why = why


@dataclass(frozen=True, slots=True)
class LogPattern:
    """A compiled pattern; lower and upper case are alike unless it says ``(?-i)``."""

    matches: Callable[[str], bool]
    spans_whole: Callable[[str], bool]

    def span(self, text: str) -> tuple[int, int] | None:
        """Where the first match that ends is, ``None`` for no match or in a very long line.

        The engine only answers yes or no: the end of the match is the shortest beginning of the
        text that matches, its start the shortest tail of that; then it grows while it matches.
        """
        if len(text) > LONGEST_MARKED or not self.matches(text):
            return None
        end = _first(len(text), lambda length: self.matches(text[:length]))
        start = end - _first(end, lambda length: self.matches(text[end - length : end]))
        while start and self.spans_whole(text[start - 1 : end]):
            start -= 1
        while end < len(text) and self.spans_whole(text[start : end + 1]):
            end += 1
        return (start, end) if start < end else None


@lru_cache(maxsize=64)
def log_pattern(text: str) -> LogPattern:
    """Compile a pattern.

    Raises:
        PatternError: it is too long, repeats too often, or is no regular expression.
    """
    if len(text) > LONGEST_PATTERN:
        raise PatternError(f"it has more than {LONGEST_PATTERN} characters")
    if _repeats(text) > LARGEST_REPEAT:
        raise PatternError(f"it repeats more than {LARGEST_REPEAT} times")
    matches = _compiled(f"(?i){text}")
    try:
        return LogPattern(matches, _compiled(rf"(?i)\A(?:{text})\z"))
    except PatternError:  # a comment of the pattern swallowed what stands behind it
        return LogPattern(matches, lambda _text: False)


def any_of(words: Iterable[str]) -> Search:
    """Whether a text holds one of the words, which are plain and matched as they are written.

    All words are looked for in one pass over the text. Bytes must be UTF-8: others hold nothing.
    """
    return _compiled("|".join(_ESCAPED.sub(r"\\\g<0>", word) for word in words))


def any_of_few(words: Collection[str]) -> Search:
    """The same for words that are known to be few: in as many passes as make it fast."""
    ordered = sorted(words)
    passes = -(-len(ordered) // AT_ONCE)
    each = -(-len(ordered) // passes)
    found = [
        any_of(ordered[place : place + each]) for place in range(0, len(ordered), each)
    ]
    if passes == 1:
        return found[0]

    def holds(text: str | bytes) -> bool:
        for one in found:  # noqa: SIM110 - faster than a generator within any()
            if one(text):
                return True
        return False

    return holds


def fragments_of(words: Collection[str], ordinary: str) -> dict[str, str]:
    """A piece of ``FRAGMENT`` characters of each word, few of them in all.

    A text without any of the pieces holds none of the words, and a few pieces are found faster
    than many words. Always the piece that most of the other words share is taken next. A word of
    which all pieces stand in the ordinary text or are digits, or which is shorter, stays whole.
    """
    holders: dict[str, set[str]] = {}
    for word in words:
        pieces = {
            piece
            for start in range(len(word) - FRAGMENT + 1)
            if not (piece := word[start : start + FRAGMENT]).isdigit()
            and piece not in ordinary
        }
        for piece in pieces or {word}:
            holders.setdefault(piece, set()).add(word)
    chosen: dict[str, str] = {}
    while holders:
        best = max(holders, key=lambda piece: (len(holders[piece]), piece))
        covered = holders[best]
        chosen |= dict.fromkeys(covered, best)
        holders = {
            piece: left for piece, held in holders.items() if (left := held - covered)
        }
    return chosen


def fragments_beside(
    fragments: Mapping[str, str], seen: str, ordinary: str
) -> dict[str, str]:
    """The same pieces, but others for the words of which the piece stands in what was seen."""
    met = {word for word, piece in fragments.items() if piece != word and piece in seen}
    return {**fragments, **fragments_of(met, f"{ordinary}\n{seen}")}


def _repeats(text: str) -> int:
    """The product of all counted repetitions, which is how much the automaton can grow."""
    product = 1
    for low, high in _REPEAT.findall(text):
        product *= max(1, int(high or low))
    return product


def _compiled(text: str) -> Search:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=text)).isinstance_python
    except SchemaError as error:
        said = _SAID.search(str(error))
        raise PatternError(said["why"] if said else "it is too large") from None


def _first(length: int, holds: Callable[[int], bool]) -> int:
    """The smallest number up to ``length`` for which ``holds`` is true; the last if none is."""
    low, high = 0, length
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
