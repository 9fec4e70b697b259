"""Rows as the database driver gives them, for lists whose conversion would cost more than the query.

Django converts every value of every row in Python; where thousands of rows make one page, that is
most of the time. What is read so is text, numbers and ids only.
"""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet


def plain_rows(rows: QuerySet[Any, Any]) -> Sequence[tuple[Any, ...]]:
    """The rows of a ``values_list`` without conversion: sums may be decimals, ids may be texts."""
    try:
        statement, parameters = rows.query.sql_with_params()
    except EmptyResultSet:
        return ()
    with connections[rows.db].cursor() as cursor:
        cursor.execute(statement, parameters)
        found: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return found
