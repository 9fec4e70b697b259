"""The texts to translate: collected from code and templates into the catalogs, with Babel."""

import ast
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

from panel.lab.translations import LOCALES

__all__ = ["collect", "update"]

TOP = LOCALES.parent
CODE = ("deployments", "panel")
HEADER = "# Draftboard in another language."
KEYWORDS = DEFAULT_KEYWORDS | {
    f"{name}_lazy": places
    for name, places in DEFAULT_KEYWORDS.items()
    if name.endswith("gettext")
}


def collect(top: Path = TOP) -> Catalog:
    """Return every text of the code and the templates, each once, without translations."""
    catalog = Catalog(
        project="Draftboard", charset="utf-8", header_comment=HEADER, fuzzy=False
    )
    for folder in CODE:
        for path in sorted((top / folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            _add_marked(catalog, source)
            for template in _templates_of_texts(source):
                catalog.add(template)
    for path in sorted((top / "templates").rglob("*.html")):
        marked = templatize(path.read_text(encoding="utf-8"), str(path))
        _add_marked(catalog, "\n".join(line.strip() for line in marked.splitlines()))
    return catalog


def update(directory: Path = LOCALES, top: Path = TOP) -> None:
    """Bring each catalog up to date: new texts untranslated, texts that are gone left out.

    Two runs at once wait for each other, and a catalog is replaced as a whole: whoever reads it,
    or stops a run, finds the old one or the new one.
    """
    with _one_at_a_time(directory):
        collected = collect(top)
        for path in sorted(directory.glob("*/LC_MESSAGES/django.po")):
            with path.open("rb") as file:
                catalog = read_po(file, locale=path.parent.parent.name)
            catalog.update(
                collected, no_fuzzy_matching=True, update_creation_date=False
            )
            draft = path.with_suffix(".po.new")
            with draft.open("wb") as file:
                write_po(file, catalog, width=0, no_location=True, ignore_obsolete=True)
            draft.replace(path)


@contextmanager
def _one_at_a_time(directory: Path) -> Iterator[None]:
    """Hold the folder of the catalogs; whoever else wants it waits."""
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _add_marked(catalog: Catalog, source: str) -> None:
    """Add what the functions of gettext are called with."""
    found = extract("python", BytesIO(source.encode()), KEYWORDS, ["Translators"])
    for _line, message, notes, context in found:
        catalog.add(message, auto_comments=notes, context=context)


def _templates_of_texts(source: str) -> Iterator[str]:
    """Yield what ``text`` of the pure core is called with."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Name(id="text"), args=[ast.Constant(value=str(template)), *_]
            ):
                yield template
            case _:
                pass


if __name__ == "__main__":
    settings.configure()
    update()
