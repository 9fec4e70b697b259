"""Tables in templates: their rows at once, and the addresses of their controls."""

from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from deployments.selectors.tables.columns import Column, Link, TableRow
from deployments.selectors.tables.table import TablePage
from deployments.templatetags.cells import CELLS, Cell, opening
from deployments.templatetags.moments import moment

register = template.Library()

PICK = (
    '<td class="pick-row"><input type="checkbox" name="row" value="{}" form="bulk"'
    ' aria-label="{}"></td>'
)
NO_PICK = '<td class="{}"></td>'


@register.simple_tag
def table_rows(page: TablePage, *, bulk: bool = False) -> SafeString:
    """Every row of the page; with ``bulk`` a box to select those that the action may take."""
    language = get_language()
    rows = ((_row(language, page.columns, row, bulk),) for row in page.rows)
    return format_html_join("\n", "{}", rows)


def _row(
    language: str | None,
    columns: tuple[Column, ...],
    row: TableRow,
    bulk: bool,  # noqa: FBT001
) -> SafeString:
    """One row: what stays is kept, and distances in time are put between."""
    times = {
        place: value
        for place, value in enumerate(row.values)
        if isinstance(value, datetime)
    }
    values = tuple(
        None if place in times else one for place, one in enumerate(row.values)
    )
    pieces = _known_pieces(
        language, columns, replace(row, values=values), bulk, tuple(times)
    )
    told = [moment(value) for value in times.values()]
    return format_html_join("", "{}{}", zip(pieces, [*told, ""], strict=True))


def row_html(
    language: str | None,
    columns: tuple[Column, ...],
    row: TableRow,
    bulk: bool,  # noqa: FBT001
) -> SafeString:
    """One row in the language of the page."""
    return format_html("{}", *_pieces(language, columns, row, bulk, ()))


def _pieces(
    language: str | None,
    columns: tuple[Column, ...],
    row: TableRow,
    bulk: bool,  # noqa: FBT001
    apart: tuple[int, ...],
) -> tuple[SafeString, ...]:
    """What stands before, between and after the columns ``apart``."""
    picks = (_pick(row),) if bulk else ()
    heads: list[tuple[Cell, ...]] = [(str(row.pk), *picks), *((),) * len(apart)]
    begins, ends = (0, *(place + 1 for place in apart)), (*apart, len(columns))
    return tuple(
        format_html(
            frame,
            *head,
            *(
                CELLS[columns[place].kind](row.values[place], columns[place])
                for place in range(begin, end)
            ),
            "",
        )
        for frame, head, begin, end in zip(
            _frames(language, columns, bulk, apart), heads, begins, ends, strict=True
        )
    )


_known_pieces = lru_cache(maxsize=4096)(_pieces)
"""Rows look the same until their values change; distances in time are put in later."""


@lru_cache(maxsize=256)
def _frames(
    language: str | None,
    columns: tuple[Column, ...],
    bulk: bool,  # noqa: FBT001
    apart: tuple[int, ...],
) -> tuple[str, ...]:
    """The row without its values, cut where the columns ``apart`` have theirs.

    Each part takes one more value at its end, for some would take none.
    """
    del language
    frames = ['<tr id="row-{}" data-row tabindex="-1">' + ("{}" if bulk else "")]
    for place, column in enumerate(columns):
        frames[-1] += opening(column, first=not place)
        if place in apart:
            frames.append("")
        else:
            frames[-1] += "{}"
        frames[-1] += f"</{'td' if place else 'th'}>"
    frames[-1] += "</tr>"
    return tuple(f"{frame}{{}}" for frame in frames)


def _pick(row: TableRow) -> Cell:
    if not row.open_to:
        return format_html(NO_PICK, "pick-row")
    named = row.values[0]
    name = named.text if isinstance(named, Link) else str(named)
    return format_html(PICK, row.pk, gettext("Select %(name)s") % {"name": name})


@register.simple_tag
def table_address(page: TablePage, query: str | None = None) -> str:
    """The address of the table with this query, or with the one that it has."""
    path = reverse(page.table.url_name)
    asked = page.state.query if query is None else query
    return f"{path}?{asked}" if asked else path
