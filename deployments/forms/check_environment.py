"""The environment variables of launches that exist, as the wizard takes them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from deployments.planning.environment import (
    LONGEST_VALUE,
    MOST,
    NAME,
    belongs_to_panel,
    forbidden_because,
    looks_secret,
)
from deployments.selectors.texts import say

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Variables = Mapping[str, str]


def sorted_out(
    launches: Iterable[Variables], *, longest: int
) -> tuple[dict[str, str], tuple[tuple[str, "StrOrPromise"], ...]]:
    """What the wizard's field takes of the variables, and what it does not, with the reason.

    ``longest`` is the length of the field's text in characters.
    """
    kept: dict[str, str] = {}
    left: list[tuple[str, StrOrPromise]] = []
    size = 0
    for name, values in _together(launches):
        why = _why_not(name, values)
        size += 0 if why else len(f"{name}={values[0]}\n")
        if not why and (len(kept) == MOST or size > longest):
            why = _("There are more variables than a plan takes.")
        if why:
            left.append((name, why))
        else:
            kept[name] = values[0]
    return kept, tuple(left)


def _together(launches: Iterable[Variables]) -> Iterator[tuple[str, list[str]]]:
    """Each name once with its different values."""
    found: dict[str, list[str]] = {}
    for variables in launches:
        for name, value in variables.items():
            values = found.setdefault(name, [])
            if value not in values:
                values.append(value)
    yield from found.items()


def _why_not(name: str, values: list[str]) -> "StrOrPromise":
    value, why = values[0], forbidden_because(name)
    if why is not None:
        return _("Plans may not hold it: %(why)s.") % {"why": say(why)}
    reasons: tuple[tuple[bool, StrOrPromise], ...] = (
        (belongs_to_panel(name), _("The plan sets it itself.")),
        (
            len(values) > 1,
            _("The launches give it different values; a plan has one."),
        ),
        (
            looks_secret(name, value),
            _("It looks like a secret, which does not belong in a plan."),
        ),
        ("$" in value, _("Its value is a variable of the shell.")),
        (
            NAME.fullmatch(name) is None or not value.isprintable(),
            _("Its value holds characters that cannot be seen."),
        ),
        (len(value) > LONGEST_VALUE, _("Its value is too long for a plan.")),
    )
    return next((reason for true, reason in reasons if true), "")
