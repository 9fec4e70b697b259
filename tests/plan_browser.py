"""A browser without scripts: it follows links and sends forms exactly as the page holds them."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag
from django.test import Client

Pairs = list[tuple[str, str]]


class PlainBrowser:
    """One person's browser on one page."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.status = 0
        self.address = address
        self.page = BeautifulSoup()
        self.visit(address)

    def visit(self, address: str) -> None:
        """Open an address, following redirects."""
        self._show(
            self.client.get(urljoin(self.address, address), follow=True), address
        )

    def follow(self, text: str) -> None:
        """Click the link with this text."""
        for link in self.page.select("main a[href]"):
            if link.get_text(strip=True) == text:
                self.visit(str(link["href"]))
                return
        raise AssertionError(f"there is no link {text!r}")

    def choose(self, name: str, *values: str) -> None:
        """Set a group of radio buttons or check boxes to these values."""
        boxes = self.page.select(f'input[name="{name}"]')
        assert {str(box["value"]) for box in boxes} >= set(values)
        for box in boxes:
            if box["value"] in values:
                assert not box.has_attr("disabled")
                box["checked"] = ""
            else:
                del box["checked"]

    def fill(self, name: str, value: str) -> None:
        """Type into a field."""
        field = one(self.page, f'main [name="{name}"]')
        if field.name == "textarea":
            field.string = value
        elif field.name == "select":
            self._select(field, value)
        else:
            field["value"] = value

    def press(self, text: str) -> None:
        """Press the first button with this text and send its form."""
        for button in self.page.select("main button"):
            if button.get_text(strip=True) == text and not button.has_attr("disabled"):
                self._send(button)
                return
        raise AssertionError(f"there is no button {text!r}")

    def text(self, selector: str) -> str:
        """The text of an element."""
        return one(self.page, selector).get_text(" ", strip=True)

    def _select(self, field: Tag, value: str) -> None:
        options = field.select("option")
        assert value in {str(option["value"]) for option in options}
        for option in options:
            del option["selected"]
            if option["value"] == value:
                option["selected"] = ""

    def _send(self, button: Tag) -> None:
        form = self._form_of(button)
        pairs = list(pairs_of(form))
        if button.has_attr("name"):
            pairs.append((str(button["name"]), str(button["value"])))
        action = str(form["action"])
        if form["method"] == "get":
            self.visit(f"{action}?{urlencode(pairs)}")
            return
        body = urlencode(pairs)
        answer = self.client.post(
            action, body, content_type="application/x-www-form-urlencoded", follow=True
        )
        self._show(answer, action)

    def _form_of(self, button: Tag) -> Tag:
        if button.has_attr("form"):
            return one(self.page, f'form[id="{button["form"]}"]')
        form = button.find_parent("form")
        assert isinstance(form, Tag)
        return form

    def _show(self, answer: Any, address: str) -> None:
        self.status = answer.status_code
        chain = answer.redirect_chain
        self.address = urljoin(self.address, chain[-1][0] if chain else address)
        self.page = BeautifulSoup(answer.content, "html.parser")

    @property
    def path(self) -> str:
        """The path of the address."""
        return urlsplit(self.address).path


def one(page: Tag, selector: str) -> Tag:
    """The only element that a selector finds."""
    found = page.select(selector)
    assert len(found) == 1, (selector, len(found))
    return found[0]


def pairs_of(form: Tag) -> Iterator[tuple[str, str]]:
    """The pairs that a browser would send of a form."""
    for field in form.select("input[name], select[name], textarea[name]"):
        name, kind = str(field["name"]), field.get("type")
        if field.has_attr("disabled"):
            continue
        if field.name == "textarea":
            yield name, field.get_text()
        elif field.name == "select":
            options = field.select("option[selected]") or field.select("option")[:1]
            yield name, str(options[0]["value"])
        elif kind not in {"radio", "checkbox"} or field.has_attr("checked"):
            yield name, str(field.get("value", ""))
