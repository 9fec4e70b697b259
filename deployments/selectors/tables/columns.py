"""What a table consists of: columns, filters, and the values that their cells show."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from django.db.models import Case, QuerySet

from deployments.models import User

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Rows: TypeAlias = QuerySet[Any, Any]


class Kind(StrEnum):
    """How the value of a cell is shown (``templatetags.cells``) and written to a file."""

    LINK = "link"
    TEXT = "text"
    WORDS = "words"
    STATE = "state"
    METHOD = "method"
    METHODS = "methods"
    PLATFORM = "platform"
    MOMENT = "moment"
    SPARK = "spark"
    COUNT = "count"
    FIGURE = "figure"
    PERCENT = "percent"
    PARAMETERS = "parameters"
    OFFSET = "offset"
    KNOWN = "known"
    ACTION = "action"


FIGURES = frozenset(
    {Kind.COUNT, Kind.FIGURE, Kind.PERCENT, Kind.PARAMETERS, Kind.OFFSET}
)


class Link(NamedTuple):
    """What a row is of; ``note`` stands small below it, ``mark`` as a badge beside it."""

    url: str
    text: str
    note: str = ""
    mark: str = ""
    practice: bool = False


class Act(NamedTuple):
    """What a row asks for; ``about`` names the row for screen readers, ``first`` is the main act."""

    url: str
    label: str
    about: str
    first: bool = False


class State(NamedTuple):
    """A state of one kind of row, as ``templatetags.status`` knows it; empty has none."""

    kind: str
    value: str


class MethodChoice(NamedTuple):
    """A speculative method with its num_speculative_tokens; ``None`` where nothing is planned."""

    method: str | None
    number: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One column; ``sort`` names what it is ordered by, ascending, before the row's id.

    ``nullable`` puts rows without a value last in both directions. ``wide`` gives the cell a whole
    line on a phone, ``label`` is a shorter title for it there. ``none`` is what a cell says where there is nothing; a ``silent`` one stays
    empty.
    """

    key: str
    title: "StrOrPromise"
    kind: Kind
    sort: tuple[str | Case, ...] = ()
    nullable: bool = False
    shown: bool = True
    wide: bool = False
    label: "StrOrPromise" = ""
    none: "StrOrPromise" = ""
    silent: bool = False

    @property
    def figure(self) -> bool:
        """Whether its values are numbers, which end at the edge of the column."""
        return self.kind in FIGURES

    @property
    def largest_first(self) -> bool:
        """Whether the first click on its heading puts the largest or newest on top."""
        return self.figure or self.kind == Kind.MOMENT


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Filter:
    """What narrows a table: the first choice is the default and has the empty value.

    ``strip`` shows the choices side by side; else they are a list to choose from.
    """

    key: str
    title: "StrOrPromise"
    choices: Callable[[User], Sequence[tuple[str, "StrOrPromise"]]]
    keep: Callable[[Rows, str, User], Rows]
    strip: bool = False


class TableRow(NamedTuple):
    """One row: a value for each wanted column; ``open_to`` says that the bulk action may take it."""

    pk: uuid.UUID
    values: tuple[Any, ...]
    open_to: bool = False
