"""A change is a word with its sign; little is level, and nothing to compare with is said."""

import pytest
from django.utils.translation import override

from deployments.templatetags.trends import trend, trend_tone

MINUS = "\N{MINUS SIGN}"
SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("change", "said", "tone"),
    [
        (None, "no baseline", "quiet"),
        (0.0, "level", ""),
        (-0.029, "level", ""),
        (0.05, f"up +5{SPACE}%", ""),
        (-0.12, f"down {MINUS}12{SPACE}%", "attention"),
    ],
)
def test_a_change_in_words(change: float | None, said: str, tone: str) -> None:
    assert (trend(change), trend_tone(change)) == (said, tone)


def test_chinese_writes_per_cent_its_own_way() -> None:
    with override("zh-hans"):
        assert trend(-0.1) == f"下降 {MINUS}10%"
