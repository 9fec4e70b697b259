"""Feature switches in an address: ``key`` turns one on, ``-key`` off, both together say nothing.

A check box of a switch that is on unasked is sent together with a hidden ``-key``, since browsers
send nothing for a box that is not checked.
"""

import re
from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from deployments.forms.wizard.fields import NamesField, shown

OFF = "-"
_WORD = re.compile(r"-?[a-z][a-z0-9_]{0,39}")

Switches = tuple[tuple[str, bool], ...]


class SwitchesField(NamesField):
    """What differs from the catalog, as sorted (key, on) pairs."""

    def clean(self, value: object) -> Switches:  # type: ignore[override]
        """Read the switches.

        Raises:
            ValidationError: a word is no name of a switch.
        """
        words = [str(word) for word in self.to_python(value) if word]
        for word in words:
            if _WORD.fullmatch(word) is None:
                raise ValidationError(
                    _("“%(word)s” is no switch; choose from the list.")
                    % {"word": shown(word)}
                )
        return tuple(
            sorted(
                (word.removeprefix(OFF), word[0] != OFF) for word in told_apart(words)
            )
        )


def told_apart(words: Iterable[str]) -> list[str]:
    """Each word once, without those that stand both with and without the sign."""
    once = list(dict.fromkeys(words))
    return [one for one in once if _opposite(one) not in once]


def write_switches(switches: Switches) -> list[str]:
    """Spell the pairs so that the field gives them back."""
    return [key if on else f"{OFF}{key}" for key, on in switches]


def _opposite(word: str) -> str:
    return word.removeprefix(OFF) if word.startswith(OFF) else f"{OFF}{word}"
