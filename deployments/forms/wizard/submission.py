"""What a person adds to the plan when it is submitted: the digest they saw, and why."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from deployments.models import DeploymentEnvironment

LONGEST_COMMENT = 2000


class SubmissionForm(forms.Form):
    """The fields of the submit form that are no state of the wizard."""

    digest = forms.CharField(
        max_length=71,
        error_messages={
            "required": _("The digest of the plan is missing; open the review again."),
            "max_length": _("This is no digest of a plan; open the review again."),
        },
    )
    new_in = forms.ChoiceField(
        required=False,
        label=pgettext_lazy("of a deployment", "Environment"),
        choices=[("", _("no environment")), *DeploymentEnvironment.choices],
        widget=forms.Select(attrs={"class": "field"}),
        error_messages={
            "invalid_choice": _("There is no such environment; choose one of the list.")
        },
    )
    comment = forms.CharField(
        required=False,
        max_length=LONGEST_COMMENT,
        widget=forms.TextInput(
            attrs={
                "class": "field",
                "placeholder": _("Why this change; the people who decide read it."),
            }
        ),
        label=_("Comment"),
        error_messages={
            "max_length": _(
                "The comment is too long; keep it to %(limit_value)s characters."
            )
        },
    )
