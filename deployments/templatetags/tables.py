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
from deployments.templatetags.cells import CELLS, PASSING, Cell, opening
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
    """One row: what stays is kept, and distances in time are put into it."""
    times = [value for value in row.values if isinstance(value, datetime)]
    if not times:
        return _known_row(language, columns, row, bulk)
    values = tuple(
        PASSING if isinstance(value, datetime) else value for value in row.values
    )
    still = _known_row(language, columns, replace(row, values=values), bulk)
    parts = still.split(PASSING)
    if len(parts) != len(times) + 1:  # some text holds what marks the places
        return row_html(language, columns, row, bulk)
    told = [moment(value) for value in times]
    pairs = zip(parts, [*told, ""], strict=True)
    return SafeString("".join(part for pair in pairs for part in pair))


def row_html(
    language: str | None,
    columns: tuple[Column, ...],
    row: TableRow,
    bulk: bool,  # noqa: FBT001
) -> SafeString:
    """One row in the language of the page."""
    cells = (
        CELLS[column.kind](value, column)
        for column, value in zip(columns, row.values, strict=True)
    )
    picks = (_pick(row),) if bulk else ()
    return format_html(_frame(language, columns, bulk), row.pk, *picks, *cells)


_known_row = lru_cache(maxsize=4096)(row_html)
"""Rows look the same until their values change; distances in time are put in later."""


@lru_cache(maxsize=256)
def _frame(
    language: str | None,
    columns: tuple[Column, ...],
    bulk: bool,  # noqa: FBT001
) -> str:
    """The row without its values."""
    del language
    parts = [
        f"{opening(column, first=not place)}{{}}</{'td' if place else 'th'}>"
        for place, column in enumerate(columns)
    ]
    pick = "{}" if bulk else ""
    return f'<tr id="row-{{}}" data-row tabindex="-1">{pick}{"".join(parts)}</tr>'


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
