"""The cells of a table, written at once: a template for each would cost more than the query.

What a cell shows is what the component of its kind shows; those few that repeat in every row are
rendered once for each language and value.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from deployments.selectors.tables.columns import (
    Act,
    Column,
    Kind,
    Link,
    MethodChoice,
    State,
)
from deployments.selectors.texts import listed
from deployments.templatetags.drawings import spark_line
from deployments.templatetags.figures import (
    count,
    figure,
    known,
    method_name,
    no_data,
    offset,
    parameters,
    percent,
    platform_name,
)
from deployments.templatetags.status import status_of

Cell: TypeAlias = SafeString | str


@lru_cache(maxsize=512)
def _component(
    language: str | None, name: str, values: tuple[tuple[str, Any], ...]
) -> SafeString:
    del language
    return render_to_string(f"components/{name}.html", dict(values))


def component(name: str, **values: str | int | None) -> SafeString:
    """A component, rendered once for each language and context."""
    return _component(get_language(), name, tuple(values.items()))


@lru_cache(maxsize=512)
def _status(language: str | None, kind: str, value: str) -> SafeString:
    del language
    return render_to_string(
        "components/status.html", {"status": status_of(kind, value)}
    )


def nothing(column: Column) -> SafeString:
    """What stands where there is no value."""
    return _nothing(get_language(), column)


@lru_cache(maxsize=256)
def _nothing(language: str | None, column: Column) -> SafeString:
    del language
    return format_html('<span class="quiet">{}</span>', column.none or no_data())


def _link(link: Link, _column: Column) -> Cell:
    marks: Cell = ""
    if link.practice:
        marks = format_html(" {}", component("practice"))
    if link.mark:
        marks = format_html("{} {}", marks, component("badge", label=link.mark))
    if not link.note:
        return format_html('<a href="{}">{}</a>{}', link.url, link.text, marks)
    return format_html(
        '<a href="{}">{}</a>{}<small class="wrap-anywhere">{}</small>',
        link.url,
        link.text,
        marks,
        link.note,
    )


def _state(state: State, column: Column) -> Cell:
    if not state.value:
        return nothing(column)
    return _status(get_language(), state.kind, state.value)


def _method(choice: MethodChoice, column: Column) -> Cell:
    if choice.method is None:
        return nothing(column)
    return component("method", method=choice.method, count=choice.number)


def _methods(methods: Sequence[str], column: Column) -> Cell:
    return listed(map(method_name, methods)) if methods else nothing(column)


def _words(words: Sequence[str], column: Column) -> Cell:
    return listed(words) if words else nothing(column)


def _text(value: str | None, column: Column) -> Cell:
    return value or ("" if column.silent else nothing(column))


def _spark(values: Sequence[float | None], _column: Column) -> Cell:
    return spark_line(values)


def _act(act: Act, _column: Column) -> Cell:
    return format_html(
        '<a class="button{}" href="{}">{}<span class="vh"> {}</span></a>',
        " primary" if act.first else "",
        act.url,
        act.label,
        act.about,
    )


def _known(value: bool | None, _column: Column) -> Cell:  # noqa: FBT001
    text = known(value)
    return text if value else format_html('<span class="quiet">{}</span>', text)


def _number(write: Callable[[Any], str]) -> Callable[[Any, Column], Cell]:
    def cell(value: float | None, column: Column) -> Cell:
        return nothing(column) if value is None else write(value)

    return cell


# Times pass and are put into a row each time it is shown.
CELLS: Mapping[Kind, Callable[[Any, Column], Cell]] = {
    Kind.LINK: _link,
    Kind.TEXT: _text,
    Kind.WORDS: _words,
    Kind.STATE: _state,
    Kind.METHOD: _method,
    Kind.METHODS: _methods,
    Kind.PLATFORM: lambda value, _column: platform_name(value),
    Kind.SPARK: _spark,
    Kind.COUNT: _number(count),
    Kind.FIGURE: _number(figure),
    Kind.PERCENT: _number(percent),
    Kind.PARAMETERS: _number(parameters),
    Kind.OFFSET: _number(offset),
    Kind.KNOWN: _known,
    Kind.ACTION: _act,
}


def opening(column: Column, *, first: bool) -> SafeString:
    """What stands before the value of a cell."""
    names = [
        name
        for name, wanted in (("full", column.wide), ("fig", column.figure))
        if wanted
    ]
    names_attribute = format_html(' class="{}"', " ".join(names)) if names else ""
    if first:
        return format_html('<th scope="row"{}>', names_attribute)
    label = column.label or column.title
    return format_html('<td{} data-label="{}">', names_attribute, label)


def ending(*, first: bool) -> SafeString:
    """What stands after it."""
    return format_html("</{}>", "th" if first else "td")
