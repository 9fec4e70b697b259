"""The approval rules of a cluster as a form."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from deployments.planning.approval_rules import (
    MOST_APPROVALS,
    MOST_HOURS,
    MOST_WAIT_MINUTES,
    ApprovalRules,
)

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


def _approvals(label: "StrOrPromise", hint: "StrOrPromise" = "") -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1, max_value=MOST_APPROVALS, label=label, help_text=hint
    )


def _hours(label: "StrOrPromise", hint: "StrOrPromise") -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1, max_value=MOST_HOURS, label=label, help_text=hint
    )


class ApprovalRulesForm(forms.Form):
    """What a team admin asks of every plan on the cluster."""

    production = forms.BooleanField(
        required=False,
        label=_("This cluster serves production"),
        help_text=_(
            "Every plan on it is then of high risk, and who decides confirms their password first."
        ),
    )
    approvals_low = _approvals(
        _("Approvals at low risk"),
        _("Only the speculation changes, or the practice image runs."),
    )
    approvals_normal = _approvals(_("Approvals at normal risk"))
    approvals_high = _approvals(
        _("Approvals at high risk"),
        _(
            "Production, several hosts, no memory head room, nothing to go back to, or a gain that is only assumed."
        ),
    )
    open_hours = _hours(
        _("Hours until an undecided request expires"), _("1 to 2160; a week is 168.")
    )
    approved_hours = _hours(
        _("Hours until an unused approval expires"),
        _("Nothing runs later than that without a new approval."),
    )
    wait_minutes = forms.IntegerField(
        min_value=0,
        max_value=MOST_WAIT_MINUTES,
        required=False,
        label=_("Minutes between approval and start"),
        help_text=_("Time to object; 0 is none, a week is 10080."),
    )
    proof_before_vote = forms.BooleanField(
        required=False,
        label=_("Who decides confirms their password first"),
        help_text=_("Or a code, at most five minutes before. Production always asks."),
    )
    shown_version = forms.IntegerField(widget=forms.HiddenInput)

    @staticmethod
    def initial_of(rules: ApprovalRules, version: int) -> dict[str, Any]:
        """The rules as the fields show them."""
        return {
            "production": rules.production,
            "approvals_low": rules.approvals_low,
            "approvals_normal": rules.approvals_normal,
            "approvals_high": rules.approvals_high,
            "open_hours": rules.open_hours,
            "approved_hours": rules.approved_hours,
            "wait_minutes": rules.wait_minutes,
            "proof_before_vote": rules.proof_before_vote,
            "shown_version": version,
        }

    @property
    def rules(self) -> ApprovalRules:
        """The rules of a valid form."""
        value = self.cleaned_data
        return ApprovalRules(
            production=value["production"],
            approvals_low=value["approvals_low"],
            approvals_normal=value["approvals_normal"],
            approvals_high=value["approvals_high"],
            open_hours=value["open_hours"],
            approved_hours=value["approved_hours"],
            wait_minutes=value["wait_minutes"] or 0,
            proof_before_vote=value["proof_before_vote"],
        )
