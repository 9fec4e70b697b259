"""Parts of a parsed page, as people read them."""

from bs4 import Tag


def words(page: Tag, selector: str) -> str:
    """The text of the first element that matches, with single spaces."""
    element = page.select_one(selector)
    assert element is not None, selector
    return " ".join(element.get_text(" ").split())


def attribute(page: Tag, selector: str, name: str) -> str:
    """One attribute of the first element that matches."""
    element = page.select_one(selector)
    assert element is not None, selector
    return str(element[name])
