"""What people ask of a table, in its address and in the forms around it."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from deployments.models import TableKey, User
from deployments.selectors.tables.anchors import anchor
from deployments.selectors.tables.state import TableState
from deployments.selectors.tables.table import PAGE_ROWS, Table

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

LONGEST_SEARCH = 160
LAST_PAGE = 10_000
BULK_ROWS = PAGE_ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One choice of a filter; ``query`` is the address that takes it, for those side by side."""

    value: str
    # Each hash of a lazy text would translate it.
    label: "StrOrPromise" = field(hash=False)
    chosen: bool
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterField:
    """A filter as its control shows it."""

    key: str
    title: "StrOrPromise" = field(hash=False)
    choices: tuple[Choice, ...]
    value: str
    strip: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableForm:
    """The controls of a table, and the state that they ask for; ``error`` is about the search."""

    state: TableState
    filters: tuple[FilterField, ...]
    error: str = ""


def table_form(table: Table, user: User, query: QueryDict) -> TableForm:
    """Read an address; what the table does not know is as if it were not there."""
    text, error = _search(query.get("q", ""))
    choices = {one.key: tuple(one.choices(user)) for one in table.filters}
    filters = {
        key: query.get(key, "")
        for key, known in choices.items()
        if query.get(key, "") in {value for value, _label in known}
    }
    sort = query.get("sort", "")
    usual = table.anchor is not None and sort in {"", table.order}
    state = TableState(
        text=text,
        filters=filters,
        sort=sort if sort.removeprefix("-") in table.sorts else "",
        columns=_columns(table, query.getlist("columns")),
        page=_page(query.get("page", "")),
        after=anchor(query.get("after", "")) if usual else None,
        until=anchor(query.get("until", "")) if usual else None,
    )
    fields = tuple(
        FilterField(
            key=one.key,
            title=one.title,
            strip=one.strip,
            value=filters.get(one.key, ""),
            choices=tuple(
                Choice(
                    value=value,
                    label=label,
                    chosen=value == filters.get(one.key, ""),
                    query=state.query_with(**{one.key: value}) if one.strip else "",
                )
                for value, label in choices[one.key]
            ),
        )
        for one in table.filters
    )
    return TableForm(state=state, filters=fields, error=error)


def _search(given: str) -> tuple[str, str]:
    try:
        field = forms.CharField(required=False, max_length=LONGEST_SEARCH)
        return str(field.clean(given)), ""
    except ValidationError as error:
        return "", " ".join(error.messages)


def _columns(table: Table, given: Sequence[str]) -> tuple[str, ...]:
    """The chosen columns in the order of the table; empty for those of always."""
    wanted = {name for part in given for name in part.split(",")}
    chosen = tuple(column.key for column in table.columns if column.key in wanted)
    usual = tuple(column.key for column in table.columns if column.shown)
    return () if chosen == usual else chosen


def _page(given: str) -> int:
    return min(max(int(given), 1), LAST_PAGE) if given.isdecimal() else 1


class SavedViewForm(forms.Form):
    """A name for the table as it is now."""

    table = forms.ChoiceField(choices=TableKey.choices)
    name = forms.CharField(max_length=60)
    query = forms.CharField(required=False, max_length=2000)


class RowsField(forms.Field):
    """The ids of the selected rows."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Sequence[str] | None) -> list[uuid.UUID]:
        """Read the ids.

        Raises:
            ValidationError: none, too many, or something that is no id.
        """
        if not value:
            raise ValidationError(_("Select at least one row, then repeat."))
        if len(value) > BULK_ROWS:
            raise ValidationError(
                _("Select at most %(most)s rows at once.") % {"most": BULK_ROWS}
            )
        try:
            return [uuid.UUID(one) for one in value]
        except ValueError as error:
            raise ValidationError(
                _("This page is out of date. Look at it again, then repeat.")
            ) from error


class BulkForm(forms.Form):
    """Selected rows, and a key that makes a second click find the first one's acts."""

    key = forms.UUIDField(widget=forms.HiddenInput)
    row = RowsField()
