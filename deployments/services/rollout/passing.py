"""Which errors of the database pass by themselves when the same work is done again."""

import sqlite3

from django.db import OperationalError

__all__ = ["passes_by_itself"]

_PASSING = frozenset({"40001", "40P01", "55P03"})
"""SQLSTATEs of PostgreSQL: serialization failure, deadlock, and a lock that was not to be had."""
_PRIMARY = 0xFF
"""The part of an extended result code of SQLite that names the kind of error."""


def passes_by_itself(error: BaseException) -> bool:
    """Whether two transactions only stood in each other's way.

    The database has undone this one, so that nothing of it remains.
    """
    cause = error.__cause__
    if not isinstance(error, OperationalError) or cause is None:
        return False
    if getattr(cause, "sqlstate", None) in _PASSING:
        return True
    code = getattr(cause, "sqlite_errorcode", None)
    return code is not None and code & _PRIMARY == sqlite3.SQLITE_BUSY
