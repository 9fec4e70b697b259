"""Texts as sentences: one full stop, in the language of the page."""

import pytest
from django.utils import translation

from deployments.templatetags.texts import sentence


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("port 8000 is in use", "port 8000 is in use."),
        ("killed (exit code 137)", "killed (exit code 137)."),
        ("It does not run.", "It does not run."),
        ("", ""),
        (None, ""),
    ],
)
def test_a_sentence_ends_with_one_full_stop(said: str | None, shown: str) -> None:
    with translation.override("en"):
        assert sentence(said) == shown


def test_a_chinese_sentence_ends_with_its_own() -> None:
    with translation.override("zh-hans"):
        assert sentence("端口已被占用") == "端口已被占用。"
        assert sentence("端口已被占用。") == "端口已被占用。"
