"""The sentences of the advice in the person's language."""

from django.utils.formats import number_format
from django.utils.translation import gettext

from deployments.planning.text import Text
from deployments.selectors.texts import say
from deployments.telemetry.advice import Statement


def sentence(statement: Statement) -> str:
    """The statement in the person's language, its numbers as they are written there."""
    return spoken(statement.text)


def spoken(said: Text) -> str:
    """A text in the person's language, its numbers as they are written there."""
    values = {
        name: value if isinstance(value, Text) else _spoken(str(value))
        for name, value in said.values
    }
    return say(said.filled(values))


def _spoken(value: str) -> str:
    """Digits in groups, and a per cent sign as the language writes it."""
    if value.isascii() and value.isdigit():
        return number_format(int(value), use_l10n=True, force_grouping=True)
    if value.endswith("%"):
        return gettext("%(number)s\u00a0%%") % {"number": value[:-1]}
    return value
