"""Log text on a page: nothing invisible, nothing that acts, nothing endless."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.telemetry.logs.visible import LONGEST_SHOWN, visible_text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain text", "plain text"),
        ("\x1b[31mred\x1b[0m and \x1b]0;title\x07done", "red and done"),
        ("a\x00b\x07c\x7f", "a␀b␇c␡"),
        ("50%\r60%", "50%␍60%"),
        ("key\tvalue", "key\tvalue"),
        ("\x1b", "␛"),
        ("photo_\u202egnp.exe", "photo_⟨U+202E⟩gnp.exe"),
        ("pay\u200bpal", "pay⟨U+200B⟩pal"),
        ("\u2066isolated\u2069", "⟨U+2066⟩isolated⟨U+2069⟩"),
        ("next\x85line", "next⟨85⟩line"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("bad \ufffd byte", "bad \ufffd byte"),
        ("模型加载完成 🚀", "模型加载完成 🚀"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_everything_invisible_is_shown(raw: str, shown: str) -> None:
    assert visible_text(raw) == shown


def test_a_long_line_is_cut() -> None:
    assert len(visible_text("x" * 1_000_000)) == LONGEST_SHOWN
    assert len(visible_text("\x00" * 1_000_000)) == LONGEST_SHOWN


@given(st.text())
def test_no_control_or_bidi_character_is_left(raw: str) -> None:
    shown = visible_text(raw)
    assert {unicodedata.category(sign) for sign in shown if sign != "\t"}.isdisjoint(
        {"Cc", "Cs", "Zl", "Zp"}
    )
    turning = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert turning.isdisjoint({unicodedata.bidirectional(sign) for sign in shown})
    shown.encode()
