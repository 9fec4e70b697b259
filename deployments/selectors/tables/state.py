"""What a person asked of a table; everything in it stands in the address."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from deployments.selectors.tables.anchors import Anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """What a person asked of a table; everything in it stands in the address."""

    text: str = ""
    filters: Mapping[str, str] = field(default_factory=dict, hash=False)
    sort: str = ""
    columns: tuple[str, ...] = ()
    page: int = 1
    after: Anchor | None = None
    until: Anchor | None = None

    @property
    def anchored(self) -> bool:
        """Whether the page begins, or ends, at a row."""
        return self.after is not None or self.until is not None

    @property
    def query(self) -> str:
        """The address without what is as always, and without the page."""
        return self.query_with()

    def query_with(self, **changes: object) -> str:
        """The address with something else in it, each on its own: ``sort``, ``page``, a filter."""
        values = {
            "q": self.text,
            **self.filters,
            "sort": self.sort,
            "columns": ",".join(self.columns),
            **{key: str(value) for key, value in changes.items()},
        }
        return urlencode({key: value for key, value in values.items() if value})

    @property
    def narrowed(self) -> bool:
        """Whether a search or a filter leaves rows out."""
        return bool(self.text or any(self.filters.values()))
