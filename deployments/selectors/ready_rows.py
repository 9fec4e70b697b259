"""Statements that pages ask again and again, made once: making one takes Django longer than asking.

A statement is kept under a key that names everything it depends on: who asks, and for what. What
changes with every question is not written into it but ``Given`` when it is asked. A statement that
holds a time all the same is made anew each time, for that time would never pass.
"""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import (
    BooleanField,
    Expression,
    F,
    Field,
    Func,
    IntegerField,
    Model,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.query import ModelIterable
from django.db.models.sql.compiler import SQLCompiler
from django.utils.dateparse import parse_datetime

from deployments.models import User
from deployments.selectors.prepared import prepared_cursor, prepares, written

Row = tuple[Any, ...]
M = TypeVar("M", bound=Model)
MOST_KEPT = 1024
"""Some twenty kilobytes each."""
_kept: dict[Hashable, "Statement"] = {}


class Slot(NamedTuple):
    """The place of a given value among the parameters."""

    name: str
    field: "Field[Any, Any]"
    many: bool


class Given(Expression):
    """A value, or ``many``, that is put in under its name when the statement is asked."""

    def __init__(
        self, name: str, output_field: "Field[Any, Any]", *, many: bool = False
    ) -> None:
        super().__init__(output_field=output_field)
        self.slot = Slot(name, output_field, many)

    def as_sql(  # type: ignore[override]  # the slot becomes a value later
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Slot]]:
        """A parameter alone."""
        del compiler, connection
        return "%s", (self.slot,)


class AmongGiven(Func):
    """Whether a column is one of the values given under a name, however many these are."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()

    def __init__(self, column: str, name: str, field: "Field[Any, Any]") -> None:
        super().__init__(F(column), Given(name, field, many=True))

    def as_sqlite(
        self,
        compiler: SQLCompiler,
        connection: BaseDatabaseWrapper,
        **_extra: Any,  # noqa: ANN401 - as Django has it
    ) -> tuple[str, tuple[str | int, ...]]:
        """The same for a database without arrays."""
        among = " IN (SELECT value FROM json_each("
        template = "%(expressions)s))"
        return self.as_sql(compiler, connection, template=template, arg_joiner=among)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement as the database takes it, and what makes values of its rows.

    The compiler has no connection: each thread has its own.
    """

    sql: str
    parameters: Sequence[Any] | Mapping[str, Any]
    compiler: SQLCompiler
    alias: str
    prepared: bool = False

    def rows(self, **given: Any) -> list[Row]:  # noqa: ANN401 - as the columns are
        """Ask it; values are those of a ``values_list``."""
        compiler = copy(self.compiler)
        compiler.connection = connections[self.alias]
        found = compiler.results_iter(
            results=[list(self.plain_rows(**given))], tuple_expected=True
        )
        return [tuple(row) for row in found]

    def plain_rows(self, **given: Any) -> Sequence[Row]:  # noqa: ANN401 - as the columns are
        """Ask it; values are as the driver gives them: sums may be decimals, ids may be texts."""
        with self._cursor() as cursor:
            cursor.execute(self.sql, self._filled(given))
            found: Sequence[Row] = cursor.fetchall()
        return found

    def models(self, **given: Any) -> list[Any]:  # noqa: ANN401 - as the columns are
        """Ask it; the instances of a queryset, with what it selects beside them and its annotations."""
        compiler: Any = copy(self.compiler)
        compiler.connection = connections[self.alias]
        compiler.execute_sql = lambda **_chunks: [list(self.plain_rows(**given))]
        compiled: Any = _Compiled(self.alias, compiler)
        return list(ModelIterable(compiled))

    def _cursor(self) -> CursorWrapper:
        if self.prepared:
            return prepared_cursor(self.alias)
        return connections[self.alias].cursor()

    def _filled(self, given: Mapping[str, Any]) -> list[Any] | dict[str, Any]:
        connection = connections[self.alias]

        def filled(one: Any) -> Any:  # noqa: ANN401 - as the columns are
            if isinstance(one, Slot):
                return _given(one, given[one.name], connection)
            return one

        if isinstance(self.parameters, Mapping):
            return {name: filled(one) for name, one in self.parameters.items()}
        return [filled(one) for one in self.parameters]


@dataclass(frozen=True, slots=True)
class _Compiled:
    """As much of a queryset as Django's iterator over instances asks for."""

    db: str
    compiler: SQLCompiler
    _known_related_objects: Mapping[Any, Any] = field(default_factory=dict)

    @property
    def query(self) -> "_Compiled":
        """What has the compiler."""
        return self

    def get_compiler(self, using: str) -> SQLCompiler:
        """The one that is ready."""
        del using
        return self.compiler


def ready_rows(
    key: Hashable,
    make: Callable[[], QuerySet[Any, Any]],
    **given: Any,  # noqa: ANN401 - as the columns are
) -> list[Row]:
    """The rows of a ``values_list`` that ``make`` makes, unless it is kept under the key already."""
    statement = _statement(key, make)
    return statement.rows(**given) if statement else []


def ready_plain_rows(
    key: Hashable,
    make: Callable[[], QuerySet[Any, Any]],
    **given: Any,  # noqa: ANN401 - as the columns are
) -> Sequence[Row]:
    """The same without conversion, which would cost more than the query where rows are many."""
    statement = _statement(key, make)
    return statement.plain_rows(**given) if statement else ()


def ready_models(
    key: Hashable,
    make: Callable[[], QuerySet[M, M]],
    **given: Any,  # noqa: ANN401 - as the columns are
) -> list[M]:
    """The instances of a queryset that ``make`` makes; what it prefetches is left to the caller."""
    statement = _statement(key, make)
    return statement.models(**given) if statement else []


class _Counted(Subquery):
    """The number of rows of a query."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def count_up_to(most: int, rows: QuerySet[Any, Any], user: User) -> QuerySet[Any, Any]:
    """How many rows there are, ``most`` where there are more, as a ``values_list`` of one row and column.

    The database stops at the last one that counts: to visit 10,000 releases for their number takes it
    longer than to find the fifty rows of a page. The row is that of the person who asks.
    """
    alike = rows.order_by().annotate(alike=Value(1)).values("alike")[:most]
    return User.objects.filter(pk=user.pk).values_list(_Counted(alike))


class Asker(NamedTuple):
    """What a statement may depend on of the person who asks."""

    pk: int
    active: bool
    superuser: bool


def asked_by(user: User) -> Asker:
    """The part of a key that names who asks."""
    return Asker(user.pk, user.is_active, user.is_superuser)


def _statement(
    key: Hashable, make: Callable[[], QuerySet[Any, Any]]
) -> Statement | None:
    """The statement; ``None`` where it cannot find anything."""
    known = _kept.get(key)
    if known is not None:
        return known
    rows = make()
    compiler = rows.query.get_compiler(rows.db)
    try:
        sql, parameters = compiler.as_sql()
    except EmptyResultSet:
        return None
    del compiler.connection
    if any(map(_is_time, parameters)):
        return Statement(sql, tuple(parameters), compiler, rows.db)
    if prepares(rows.db):
        person = next((one.pk for one in _parts(key) if isinstance(one, Asker)), None)
        text, apart = written(rows.db, sql, parameters, (Slot,), person)
        made = Statement(text, apart, compiler, rows.db, prepared=True)
    else:
        made = Statement(sql, tuple(parameters), compiler, rows.db)
    if len(_kept) >= MOST_KEPT:
        _kept.clear()
    _kept[key] = made
    return made


def _parts(key: Hashable) -> tuple[Hashable, ...]:
    return key if isinstance(key, tuple) else (key,)


def _is_time(parameter: object) -> bool:
    """Whether it is a time, which SQLite takes as text."""
    if isinstance(parameter, str):
        with suppress(ValueError):
            return parse_datetime(parameter) is not None
    return isinstance(parameter, date)


def _given(slot: Slot, value: Any, connection: BaseDatabaseWrapper) -> Any:  # noqa: ANN401
    if not slot.many:
        return slot.field.get_db_prep_value(value, connection)
    if connection.vendor == "postgresql":
        return list(value)
    return json.dumps([slot.field.get_db_prep_value(one, connection) for one in value])
