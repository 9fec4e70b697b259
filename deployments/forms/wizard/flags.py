"""Extra flags as people type them: one a line, as the pairs that a revision holds."""

import json
import re
import shlex

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from deployments.forms.wizard.fields import TextField, printable, shown

Flags = tuple[tuple[str, str], ...]

LONGEST = 1500
MOST = 40
_FLAG = re.compile(r"--[a-z0-9][a-z0-9._-]{0,79}", re.IGNORECASE)


class FlagsField(TextField):
    """Lines of ``--flag`` or ``--flag value``; JSON values are checked as JSON."""

    def clean(self, value: object) -> Flags:
        """Read the lines.

        Raises:
            ValidationError: one line is no flag; the message names it.
        """
        text = "" if value is None else str(value)
        if len(text) > self.longest:
            raise ValidationError(
                _("This is %(length)s characters long; keep it to %(longest)s.")
                % {"length": len(text), "longest": self.longest}
            )
        if not printable(text, several_lines=True):
            raise ValidationError(
                _("This holds a control or invisible character; type the value again.")
            )
        return read_flags(text)


def read_flags(text: str) -> Flags:
    """Turn lines into (flag, value) pairs; an empty value is a switch.

    Raises:
        ValidationError: a line is no flag, a flag stands twice, or JSON cannot be read.
    """
    pairs = [_read_line(line) for line in _lines(text)]
    names = [flag for flag, _value in pairs]
    for flag in names:
        if names.count(flag) > 1:
            raise ValidationError(
                _("%(flag)s stands twice; keep one line of it.") % {"flag": flag}
            )
    if len(pairs) > MOST:
        raise ValidationError(
            _("These are %(count)s flags; keep it to %(most)s.")
            % {"count": len(pairs), "most": MOST}
        )
    return tuple(pairs)


def write_flags(flags: Flags) -> str:
    """Spell the pairs so that ``read_flags`` gives them back."""
    return "\n".join(
        f"{flag} {_quoted(value)}" if value else flag for flag, value in flags
    )


def _lines(text: str) -> list[str]:
    stripped = (line.strip().removesuffix("\\").strip() for line in text.splitlines())
    return [line for line in stripped if line]


def _read_line(line: str) -> tuple[str, str]:
    flag, _space, value = line.partition(" ")
    if "=" in flag:
        flag, _equals, rest = line.partition("=")
        value = rest
    if not _FLAG.fullmatch(flag):
        raise ValidationError(
            _("“%(line)s” is no flag; write one flag a line, such as --flag value.")
            % {"line": shown(line)}
        )
    return flag, _read_value(flag, value.strip())


def _read_value(flag: str, value: str) -> str:
    if value[:1] in {"{", "["}:
        _check_json(flag, value)
        return value
    try:
        words = shlex.split(value)
    except ValueError:
        raise ValidationError(
            _("The quotes after %(flag)s do not close.") % {"flag": flag}
        ) from None
    if len(words) > 1:
        raise ValidationError(
            _(
                "%(flag)s is followed by several words; quote a value with spaces, and write one flag a line."
            )
            % {"flag": flag}
        )
    word = words[0] if words else ""
    if value and not word:
        raise ValidationError(
            _(
                "%(flag)s is followed by empty quotes; give it a value or leave them out."
            )
            % {"flag": flag}
        )
    if word[:1] in {"{", "["}:
        _check_json(flag, word)
    return word


def _check_json(flag: str, text: str) -> None:
    try:
        json.loads(
            text, object_pairs_hook=_refuse_repeated, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise ValidationError(
            _(
                "The JSON after %(flag)s cannot be read; check its quotes and brackets, and that no key stands twice."
            )
            % {"flag": flag}
        ) from None


def _refuse_repeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _quoted(value: str) -> str:
    plain = value[:1] in {"{", "["} and value == value.strip()
    return value if plain and not value.endswith("\\") else shlex.quote(value)
