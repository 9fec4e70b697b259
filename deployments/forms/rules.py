"""What the list of rules can be narrowed by."""

from django import forms
from django.utils.translation import gettext_lazy as _

from deployments.planning.plan import Severity
from deployments.selectors.rules import CATEGORY_TITLES, FAILURE, LAUNCH, PLAN

LONGEST = 80


class RuleFilter(forms.Form):
    """Words, severity, subject, and whether launches or plans are judged; all may be empty."""

    q = forms.CharField(required=False, max_length=LONGEST)
    severity = forms.ChoiceField(
        required=False,
        label=_("Severity"),
        choices=[
            ("", _("Every severity")),
            (Severity.ERROR.value, _("Errors")),
            (Severity.WARNING.value, _("Warnings")),
            (Severity.INFO.value, _("Notes")),
        ],
    )
    category = forms.ChoiceField(
        required=False,
        label=_("Subject"),
        choices=[("", _("Every subject")), *CATEGORY_TITLES.items()],
    )
    kind = forms.ChoiceField(
        required=False,
        label=_("Judges"),
        choices=[
            ("", _("Launches, plans and logs")),
            (LAUNCH, _("Launches that exist")),
            (PLAN, _("Plans")),
            (FAILURE, _("Failures in logs")),
        ],
    )

    def wished(self) -> dict[str, str]:
        """The readable wishes; one that cannot be read is none."""
        self.is_valid()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}
