"""Texts: English that remembers its template, in memory, in JSON, and when it is copied."""

import copy
import pickle

import pytest
from pydantic import JsonValue as Json
from pydantic import TypeAdapter, ValidationError

from deployments.planning.documents import from_document, in_english, to_document
from deployments.planning.errors import PlanningError
from deployments.planning.plan import DecisionStep, Finding, Severity
from deployments.planning.text import (
    NOTHING,
    Text,
    either,
    ended,
    listed,
    said_by,
    sentences,
    text,
    text_from_document,
)

FREE = text("The host {host} has {free} free devices.", host="gpu-1", free=2)


def test_text_is_its_english() -> None:
    assert FREE == "The host gpu-1 has 2 free devices."
    assert FREE.english == f"{FREE}"
    assert type(FREE.english) is str
    assert FREE.template == "The host {host} has {free} free devices."
    assert FREE.values == (("free", 2), ("host", "gpu-1"))


def test_braces_around_anything_else_are_just_braces() -> None:
    said = text('Write {key} as {"method": "mtp"}, not {}.', key="{host}")
    assert said == 'Write {host} as {"method": "mtp"}, not {}.'


def test_words_of_somebody_else_are_taken_as_they_are() -> None:
    assert Text("no such {image}") == "no such {image}"


def test_a_value_without_a_place_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no place for port"):
        text("Port is taken.", port=8000)


@pytest.mark.parametrize("value", [True, 0.5, None, ("a",)])
def test_values_are_strings_and_integers(value: object) -> None:
    with pytest.raises(TypeError):
        Text("{value}", {"value": value})  # type: ignore[dict-item]


def test_a_text_within_a_text_reads_back() -> None:
    said = text("{host}: {reason}", host="gpu-1", reason=FREE)
    again = text_from_document(said.document)
    assert again == said == "gpu-1: The host gpu-1 has 2 free devices."
    assert (again.template, again.values) == (said.template, said.values)
    inner = dict(again.values)["reason"]
    assert isinstance(inner, Text)
    assert inner.values == FREE.values


def test_copies_remember() -> None:
    for other in (copy.deepcopy(FREE), pickle.loads(pickle.dumps(FREE))):  # noqa: S301
        assert (other, other.values) == (FREE, FREE.values)


def test_only_wanted_values_are_filled_in() -> None:
    said = text("The value of {flag} is no JSON.").filled({"flag": "-sc", "key": "x"})
    assert said == "The value of -sc is no JSON."
    assert said.values == (("flag", "-sc"),)


def test_sentences_follow_each_other_and_nothing_is_left_out() -> None:
    said = sentences(NOTHING, text("One."), text("Two."), text("Three."))
    assert said == "One. Two. Three."
    assert sentences(NOTHING) == ""


def test_a_clause_gets_one_full_stop() -> None:
    assert ended(text("it ended")) == "it ended."
    assert ended(text("It ended.")) == "It ended."


def test_alternatives() -> None:
    assert either(("nvidia",)) == "nvidia"
    assert either(("nvidia", "cpu", "amd")) == "nvidia or cpu or amd"


def test_lists() -> None:
    said = listed((text("layers"), text("vocabulary"), "GLM"))
    assert said == "layers, vocabulary, GLM"
    assert isinstance(said, Text)
    assert listed(()) == ""


def test_errors_give_their_sentence_back() -> None:
    assert PlanningError(FREE).text.values == FREE.values
    assert said_by(ValueError("as it is")).template == "as it is"
    assert said_by(ValueError()) == ""


@pytest.mark.parametrize(
    "document",
    [
        "The host is full.",
        {"template": "Full."},
        {"template": "Full.", "values": {}, "more": 1},
        {"template": 1, "values": {}},
        {"template": "Full.", "values": []},
        {"template": "Full.", "values": {"host": "gpu-1"}},
        {"template": "{free}", "values": {"free": True}},
        {"template": "{free}", "values": {"free": 0.5}},
        {"template": "{free}", "values": {"free": None}},
        {"template": "{free}", "values": {"free": {"template": "Free."}}},
    ],
)
def test_stored_texts_are_read_strictly(document: Json) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Text).validate_python(document)


def test_findings_store_templates_and_answers_are_english() -> None:
    finding = Finding(
        code="DEVICES_INSUFFICIENT",
        category="device",
        severity=Severity.ERROR,
        message=FREE,
        fix=text("Choose another host."),
        source=text("the host's snapshot"),
    )
    document = to_document(finding)
    assert isinstance(document, dict)
    assert document["message"] == {
        "template": "The host {host} has {free} free devices.",
        "values": {"free": 2, "host": "gpu-1"},
    }
    assert from_document(Finding, document) == finding
    english = in_english(document)
    assert isinstance(english, dict)
    assert english["message"] == "The host gpu-1 has 2 free devices."
    assert english["source"] == "the host's snapshot"


def test_a_source_may_be_a_title_but_a_reason_may_not() -> None:
    step: dict[str, Json] = {"question": "Why?", "answer": "So.", "because": "It is."}
    with pytest.raises(PlanningError, match="question"):
        from_document(DecisionStep, step)
