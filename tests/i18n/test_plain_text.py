"""Nothing that people read stands outside gettext."""

import ast
from functools import cache

import pytest

from tests.house.sources import TOP, name_of, python_files
from tests.i18n.plain_text import plain_text_of_code, plain_text_of_template

BY_LANGUAGE = TOP / "templates" / "guide"
FOR_A_TERMINAL = frozenset({"management", "checks.py"})
"""Commands and checks speak English to whoever runs the machine."""


def pages() -> list[str]:
    """Return the templates, without chapters that exist once for each language."""
    return [
        name_of(path)
        for path in sorted(TOP.glob("templates/**/*.html"))
        if path.parent.parent != BY_LANGUAGE
    ]


@cache
def shown_errors() -> frozenset[str]:
    """Return the exceptions whose message reaches a page: those of ``errors.py`` and heirs."""
    classes = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for path in python_files("deployments")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    shown = {"UseCaseError", "PlanningError", "DockerError", "StepFailedError"}
    while heirs := {name for name, bases in classes.items() if bases & shown} - shown:
        shown |= heirs
    return frozenset(shown)


@pytest.mark.parametrize("name", pages())
def test_template_says_nothing_outside_its_translation_tags(name: str) -> None:
    """Code, names and units are the same in every language; the rest is not."""
    source = (TOP / name).read_text(encoding="utf-8")
    assert plain_text_of_template(source) == []


def test_code_says_nothing_outside_gettext() -> None:
    """Messages, labels, choices, findings and the errors that people see."""
    found = {
        name_of(path): said
        for path in python_files("deployments")
        if not FOR_A_TERMINAL & set(path.parts)
        for said in [
            plain_text_of_code(path.read_text(encoding="utf-8"), shown_errors())
        ]
        if said
    }
    assert found == {}


@pytest.mark.parametrize(
    "source",
    [
        "<p>Saved</p>",
        '<p title="Saved">{{ x }}</p>',
        "<p>{{ count }} hosts</p>",
        '<a aria-label="Look at {{ name }}"></a>',
        '{{ value|default:"not known yet" }}',
        '{% include "x.html" with sentence="Nothing is live" only %}',
        "{% translate 'a' %}<b>left over</b>",
    ],
)
def test_plain_words_of_a_template_are_found(source: str) -> None:
    """Text, attributes, filters and what is handed on."""
    assert len(plain_text_of_template(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        '<p>{% translate "Saved" %}</p>',
        "{% blocktranslate %}Saved{% endblocktranslate %}",
        "<code>vllm serve</code> <kbd>Ctrl</kbd>",
        '<p class="quiet lead">{{ x }} x 3</p>',
        "<p title=\"{% translate 'Saved' %}\">r{{ number }}</p>",
        '{% include "x.html" with name="good" only %}',
        '{{ value|default:_("no data") }}',
        "{# a comment #}{% comment %}more words{% endcomment %}",
        "<p>--speculative-config num_speculative_tokens max_<wbr>model_<wbr>len</p>",
    ],
)
def test_translated_words_and_code_are_left_alone(source: str) -> None:
    """No false alarm, or people would switch the check off."""
    assert plain_text_of_template(source) == []


@pytest.mark.parametrize(
    "source",
    [
        'messages.success(request, "It is saved.")',
        'messages.error(request, f"{name} is gone.")',
        'forms.CharField(label="Name of it")',
        'forms.TextInput(attrs={"placeholder": "part of a name"})',
        'raise ConflictError("Somebody was faster.")',
        'raise ConflictError("%s was faster." % who)',
        'form.add_error("name", "This is taken.")',
        'class S(models.TextChoices):\n    A = "a", "As it is"',
        'Finding(message="The port is taken.", fix=text("Choose another."))',
    ],
)
def test_plain_words_of_code_are_found(source: str) -> None:
    """Each way in which a string reaches a page."""
    assert len(plain_text_of_code(source, frozenset({"ConflictError"}))) == 1


@pytest.mark.parametrize(
    "source",
    [
        'messages.success(request, _("It is saved."))',
        'raise ConflictError(_("%(who)s was faster.") % {"who": who})',
        'raise ConflictError(text("{who} was faster.", who=who))',
        'raise ValueError("a programmer reads this")',
        'class S(models.TextChoices):\n    A = "a", _("As it is")',
        'forms.CharField(label=_("Name of it"))',
        'logger.info("release went live", extra={"message": number})',
    ],
)
def test_translated_words_of_code_are_left_alone(source: str) -> None:
    """Gettext, texts of the core, and what only programmers read."""
    assert plain_text_of_code(source, frozenset({"ConflictError"})) == []
