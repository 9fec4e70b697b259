"""What stands around the rows of a table."""

from deployments.selectors.tables.releases import RELEASES
from deployments.selectors.tables.state import TableState
from deployments.selectors.tables.table import TablePage


def _page(**changed: object) -> TablePage:
    state = TableState(**{"filters": {"show": "live"}, **changed})  # type: ignore[arg-type]
    return TablePage(
        table=RELEASES, state=state, columns=RELEASES.shown(state), rows=(), total=101
    )


def test_surroundings_are_equal_where_all_but_the_rows_is() -> None:
    assert hash(_page().surroundings) == hash(_page())
    assert _page().surroundings == _page()
    assert _page(filters={"show": "failed"}) != _page()
    assert _page(sort="state") != _page()
    assert _page(page=2) != _page()


def test_the_last_page_ends_with_the_last_row() -> None:
    assert [(one.first, one.last) for one in (_page(), _page(page=3))] == [
        (1, 50),
        (101, 101),
    ]
