"""People in rows that were read without their model."""

from collections.abc import Mapping
from typing import Any


def full_name(row: Mapping[str, Any], path: str) -> str:
    """The name of the person at ``path``, as ``str(user)`` gives it."""
    names = f"{row[f'{path}__first_name']} {row[f'{path}__last_name']}".strip()
    return names or str(row[f"{path}__username"])
