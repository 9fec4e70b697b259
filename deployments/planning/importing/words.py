"""Words of a command: what the program would receive, and where they stand in the input."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One argument as the program receives it; ``$NAME`` stays as it is.

    ``start`` and ``end`` are offsets in the input, both -1 where the word has no place of its own.
    ``damaged`` means that a shell took quotes or expanded braces. ``frozen`` names variables
    that single quotes keep from being expanded.
    """

    text: str
    start: int = -1
    end: int = -1
    quoted: bool = False
    damaged: bool = False
    frozen: tuple[str, ...] = ()
    form: str = "shell"

    @property
    def has_place(self) -> bool:
        """Whether the word can be replaced where it stands."""
        return self.start >= 0


class RemarkKind(StrEnum):
    """What the reader noticed about the text itself."""

    COMMENT_ENDS_COMMAND = "comment-ends-command"
    LINE_NOT_CONTINUED = "line-not-continued"
    SPACE_AFTER_BACKSLASH = "space-after-backslash"
    QUOTE_NOT_CLOSED = "quote-not-closed"
    ENTRYPOINT_TWICE = "entrypoint-twice"
    NO_LAUNCH = "no-launch"
    YAML_BROKEN = "yaml-broken"
    ODD_DASH = "odd-dash"
    EXTRA_WORD = "extra-word"
    ENVIRONMENT_FILE = "environment-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something about the text between two offsets."""

    kind: RemarkKind
    start: int
    end: int
    text: str = ""


class Operator(StrEnum):
    """What separates commands; ``LINE`` is a line end that was not continued."""

    LINE = "line"
    OTHER = "other"
    REDIRECT = "redirect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One piece of a script: a word, an array, a here-document or an operator."""

    word: Word | None = None
    operator: Operator | None = None
    array: tuple[Word, ...] | None = None
    document: tuple[int, int] | None = None
    after_comment: bool = False
