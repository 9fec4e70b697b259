"""Form fields that read an address strictly: digits are digits, names are printable."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from deployments.selectors.texts import listed

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

    Choice: TypeAlias = tuple[str, StrOrPromise]
    Choices: TypeAlias = list[Choice | tuple[StrOrPromise, list[Choice]]]

_DIGITS = re.compile(r"[0-9]+")
_MOST_DIGITS = 15
_SHOWN = 40


def shown(value: object) -> str:
    """A value as a message may repeat it: printable and short."""
    text = "".join(sign if printable(sign) else "�" for sign in str(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def printable(text: str, *, several_lines: bool = False) -> bool:
    """Whether nothing in the text is a control, format, surrogate or unassigned character."""
    allowed = "\r\n" if several_lines else ""
    return all(
        sign in allowed or not unicodedata.category(sign).startswith("C")
        for sign in text
    )


class NumberField(forms.Field):
    """A whole number in plain digits between ``low`` and ``high``, both included."""

    def __init__(
        self,
        *,
        low: int,
        high: int,
        label: "StrOrPromise",
        help_text: "StrOrPromise",
        unit: "StrOrPromise" = "",
    ) -> None:
        self.low, self.high, self.unit = low, high, unit
        widget = forms.NumberInput(
            attrs={"min": low, "max": high, "step": 1, "inputmode": "numeric"}
        )
        super().__init__(
            required=False, widget=widget, label=label, help_text=help_text
        )

    def to_python(self, value: object) -> int | None:
        """Read the digits; empty is ``None``, left to the planner.

        Raises:
            ValidationError: it is no whole number, or outside the range.
        """
        text = "" if value is None else str(value).strip()
        if not text:
            return None
        if not _DIGITS.fullmatch(text):
            raise ValidationError(
                _(
                    "“%(value)s” is not a whole number; write digits only, %(low)s to %(high)s."
                )
                % {"value": shown(text), "low": self.low, "high": self.high}
            )
        number = int(text) if len(text) <= _MOST_DIGITS else None
        if number is None or not self.low <= number <= self.high:
            raise ValidationError(
                _(
                    "%(value)s is out of range; choose a number from %(low)s to %(high)s."
                )
                % {"value": shown(text), "low": self.low, "high": self.high}
            )
        return number


class Spelling(NamedTuple):
    """A pattern that a whole text must match, and what to do when it does not."""

    pattern: str
    mend: "StrOrPromise"


ANY = Spelling("", "")


class TextField(forms.CharField):
    """One line of printable text that a pattern describes."""

    def __init__(
        self,
        *,
        longest: int,
        label: "StrOrPromise",
        help_text: "StrOrPromise",
        spelling: Spelling = ANY,
        widget: forms.Widget | None = None,
    ) -> None:
        self.longest, self.mend = longest, spelling.mend
        self.pattern = re.compile(spelling.pattern) if spelling.pattern else None
        super().__init__(
            required=False, strip=True, widget=widget, label=label, help_text=help_text
        )
        self.widget.attrs.update({"maxlength": longest, "autocomplete": "off"})
        self.widget.attrs.update({"spellcheck": "false", "autocapitalize": "off"})

    def to_python(self, value: object) -> str:
        """Read the line.

        Raises:
            ValidationError: it holds a character that cannot be seen, is too long, or is spelt
                against the pattern.
        """
        text = super().to_python(value) or ""
        if not printable(text):
            raise ValidationError(
                _("This holds a control or invisible character; type the value again.")
            )
        if len(text) > self.longest:
            raise ValidationError(
                _("This is %(length)s characters long; keep it to %(longest)s.")
                % {"length": len(text), "longest": self.longest}
            )
        if text and self.pattern and not self.pattern.fullmatch(text):
            raise ValidationError(
                _("“%(value)s” cannot be used here: %(mend)s")
                % {"value": shown(text), "mend": self.mend}
            )
        return text


class OneOfField(forms.ChoiceField):
    """One of a few spellings, which may stand in groups; empty is the first of them."""

    def __init__(
        self,
        *,
        choices: "Choices",
        label: "StrOrPromise",
        help_text: "StrOrPromise",
        widget: type[forms.Widget] = forms.RadioSelect,
    ) -> None:
        self.spellings = list(_keys(choices))
        self.first = self.spellings[0]
        super().__init__(
            required=False,
            choices=choices,
            widget=widget,
            label=label,
            help_text=help_text,
        )

    def also(self, names: Iterable[str]) -> None:
        """Offer more values, under their own names."""
        added = [(name, name) for name in names]
        self.spellings = [*self.spellings, *(name for name, _title in added)]
        before: Any = self.choices
        self.choices = [*before, *added]

    def bound_data(self, data: object, initial: object) -> object:
        """An untouched choice shows the first one."""
        return super().bound_data(data, initial) or self.first

    def clean(self, value: object) -> str:
        """Read the choice.

        Raises:
            ValidationError: it is none of the choices.
        """
        text = "" if value is None else str(value)
        if not text:
            return self.first
        if text not in self.spellings:
            raise ValidationError(
                _("“%(value)s” is no choice here; choose one of: %(known)s.")
                % {
                    "value": shown(text),
                    "known": listed(filter(None, self.spellings)),
                }
            )
        return text


def _keys(choices: "Choices") -> Iterator[str]:
    for key, title in choices:
        if isinstance(title, list):
            yield from (one for one, _title in title)
        else:
            yield str(key)


class NamesField(forms.MultipleChoiceField):
    """Several names, each once, in the order of the address; the form checks that they exist."""

    def __init__(self, *, label: "StrOrPromise", help_text: "StrOrPromise") -> None:
        super().__init__(
            required=False,
            widget=forms.CheckboxSelectMultiple,
            label=label,
            help_text=help_text,
        )

    def clean(self, value: object) -> tuple[str, ...]:
        """Read the names as they stand, without repetition."""
        return tuple(dict.fromkeys(str(name) for name in self.to_python(value) if name))
