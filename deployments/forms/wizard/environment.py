"""Environment variables as people type them: NAME=value, one a line."""

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from deployments.forms.wizard.fields import TextField, printable, shown
from deployments.planning.environment import (
    NAME,
    looks_secret,
    refuse_odd_environment,
)
from deployments.planning.errors import PlanningError
from deployments.selectors.texts import say_error

Environment = tuple[tuple[str, str], ...]
LONGEST = 4000


class EnvironmentField(TextField):
    """Lines of ``NAME=value``; a secret is refused before it stands in a plan."""

    def clean(self, value: object) -> Environment:
        """Read the lines.

        Raises:
            ValidationError: a line is no variable, one stands twice, or one looks like a secret.
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
        return read_environment(text)


def read_environment(text: str) -> Environment:
    """Turn lines into (name, value) pairs, sorted by name.

    Raises:
        ValidationError: a line is no variable, one stands twice, or one looks like a secret.
    """
    lines = (line.strip() for line in text.splitlines())
    pairs = tuple(sorted(_read_line(line) for line in lines if line))
    try:
        refuse_odd_environment(pairs)
    except PlanningError as error:
        raise ValidationError(say_error(error)) from error
    return pairs


def write_environment(environment: Environment) -> str:
    """Spell the pairs so that ``read_environment`` gives them back."""
    return "\n".join(f"{name}={value}" for name, value in environment)


def _read_line(line: str) -> tuple[str, str]:
    name, equals, value = line.removeprefix("export ").partition("=")
    name, value = name.strip(), value.strip()
    if not equals or NAME.fullmatch(name) is None:
        raise ValidationError(
            _("“%(line)s” is no variable; write NAME=value, one a line.")
            % {"line": shown(name)}
        )
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if looks_secret(name, value):
        raise ValidationError(
            _(
                "%(name)s looks like a secret, and everybody who may see the plan would read it. Take it out; a key that clients send is named as “API key of the endpoint”."
            )
            % {"name": name}
        )
    return name, value
