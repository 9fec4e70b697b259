"""Parts of pages that are written once and kept."""

import pytest
from django.template import Context, Template
from django.utils import translation

from deployments.models import Theme
from deployments.templatetags.fixed import fixed

BAR = "components/bar.html"
TAG = "{% fixed 'components/bar.html' person=person teams=teams theme=theme here=here csrf_token=token %}"


def _bar(person: str = "Ada", here: str = "/", mark: str = "T") -> str:
    page = {"person": person, "teams": ("Blue",), "theme": Theme.DARK, "here": here}
    return Template(TAG).render(Context({**page, "token": mark, "lab_mode": True}))


def test_what_is_shown_is_what_was_given_and_nothing_of_the_page_around() -> None:
    shown = _bar()
    assert "Ada" in shown
    assert "Blue" in shown
    assert "lab mode" not in shown


def test_another_name_is_written_anew_and_braces_and_brackets_in_it_are_text() -> None:
    _bar()
    shown = _bar("{here} <b>{{ token }}")
    assert "{here} &lt;b&gt;{{ token }}" in shown
    assert "Ada" not in shown


def test_an_address_and_a_token_are_those_of_the_request_and_escaped() -> None:
    first, second = _bar(), _bar(here='/?q="{0}', mark="another")
    assert 'name="csrfmiddlewaretoken" value="T"' in first
    assert 'name="csrfmiddlewaretoken" value="another"' in second
    assert 'value="T"' not in second
    assert 'name="next" value="/?q=&quot;{0}"' in second


def test_each_language_has_its_own() -> None:
    english = _bar()
    with translation.override("zh-hans"):
        chinese = _bar()
    assert "Log out" in english
    assert "Log out" not in chinese


def test_a_word_and_the_same_as_markup_are_two_things() -> None:
    """They are equal, and would be shown as what came first."""
    page = {"teams": (), "theme": Theme.DARK, "here": "/", "csrf_token": "T"}
    markup = Template("<b>").render(Context())
    assert "<b>" in fixed(BAR, person=markup, **page)
    assert "&lt;b&gt;" in fixed(BAR, person="<b>", **page)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        fixed(BAR, person=[])  # type: ignore[arg-type]
