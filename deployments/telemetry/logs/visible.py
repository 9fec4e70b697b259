"""Visible: log text that can hurt nobody who looks at it, with everything invisible made visible."""

import re

from deployments.telemetry.logs.lines import without_sequences

LONGEST_SHOWN = 8000
"""Characters of one line that are kept; vLLM's longest start-up line has about 3,000."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
_CONTROLS = {
    code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)
} | {
    0x0A: "\u240a",
    0x7F: "\u2421",
    **{code: f"⟨{code:02X}⟩" for code in range(0x80, 0xA0)},
}


def visible_text(text: str) -> str:
    """One line as it is shown: terminal colours gone, control and bidi characters as signs.

    Control characters become the pictures of Unicode block 2400, other invisible ones and those
    that turn the direction of text become ``⟨U+202E⟩``. Tabs stay. Longer lines are cut.
    """
    text = without_sequences(text[: LONGEST_SHOWN * 2])
    if not text.isascii() or not text.isprintable():
        text = _INVISIBLE.sub(_name, text.translate(_CONTROLS))
    return text[:LONGEST_SHOWN]


def _name(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
