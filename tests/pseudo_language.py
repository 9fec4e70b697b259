"""A language that nobody speaks: every text that went through gettext carries accents."""

import gettext
import re
import sys
from collections.abc import Iterator

import pytest
from django.utils import translation
from django.utils.translation import trans_real

CODE = "zh-hans"
KEEPING = ("deployments.templatetags.", "deployments.selectors.")
"""Modules that keep words, rows and pieces of pages in the language that they are said in."""
_LETTERS = str.maketrans("aeouAEO", "àéöüÀÉÖ")
_KEPT = re.compile(r"(\{\w+\}|%\(\w+\)[sdg]|%[sd%]|<[^>]+>|&\w+;)")


def pseudo(message: str) -> str:
    """A message in the language; fields and tags stay."""
    parts = _KEPT.split(message)
    return "".join(
        part if place % 2 else part.translate(_LETTERS)
        for place, part in enumerate(parts)
    )


class _Catalog(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return pseudo(message.rpartition("\x04")[2])

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def language(self) -> str:
        return CODE

    def to_language(self) -> str:
        return CODE


@pytest.fixture(name="pseudo_language")
def active_pseudo_language(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Put the language in the place of Chinese, also for whoever asks for pages."""
    monkeypatch.setitem(trans_real._translations, CODE, _Catalog())  # type: ignore[attr-defined]  # noqa: SLF001
    _forget_words()
    with translation.override(CODE):
        yield CODE
    _forget_words()


def _forget_words() -> None:
    """Empty what pages keep for each language: these words are nobody else's."""
    keeping = [name for name in sys.modules if name.startswith(KEEPING)]
    for name in keeping:
        for kept in vars(sys.modules[name]).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()
