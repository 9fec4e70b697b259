"""Pages far down a long table: they begin after a row instead of counting all rows before it."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from deployments.selectors.tables.columns import Rows


class Anchor(NamedTuple):
    """A row by the time and the number that the table goes down by."""

    at: datetime
    number: int

    def __str__(self) -> str:
        """As it stands in an address."""
        return f"{self.at.isoformat()}_{self.number}"


def anchor(word: str) -> Anchor | None:
    """The row that a word of an address names; ``None`` where it names none."""
    at, _mark, number = word.rpartition("_")
    try:
        found = Anchor(at=datetime.fromisoformat(at), number=int(number))
    except ValueError:
        return None
    return found if found.at.tzinfo is not None else None


def below(rows: Rows, edge: Anchor, at: str, number: str) -> Rows:
    """The rows after that one; ``at`` and ``number`` are the fields."""
    later = Q(**{f"{at}__lt": edge.at}) | Q(**{f"{number}__lt": edge.number})
    return rows.filter(later, **{f"{at}__lte": edge.at})


def above(rows: Rows, edge: Anchor, at: str, number: str) -> Rows:
    """The rows before that one, the nearest first."""
    earlier = Q(**{f"{at}__gt": edge.at}) | Q(**{f"{number}__gt": edge.number})
    return rows.filter(earlier, **{f"{at}__gte": edge.at}).reverse()
