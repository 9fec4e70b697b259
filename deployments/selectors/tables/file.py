"""Tables as files: plain values, and nothing that a spreadsheet would run."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from deployments.models import (
    AlarmKind,
    Reachability,
    ReleaseState,
    RequestState,
    Standing,
)
from deployments.selectors.tables.columns import Column, Kind, State, TableRow

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

RUNS_IN_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""OWASP, CSV injection: a cell that begins so is taken as a formula."""
STATES = {
    "release": ReleaseState,
    "request": RequestState,
    "host": Reachability,
    "acceptance": Standing,
    "alarm": AlarmKind,
}
DRAWINGS = frozenset({Kind.SPARK, Kind.ACTION})
"""What has no value of its own in a file."""


def titles(columns: Sequence[Column]) -> list[str]:
    """The first line of a file."""
    result: list[StrOrPromise] = []
    for column in columns:
        if column.kind == Kind.METHOD:
            result += [column.title, _("num_speculative_tokens")]
        elif column.kind not in DRAWINGS:
            result.append(column.title)
    return [harmless(str(title)) for title in result]


def values(columns: Sequence[Column], row: TableRow) -> list[str | int | float]:
    """One row; unknown is an empty cell, numbers are plain, times are ISO 8601."""
    result: list[Any] = []
    for column, value in zip(columns, row.values, strict=True):
        if column.kind not in DRAWINGS:
            result += PLAIN.get(column.kind, _itself)(value)
    return [harmless(one) if isinstance(one, str) else one for one in result]


def harmless(text: str) -> str:
    """The text, with an apostrophe before what a spreadsheet would take as a formula."""
    return f"'{text}" if text.startswith(RUNS_IN_SPREADSHEETS) else text


def _itself(value: object) -> list[object]:
    return ["" if value is None else value]


def _time(value: datetime | None) -> list[str]:
    shown = timezone.localtime(value).isoformat(timespec="seconds") if value else ""
    return [shown]


def _state(state: State) -> list[str]:
    return [str(STATES[state.kind](state.value).label) if state.value else ""]


def _known(value: bool | None) -> list[str]:  # noqa: FBT001
    return [{True: "yes", False: "no"}.get(value, "") if value is not None else ""]


PLAIN: Mapping[Kind, Callable[[Any], list[Any]]] = {
    Kind.LINK: lambda link: [link.text],
    Kind.WORDS: lambda words: [", ".join(words)],
    Kind.METHODS: lambda words: [", ".join(words)],
    Kind.STATE: _state,
    Kind.METHOD: lambda choice: [choice.method or "", choice.number or ""],
    Kind.MOMENT: _time,
    Kind.KNOWN: _known,
}
