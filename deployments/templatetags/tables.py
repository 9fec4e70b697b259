"""Tables in templates: their rows at once, and the addresses of their controls.

A row is written once and kept as long as it shows the same in the same language, for everybody:
what it shows is the key. Times are put in when it is shown, since distances in time pass.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from deployments.selectors.tables.columns import Column, Kind, Link, TableRow
from deployments.selectors.tables.table import TablePage
from deployments.templatetags.cells import CELLS, Cell, ending, nothing, opening
from deployments.templatetags.moments import Now, now_here

register = template.Library()

PICK = (
    '<td class="pick-row"><input type="checkbox" name="row" value="{}" form="bulk"'
    ' aria-label="{}"></td>'
)
NO_PICK = format_html('<td class="{}"></td>', "pick-row")
CHOSEN = format_html(" {}", "selected")
ROW = '<tr id="row-{}" data-row tabindex="-1">'
ROW_END = format_html("</{}>\n", "tr")
MOST_ROWS = 8192


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """How rows with these columns look in one language; ``nothing`` is what no time looks like."""

    columns: tuple[tuple[Column, SafeString, SafeString], ...]
    staying: tuple[int, ...]
    passing: tuple[int, ...]
    nothing: tuple[SafeString, ...]
    bulk: bool

    @classmethod
    def of(cls, columns: Sequence[Column], *, bulk: bool) -> "Look":
        """Columns with what stands before and after their values, times apart from the others."""
        passing = tuple(n for n, one in enumerate(columns) if one.kind is Kind.MOMENT)
        return cls(
            columns=tuple(
                (column, opening(column, first=not place), ending(first=not place))
                for place, column in enumerate(columns)
            ),
            staying=tuple(n for n in range(len(columns)) if n not in passing),
            passing=passing,
            nothing=tuple(nothing(columns[place]) for place in passing),
            bulk=bulk,
        )


@register.simple_tag
def table_rows(page: TablePage, *, bulk: bool = False) -> SafeString:
    """Every row of the page; with ``bulk`` a box to select those that the action may take."""
    return _rows(page, _look(get_language(), page.columns, bulk))


def rows_anew(page: TablePage, *, bulk: bool = False) -> SafeString:
    """The same as if no row was ever seen before."""
    return _rows(page, Look.of(page.columns, bulk=bulk))


def _rows(page: TablePage, look: Look) -> SafeString:
    now = now_here()
    return _joined([part for row in page.rows for part in _row(look, row, now)])


@lru_cache(maxsize=256)
def _look(
    language: str | None,
    columns: tuple[Column, ...],
    bulk: bool,  # noqa: FBT001
) -> Look:
    del language
    return Look.of(columns, bulk=bulk)


def _row(look: Look, row: TableRow, now: Now) -> Iterator[SafeString]:
    """What stays, with the times between."""
    values = row.values
    first, *others = _pieces(
        look, row.pk, row.open_to, tuple([values[place] for place in look.staying])
    )
    yield first
    for place, none, piece in zip(look.passing, look.nothing, others, strict=True):
        time = values[place]
        yield none if time is None else now.moment(time)
        yield piece


@lru_cache(maxsize=MOST_ROWS)
def _pieces(
    look: Look,
    pk: uuid.UUID,
    open_to: bool,  # noqa: FBT001
    values: tuple[Any, ...],
) -> tuple[SafeString, ...]:
    """The row without its times, cut where they belong."""
    pieces: list[list[Cell]] = [[format_html(ROW, pk)]]
    if look.bulk:
        pieces[-1].append(_pick(pk, values[0], open_to=open_to))
    staying = iter(values)
    for column, before, after in look.columns:
        pieces[-1].append(before)
        if column.kind is Kind.MOMENT:
            pieces.append([])
        else:
            pieces[-1].append(CELLS[column.kind](next(staying), column))
        pieces[-1].append(after)
    pieces[-1].append(ROW_END)
    return tuple(map(_joined, pieces))


def _joined(parts: Sequence[Cell]) -> SafeString:
    """One after the other; there may be none."""
    return format_html("{}" * len(parts) + "{}", *parts, "")


def _pick(pk: uuid.UUID, named: object, *, open_to: bool) -> SafeString:
    if not open_to:
        return NO_PICK
    name = named.text if isinstance(named, Link) else str(named)
    return format_html(PICK, pk, gettext("Select %(name)s") % {"name": name})


class Option(Protocol):
    """What a list to choose from shows of one choice."""

    value: str
    label: str
    chosen: bool


@register.simple_tag
def filter_choices(choices: Iterable[Option]) -> SafeString:
    """The options of a filter."""
    chosen = {True: CHOSEN, False: ""}
    return format_html_join(
        "",
        '<option value="{}"{}>{}</option>',
        ((one.value, chosen[one.chosen], one.label) for one in choices),
    )


@register.simple_tag
def table_address(page: TablePage, query: str | None = None) -> str:
    """The address of the table with this query, or with the one that it has."""
    path = reverse(page.table.url_name)
    asked = page.state.query if query is None else query
    return f"{path}?{asked}" if asked else path
