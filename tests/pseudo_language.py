"""A language that nobody speaks: every text that went through gettext carries accents."""

import gettext
import re
from collections.abc import Iterator

import pytest
from django.utils import translation
from django.utils.translation import trans_real

CODE = "zh-hans"
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
    with translation.override(CODE):
        yield CODE
