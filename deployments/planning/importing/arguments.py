"""The flags of one serve command, in order, with the words they were written in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from deployments.planning.importing.flag_table import FlagTable, flag_table
from deployments.planning.importing.limits import (
    MOST_ARGUMENTS,
    UnreadableLaunchError,
)
from deployments.planning.importing.words import Word
from deployments.planning.text import text

_FLAG = re.compile(r"-{1,2}[A-Za-z]")
_NUMBER = re.compile(r"-\d")
_LONGEST_BRACE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One flag: canonical ``name``, as ``written``, and its value, ``None`` where none follows."""

    name: str
    written: str
    value: str | None
    words: tuple[Word, ...]
    value_word: Word | None = None
    attached: bool = False
    glued: bool = False

    @property
    def start(self) -> int:
        """Where the flag stands in the input, -1 when it has no place."""
        return self.words[0].start


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """All flags of a command and the words that belong to none."""

    flags: tuple[Argument, ...]
    positional: tuple[Word, ...]

    def all(self, name: str) -> tuple[Argument, ...]:
        """Every use of a flag."""
        return tuple(one for one in self.flags if one.name == name)

    def last(self, name: str) -> Argument | None:
        """The use that counts: the last one."""
        return next((one for one in reversed(self.flags) if one.name == name), None)


def read_arguments(words: tuple[Word, ...]) -> Arguments:
    """Read what follows the program's name.

    Raises:
        UnreadableLaunchError: there are more words than any command has.
    """
    if len(words) > MOST_ARGUMENTS:
        raise UnreadableLaunchError(
            text(
                "One command has more than {most} words; that is no launch.",
                most=MOST_ARGUMENTS,
            )
        )
    return _Reader(words, flag_table()).read()


class _Reader:
    def __init__(self, words: tuple[Word, ...], table: FlagTable) -> None:
        self.words = words
        self.table = table
        self.at = 0

    def read(self) -> Arguments:
        flags: list[Argument] = []
        positional: list[Word] = []
        while self.at < len(self.words):
            word = self.words[self.at]
            self.at += 1
            if _FLAG.match(word.text):
                flags.append(self._flag(word))
            elif word.text not in ("--", "\\"):
                positional.append(word)
        return Arguments(flags=tuple(flags), positional=tuple(positional))

    def _flag(self, word: Word) -> Argument:
        first, blank, behind = word.text.partition(" ")
        if (
            blank
            and "=" not in first
            and self.table.takes_value(self.table.canonical(first))
        ):
            name = self.table.canonical(first)
            return self._attached(word, name, first, behind.strip(), glued=True)
        written, equals, inline = word.text.partition("=")
        name = self.table.canonical(written)
        if equals:
            return self._attached(word, name, written, inline)
        joined = re.fullmatch(r"-(O|tp|pp|dp)(\d+)", word.text)
        if joined:
            return self._attached(
                word, self.table.canonical("-" + joined[1]), word.text, joined[2]
            )
        takes = self.table.takes_value(name)
        values = [] if takes is False else list(self._values(name, known=takes is True))
        return Argument(
            name=name,
            written=written,
            value=" ".join(value.text for value in values) if values else None,
            words=(word, *values),
            value_word=values[0] if len(values) == 1 else None,
        )

    def _attached(
        self, word: Word, name: str, written: str, inline: str, *, glued: bool = False
    ) -> Argument:
        rest = tuple(self._brace_rest(inline)) if _opens_object(inline) else ()
        value = " ".join((inline, *(one.text for one in rest)))
        return Argument(
            name=name,
            written=written,
            value=value,
            words=(word, *rest),
            value_word=word,
            attached=True,
            glued=glued,
        )

    def _values(self, name: str, *, known: bool) -> Iterator[Word]:
        if not self._next_is_value(known=known):
            return
        first = self.words[self.at]
        self.at += 1
        yield first
        if _opens_object(first.text):
            yield from self._brace_rest(first.text)
        elif self.table.takes_several(name):
            while self._next_is_value(known=True) and len(self.words) > self.at:
                yield self.words[self.at]
                self.at += 1

    def _next_is_value(self, *, known: bool) -> bool:
        if self.at >= len(self.words):
            return False
        following = self.words[self.at].text
        return not _FLAG.match(following) or (
            known and _NUMBER.match(following) is not None
        )

    def _brace_rest(self, value: str) -> Iterator[Word]:
        """Words that belong to a JSON value which a shell split at its blanks."""
        depth = value.count("{") - value.count("}")
        for _ in range(_LONGEST_BRACE):
            if depth <= 0 or not self._next_is_value(known=True):
                return
            word = self.words[self.at]
            depth += word.text.count("{") - word.text.count("}")
            self.at += 1
            yield word


def _opens_object(value: str) -> bool:
    """Whether a JSON object begins, perhaps behind a quote that no shell took away."""
    return value.lstrip("'\"").startswith("{")
