"""Statements that PostgreSQL plans once for a connection: with many joins, planning costs more than asking.

Django writes values into what it sends, so that the database plans each statement as a new one. What
is kept (``ready_rows``) is sent apart from the person who asks, from ids and from what is given; all
else stays written in it, for plans depend on it. With ``DATABASE_PREPARES=0``, as poolers that hand
their connections around need it, statements are planned each time. SQLite gets them as Django has
them.
"""

import re
import uuid
from collections.abc import Sequence
from typing import Any

import psycopg
from django.conf import settings
from django.db import connections
from django.db.backends.utils import CursorWrapper
from psycopg import sql


def prepares(alias: str) -> bool:
    """Whether the database of this name keeps plans."""
    options = settings.DATABASES[alias].get("OPTIONS", {})
    return (
        connections[alias].vendor == "postgresql"
        and options.get("prepare_threshold") is not None
    )


def written(
    alias: str,
    statement: str,
    parameters: Sequence[Any],
    apart: tuple[type, ...],
    person: int | None,
) -> tuple[str, dict[str, Any]]:
    """The statement with its parameters written into it, and those that are sent apart, by their names.

    Apart are ids, what is of one of the types, and the person's number; another number that happens
    to be the same is as well sent apart. What occurs again has one name, so that the database sees
    that expressions are alike.
    """
    connection = connections[alias]
    connection.ensure_connection()
    values = iter(parameters)
    names: dict[Any, str] = {}

    def place(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return found[0]
        one = next(values)
        if isinstance(one, (uuid.UUID, *apart)) or (type(one) is int and one == person):
            return f"%({names.setdefault(one, f'v{len(names)}')})s"
        literal = sql.Literal(one).as_string(connection.connection)
        return literal.replace("%", "%%")

    text = re.sub("%%|%s", place, statement)
    return text, {name: one for one, name in names.items()}


def prepared_cursor(alias: str) -> CursorWrapper:
    """A cursor that prepares what it sends, with errors as Django has them.

    Where statements are logged it is one of Django's, which alone can tell them.
    """
    connection: Any = connections[alias]
    if connection.queries_logged:
        return connections[alias].cursor()
    connection.ensure_connection()
    cursor = psycopg.Cursor(connection.connection)
    wrapped: CursorWrapper = connection._prepare_cursor(cursor)  # noqa: SLF001 - Django has no other way
    return wrapped
