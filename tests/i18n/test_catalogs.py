"""Every text of the panel has a translation that fits it, and no catalog holds anything else."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from django.conf import settings
from django.utils.translation import to_locale

from panel.lab.messages import collect, update
from tests.house.sources import TOP, name_of

CATALOGS = sorted(TOP.glob("locale/*/LC_MESSAGES/*.po"))
KEPT = {
    "named field": r"%\([a-z_]+\)[sd]",
    "plain field": r"(?<!%)%[sd]",
    "field of a text": r"\{[a-z][a-z_0-9]*\}",
    "tag": r"</?[a-z]+>",
    "flag": r"(?<![\w-])--[a-z][a-z-]+",
    "link in Markdown": r"\]\([^)]*\)",
}
"""What a translation takes over as it is."""

each_catalog = pytest.mark.parametrize("path", CATALOGS, ids=name_of)
Key = tuple[str | None, str]


@cache
def collected() -> Catalog:
    """Return the texts of the source, which take a second to collect."""
    return collect()


@cache
def catalog_of(path: Path) -> Catalog:
    """Return what is in a file."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name, abort_invalid=True)


def forms(text: str | tuple[str, ...] | list[str] | None) -> list[str]:
    """Return the singular and the plurals of a message or a translation."""
    return [text] if isinstance(text, str) else list(text or [])


def key(message: Message) -> Key:
    """Return what a translation is looked up by."""
    return (message.context, forms(message.id)[0])


def messages(catalog: Catalog) -> dict[Key, Message]:
    """Return the messages of a catalog without its header."""
    return {key(message): message for message in catalog if message.id}


def test_every_language_but_english_has_a_catalog() -> None:
    """English stands in the source."""
    expected = {to_locale(code) for code, _name in settings.LANGUAGES} - {"en"}
    assert {path.parent.parent.name for path in CATALOGS} == expected
    assert expected


@each_catalog
def test_catalog_holds_exactly_the_texts_of_the_source(path: Path) -> None:
    """``make messages`` brings it up to date; then translate what is new."""
    source, translated = messages(collected()), messages(catalog_of(path))
    assert sorted(map(str, source.keys() - translated.keys())) == []
    assert sorted(map(str, translated.keys() - source.keys())) == []
    assert list(catalog_of(path).obsolete) == []


@each_catalog
def test_every_text_is_translated(path: Path) -> None:
    """With all the plural forms of the language, and nothing left as a guess."""
    catalog = catalog_of(path)
    unfinished = [
        name
        for name, message in messages(catalog).items()
        for said in [forms(message.string)]
        if message.fuzzy
        or not all(form.strip() for form in said)
        or len(said) != (catalog.num_plurals if message.pluralizable else 1)
    ]
    assert unfinished == []


@each_catalog
def test_translations_keep_fields_tags_and_flags(path: Path) -> None:
    """A field that is lost hides a value; one that is new breaks the page."""
    changed = {
        (name, what)
        for name, message in messages(catalog_of(path)).items()
        for what, pattern in KEPT.items()
        for form in forms(message.string)
        if form
        and set(re.findall(pattern, form))
        not in [set(re.findall(pattern, text)) for text in forms(message.id)]
    }
    assert changed == set()


def test_texts_are_collected_from_code_templates_and_the_core(tmp_path: Path) -> None:
    """Each way of marking a text, and nothing that only looks like one."""
    (tmp_path / "deployments" / "planning").mkdir(parents=True)
    (tmp_path / "panel").mkdir()
    (tmp_path / "templates").mkdir()
    (tmp_path / "deployments" / "views.py").write_text(
        '_("Saved.")\nngettext("%d host", "%d hosts", n)\npgettext_lazy("verb", "Open")\n'
        'env.text("TIME_ZONE")\n'
    )
    (tmp_path / "deployments" / "planning" / "rules.py").write_text(
        'text("Draft {most} tokens "\n     "or fewer.", most=3)\ntext(name)\n'
    )
    (tmp_path / "templates" / "page.html").write_text(
        '  <h1>{% translate "Overview" %}</h1>\n <p>\n'
        "{% blocktranslate with name=x %}Stop {{ name }}{% endblocktranslate %}</p>"
    )
    assert set(messages(collect(tmp_path))) == {
        (None, "Saved."),
        (None, "%d host"),
        ("verb", "Open"),
        (None, "Draft {most} tokens or fewer."),
        (None, "Overview"),
        (None, "Stop %(name)s"),
    }


def test_update_keeps_translations_and_adds_what_is_new(tmp_path: Path) -> None:
    """Texts that are gone leave no trace, and a new one gets no guess."""
    path = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True)
    path.write_text(
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
        'msgid "Overview"\nmsgstr "概览"\n\nmsgid "Gone"\nmsgstr "没了"\n'
    )
    update(tmp_path)
    after = messages(catalog_of(path))
    assert after[None, "Overview"].string == "概览"
    assert (None, "Gone") not in after
    assert after[None, "Approvals"].string == ""
    assert "Gone" not in path.read_text()
    assert "fuzzy" not in path.read_text()


def test_runs_at_once_leave_a_whole_catalog(tmp_path: Path) -> None:
    """A reader never meets half a file, and each run starts from what the one before it wrote."""
    path = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True)
    texts = [f"Text number {number}" for number in range(1_000)]
    path.write_text(
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
        + "\n".join(f'msgid "{text}"\nmsgstr "文本"\n' for text in texts)
    )
    (tmp_path / "deployments").mkdir()
    source = "\n".join(f'_("{text}")' for text in [*texts, "New"])
    (tmp_path / "deployments" / "views.py").write_text(source)
    script = (
        "import sys; from pathlib import Path; from panel.lab.messages import update; "
        "update(Path(sys.argv[1]), Path(sys.argv[1]))"
    )
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            cwd=TOP,
            env=os.environ | {"DJANGO_SETTINGS_MODULE": "panel.settings"},
        )
        for _ in range(3)
    ]
    met: set[int] = set()
    while any(run.poll() is None for run in runs):
        with path.open("rb") as file:
            met.add(sum(bool(one.string) for one in read_po(file) if one.id))
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert met == {len(texts)}
    assert [found.name for found in path.parent.iterdir()] == ["django.po"]
