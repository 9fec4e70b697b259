"""Reading pages in tests: parsed HTML, and the number of queries behind them."""

from typing import Protocol

from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

HTMX = {"HX-Request": "true"}


class Answer(Protocol):
    """What the test client gives back, as far as these functions read it."""

    @property
    def content(self) -> bytes:
        """The body."""


def parsed(response: Answer) -> BeautifulSoup:
    """The answer as a document."""
    return BeautifulSoup(response.content, "lxml")


def text_of(response: Answer, selector: str = "main") -> str:
    """The text of the first element that matches, with single spaces."""
    element = parsed(response).select_one(selector)
    assert element is not None, selector
    return " ".join(element.get_text(" ").split())


def queries_for(client: Client, path: str) -> int:
    """How many queries a page takes, log-in included."""
    with CaptureQueriesContext(connection) as captured:
        response = client.get(path)
    assert response.status_code == 200, response.status_code
    return len(captured)
