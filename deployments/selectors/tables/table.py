"""The one machinery of all tables: state from the address, rows of a page, rows of a file."""

import math
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Case, F
from django.db.models.expressions import OrderBy

from deployments.models import Density, SavedView, TableKey, User
from deployments.selectors.ready_rows import Row, asked_by, count_up_to, ready_rows
from deployments.selectors.tables.anchors import Anchor, above, below
from deployments.selectors.tables.columns import Column, Filter, Rows, TableRow
from deployments.selectors.tables.state import TableState

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

PAGE_ROWS = 50
COUNTED_ROWS = 1_000
"""A total is exact up to so many rows, and up to the page that is shown; beyond that it is “more than”."""
FILE_ROWS = 20_000
"""A file holds at most so many rows, and says so when there are more."""
CHUNK_ROWS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAct:
    """What may be done with selected rows; ``question`` is read before it is done.

    ``note`` is the label of words that go with it, and ``tone`` that of its button: what takes
    something away is ``danger``.
    """

    url_name: str
    label: "StrOrPromise"
    question: "StrOrPromise"
    note: "StrOrPromise" = ""
    tone: str = "danger"


class Table(ABC):
    """A list of rows of one kind; subclasses say what is in it.

    Which rows they are may depend on the person, the state and the clock of the database alone: the
    statements are kept (``ready_rows``). ``fields`` is what is read of each row.

    ``anchor`` are a time and a number in ``fields`` that the order of always goes down by: pages
    beyond those that are counted begin at a row then.
    ``json_url_name`` is where the same rows are as lines of JSON, if anywhere.
    ``empty`` is said where there is no row at all, ``action`` leads on from there; ``source`` says
    where the figures come from.
    """

    key: TableKey
    url_name: str
    json_url_name: str = ""
    columns: tuple[Column, ...]
    fields: tuple[str, ...]
    filters: tuple[Filter, ...] = ()
    order: str
    anchor: tuple[str, str] | None = None
    search_hint: "StrOrPromise"
    bulk: BulkAct | None = None
    empty: "StrOrPromise"
    action: tuple[str, "StrOrPromise"] | None = None
    source: "StrOrPromise" = ""

    @abstractmethod
    def scope(self, user: User) -> Rows:
        """Every row that the person may see, unordered."""

    def detailed(self, user: User) -> Rows:
        """The same rows with everything that a line shows; counting needs less."""
        return self.scope(user)

    @abstractmethod
    def matching(self, rows: Rows, word: str) -> Rows:
        """The rows that one word of the search fits."""

    @abstractmethod
    def ordered_by(self, rows: Rows, column: str, user: User) -> Rows:
        """Add what the column's ``sort`` and the rows name and the tables do not have themselves."""

    @abstractmethod
    def read(
        self, rows: Iterable[Row], wanted: tuple[str, ...], user: User
    ) -> list[TableRow]:
        """Read rows of ``fields``, already ordered and cut, with a value for each wanted column."""

    def column(self, key: str) -> Column:
        """The column of that key.

        Raises:
            KeyError: the table has none.
        """
        for column in self.columns:
            if column.key == key:
                return column
        raise KeyError(key)

    @property
    def sorts(self) -> frozenset[str]:
        """Everything that the table can be sorted by."""
        return frozenset(column.key for column in self.columns if column.sort)

    def shown(self, state: TableState) -> tuple[Column, ...]:
        """The columns to show in the order of the table; the first always."""
        if not state.columns:
            return tuple(column for column in self.columns if column.shown)
        return tuple(
            column
            for place, column in enumerate(self.columns)
            if not place or column.key in state.columns
        )

    def narrowed(self, rows: Rows, user: User, state: TableState) -> Rows:
        """The rows that fit search and filters."""
        for word in state.text.split():
            rows = self.matching(rows, word)
        for one in self.filters:
            rows = one.keep(rows, state.filters.get(one.key, ""), user)
        return rows

    def sorted(self, user: User, state: TableState) -> Rows:
        """The rows that fit in the wanted order; rows that are alike stand by their id."""
        chosen = state.sort or self.order
        down = chosen.startswith("-")
        column = self.column(chosen.removeprefix("-"))
        order = [_order(name, down=down, column=column) for name in column.sort]
        rows = self.narrowed(self.detailed(user), user, state)
        rows = self.ordered_by(rows, column.key, user)
        return rows.order_by(*order, "-pk" if down else "pk")


def _order(name: str | Case, *, down: bool, column: Column) -> str | OrderBy:
    if column.nullable or not isinstance(name, str):
        last: dict[str, Any] = {"nulls_last": True}
        value = F(name) if isinstance(name, str) else name
        return value.desc(**last) if down else value.asc(**last)
    if name.startswith("-"):
        return name[1:] if down else name
    return f"-{name}" if down else name


@dataclass(frozen=True, slots=True, kw_only=True)
class SortLink:
    """A heading: its column, the address that sorts by it, and how it is sorted now."""

    column: Column
    query: str
    direction: str

    @property
    def arrow(self) -> str:
        """Which way the rows go."""
        return {
            "ascending": "\N{UPWARDS ARROW}",
            "descending": "\N{DOWNWARDS ARROW}",
        }.get(self.direction, "")


class KeptView(NamedTuple):
    """A view of the table that the person keeps; ``query`` is its address."""

    pk: uuid.UUID
    name: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePage:
    """One page of a table with everything that its template shows.

    ``total`` rows were counted; ``more`` says that there are others. ``ends`` are the first and the
    last row where the pages around begin at a row.
    """

    table: Table
    state: TableState
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    total: int
    more: bool = False
    ends: tuple[Anchor, Anchor] | None = None
    views: tuple[KeptView, ...] = ()
    density: Density = Density.COMFORTABLE

    @property
    def other_density(self) -> Density:
        """What the switch above the rows changes to."""
        compact = self.density == Density.COMPACT
        return Density.COMFORTABLE if compact else Density.COMPACT

    @property
    def pages(self) -> int:
        """How many pages the counted rows fill, at least one."""
        return max(1, math.ceil(self.total / PAGE_ROWS))

    @property
    def first(self) -> int:
        """The number of the first row shown."""
        return (self.state.page - 1) * PAGE_ROWS + 1

    @property
    def last(self) -> int:
        """The number of the last row shown."""
        return min(self.state.page * PAGE_ROWS, self.total)

    @property
    def surroundings(self) -> "TablePage":
        """The same without the rows: all that stands around them, to be compared with another page's."""
        return replace(self, rows=())

    @property
    def earlier(self) -> str:
        """The address of the page before; empty on the first."""
        page = self.state.page - 1
        if self.ends and page * PAGE_ROWS > COUNTED_ROWS:
            return self.state.query_with(page=page, until=self.ends[0])
        return self.state.query_with(page=page) if page > 0 else ""

    @property
    def later(self) -> str:
        """The address of the next page; empty on the last."""
        page = self.state.page + 1
        there = page <= self.pages or self.more
        if self.ends and there:
            return self.state.query_with(page=page, after=self.ends[1])
        return self.state.query_with(page=page) if there else ""

    @property
    def file_url_name(self) -> str:
        """Where the same rows are as a file."""
        return f"{self.table.url_name}-file"

    @property
    def open_to(self) -> bool:
        """Whether any row may be taken by the bulk action."""
        return any(row.open_to for row in self.rows)

    @property
    def headings(self) -> list[SortLink]:
        """The columns with what a click on each heading does."""
        chosen = self.state.sort or self.table.order
        return [self._heading(column, chosen) for column in self.columns]

    def _heading(self, column: Column, chosen: str) -> SortLink:
        if not column.sort:
            return SortLink(column=column, query="", direction="")
        now = {column.key: "ascending", f"-{column.key}": "descending"}.get(chosen, "")
        first = f"-{column.key}" if column.largest_first else column.key
        turned = f"-{column.key}" if now == "ascending" else column.key
        query = self.state.query_with(sort=turned if now else first)
        return SortLink(column=column, query=query, direction=now)


def table_page(user: User, table: Table, state: TableState) -> TablePage:
    """Read one page: rows, how many there are in all, and the person's saved views.

    A page beyond the last is the last.
    """
    if state.anchored and table.anchor is not None:
        return _anchored_page(user, table, state, table.anchor)
    most = max(COUNTED_ROWS, state.page * PAGE_ROWS)
    found = _counted(user, table, state, most + 1)
    total = min(found, most)
    state = replace(state, page=min(state.page, max(1, math.ceil(total / PAGE_ROWS))))
    cut = _cut(user, table, state) if total else []
    return TablePage(
        table=table,
        state=state,
        columns=table.shown(state),
        rows=_values(user, table, state, cut),
        total=total,
        more=found > most,
        ends=_ends(table, state, cut),
        views=_views(user, table),
        density=Density(user.density),
    )


def page_rows(user: User, table: Table, state: TableState) -> list[TableRow]:
    """The rows of one page with a value for each column that is shown."""
    return list(_values(user, table, state, _cut(user, table, state)))


def _anchored_page(
    user: User, table: Table, state: TableState, names: tuple[str, str]
) -> TablePage:
    """A page far down: fifty rows from the one that the address names, and whether there are others."""
    rows = table.sorted(user, state)
    if state.until is not None:
        rows = above(rows, state.until, *names)
    elif state.after is not None:
        rows = below(rows, state.after, *names)
    cut = list(rows.values_list(*table.fields)[: PAGE_ROWS + 1])
    more = state.until is not None or len(cut) > PAGE_ROWS
    cut = cut[:PAGE_ROWS]
    if state.until is not None:
        cut.reverse()
    return TablePage(
        table=table,
        state=state,
        columns=table.shown(state),
        rows=_values(user, table, state, cut),
        total=(state.page - 1) * PAGE_ROWS + len(cut),
        more=more,
        ends=_ends(table, state, cut),
        views=_views(user, table),
        density=Density(user.density),
    )


def _cut(user: User, table: Table, state: TableState) -> list[Row]:
    begin = (state.page - 1) * PAGE_ROWS

    def cut() -> Rows:
        rows = table.sorted(user, state)[begin : begin + PAGE_ROWS]
        return rows.values_list(*table.fields)

    return _found("rows", user, table, state, cut)


def _values(
    user: User, table: Table, state: TableState, cut: list[Row]
) -> tuple[TableRow, ...]:
    wanted = tuple(column.key for column in table.shown(state))
    return tuple(table.read(cut, wanted, user))


def _ends(
    table: Table, state: TableState, cut: list[Row]
) -> tuple[Anchor, Anchor] | None:
    """The first and the last row, for pages that are not counted one by one."""
    usual = state.sort in {"", table.order}
    far = state.page * PAGE_ROWS >= COUNTED_ROWS
    if table.anchor is None or not (usual and far and cut):
        return None
    at, number = (table.fields.index(name) for name in table.anchor)
    first, last = cut[0], cut[-1]
    return Anchor(first[at], first[number]), Anchor(last[at], last[number])


def _views(user: User, table: Table) -> tuple[KeptView, ...]:
    def kept() -> Rows:
        rows = SavedView.objects.filter(user=user, table=table.key)
        return rows.values_list(*KeptView._fields)

    found = ready_rows(("views", table.key, asked_by(user)), kept)
    return tuple(map(KeptView._make, found))


def _counted(user: User, table: Table, state: TableState, most: int) -> int:
    """How many rows fit, at most so many."""

    def counted() -> Rows:
        return count_up_to(most, table.narrowed(table.scope(user), user, state), user)

    found = _found("total", user, table, state, counted)
    return int(found[0][0]) if found else 0


def _found(
    part: str, user: User, table: Table, state: TableState, make: Callable[[], Rows]
) -> list[Row]:
    """The rows of a statement about a table; those of a search are not asked twice alike."""
    if state.text:
        return list(make())
    filters = tuple(sorted(state.filters.items()))
    key = (part, table.key, asked_by(user), filters, state.sort, state.page)
    return ready_rows(key, make)


def file_rows(
    user: User, table: Table, state: TableState, write: Callable[[TableRow], Any]
) -> bool:
    """Hand over the rows of a file: the same as on the pages, in their order.

    Returns whether these are all: a file holds at most ``FILE_ROWS``.
    """
    wanted = tuple(column.key for column in table.shown(state))
    rows = table.sorted(user, state)
    for begin in range(0, FILE_ROWS, CHUNK_ROWS):
        cut = rows[begin : begin + CHUNK_ROWS].values_list(*table.fields)
        chunk = table.read(cut, wanted, user)
        for row in chunk:
            write(row)
        if len(chunk) < CHUNK_ROWS:
            return True
    return not rows[FILE_ROWS : FILE_ROWS + 1].exists()
