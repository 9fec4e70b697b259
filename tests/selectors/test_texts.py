"""Texts are said in the active language: the template, then the texts inside it."""

import pytest
from django.utils import translation

from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, text
from deployments.selectors.texts import say, say_error
from deployments.services.errors import ConflictError
from tests.pseudo_language import active_pseudo_language  # noqa: F401 - fixture

INNER = text("the host is gone")
SAID = text("Port {port} of {host}: {reason}", port=8000, host="aeon", reason=INNER)


def test_english_is_said_as_it_is() -> None:
    with translation.override("en"):
        assert say(SAID) == "Port 8000 of aeon: the host is gone"


@pytest.mark.usefixtures("pseudo_language")
def test_templates_are_translated_and_values_are_not() -> None:
    assert say(SAID) == "Pört 8000 öf aeon: thé höst is göné"


@pytest.mark.usefixtures("pseudo_language")
def test_the_json_form_is_said_like_the_text() -> None:
    assert say(SAID.document) == say(SAID)


@pytest.mark.usefixtures("pseudo_language")
def test_other_words_stay() -> None:
    assert say("a title of a document") == "a title of a document"
    assert say(7) == "7"
    assert say(None) == say("") == say(Text("")) == ""


def test_a_translation_may_leave_a_field_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "deployments.selectors.texts.gettext", lambda _message: "{port} {other} {{}}"
    )
    assert say(SAID) == "8000 {other} {{}}"


@pytest.mark.usefixtures("pseudo_language")
def test_errors_are_said() -> None:
    assert say_error(PlanningError(INNER)) == "thé höst is göné"
    assert say_error(ConflictError(INNER)) == "thé höst is göné"
