"""What somebody wants to see of the logs of a deployment; all of it stands in the address."""

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deployments.models import LogRun
from deployments.selectors.log_lines import LEVELS
from deployments.selectors.logs import MERGED, SIDE_BY_SIDE
from deployments.services.log_view import MOST_REPLICAS
from deployments.telemetry.logs.searching import (
    LONGEST_PATTERN,
    LogPattern,
    PatternError,
    log_pattern,
)

REASONS = {
    "unclosed group": _("a “(” is never closed"),
    "unopened group": _("a “)” has no “(” before it"),
    "unclosed character class": _("a “[” is never closed"),
    "repetition operator missing expression": _(
        "“*”, “+”, “?” or “{…}” has nothing before it to repeat"
    ),
    "unrecognized escape sequence": _(
        "a backslash stands before a character that needs none"
    ),
    "incomplete escape sequence, reached end of pattern prematurely": _(
        "it ends with a single backslash"
    ),
    "look-around, including look-ahead and look-behind, is not supported": _(
        "look-ahead and look-behind are not supported, because they can take for ever"
    ),
    "backreferences are not supported": _(
        "references back to a group are not supported, because they can take for ever"
    ),
}


def log_form(data: QueryDict, replicas: list[tuple[str, str]]) -> "LogForm":
    """The form with these replicas, as pairs of value and label, to choose from."""
    form = LogForm(data)
    form.fields["replica"] = forms.MultipleChoiceField(
        label=_("Replicas"),
        required=False,
        choices=replicas,
        widget=forms.CheckboxSelectMultiple,
    )
    return form


class LogForm(forms.Form):
    """Replicas, run, level, search and layout; an empty form means the replica in focus."""

    replica = forms.MultipleChoiceField(
        label=_("Replicas"), required=False, widget=forms.CheckboxSelectMultiple
    )
    run = forms.ChoiceField(label=_("Run"), required=False, choices=LogRun.choices)
    level = forms.ChoiceField(
        label=_("Level"),
        required=False,
        choices=[
            ("", _("Everything")),
            *(
                (level, format_lazy(_("{level} and above"), level=level))
                for level in LEVELS
            ),
        ],
    )
    q = forms.CharField(
        label=_("Search, a regular expression"),
        required=False,
        max_length=LONGEST_PATTERN,
        strip=False,
    )
    layout = forms.ChoiceField(
        label=_("Several replicas"),
        required=False,
        choices=[(MERGED, _("merged by time")), (SIDE_BY_SIDE, _("side by side"))],
    )
    wrap = forms.BooleanField(label=_("Wrap long lines"), required=False)

    def clean_replica(self) -> list[str]:
        """At most as many as a screen can hold.

        Raises:
            ValidationError: more were chosen.
        """
        chosen: list[str] = self.cleaned_data["replica"]
        if len(chosen) > MOST_REPLICAS:
            raise ValidationError(
                gettext("Choose %(most)s replicas at most.") % {"most": MOST_REPLICAS}
            )
        return chosen

    def clean_q(self) -> LogPattern | None:
        """The search as a compiled pattern.

        Raises:
            ValidationError: it is no regular expression that can be used here; says why.
        """
        text: str = self.cleaned_data["q"]
        if not text:
            return None
        try:
            return log_pattern(text)
        except PatternError as error:
            why = REASONS.get(error.why, error.why)
            raise ValidationError(
                gettext("This search pattern cannot be used: %(why)s.") % {"why": why}
            ) from error
