"""Lists that show the first few and say how many there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist:
    """The first of something, and how many there are."""

    rows: Sequence[Any] = ()
    total: int = 0

    @property
    def more(self) -> int:
        """Those that have no room here."""
        return self.total - len(self.rows)
