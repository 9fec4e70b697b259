"""The approval rules of a cluster as a form."""

import re
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from deployments.models import DeploymentEnvironment, TeamRole
from deployments.planning.approval_rules import (
    MOST_APPROVALS,
    MOST_HOURS,
    MOST_WAIT_MINUTES,
    ApprovalRules,
    Risk,
    WhoRule,
)
from deployments.selectors.policies import ANY, line_of

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


WHO = re.compile(
    r"(?P<risk>low|normal|high|any):\s*(?P<count>[1-9])\s+of\s+(?P<who>[^:]+)"
)


def _approvals(label: "StrOrPromise", hint: "StrOrPromise" = "") -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1, max_value=MOST_APPROVALS, label=label, help_text=hint
    )


def _hours(label: "StrOrPromise", hint: "StrOrPromise") -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1, max_value=MOST_HOURS, label=label, help_text=hint
    )


class WhoField(forms.CharField):
    """Lines of ``high: 1 of alice, @admin``."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def clean(self, value: object) -> tuple[WhoRule, ...]:
        """The rules, in the order of the lines.

        Raises:
            ValidationError: a line of another form, or a role that there is not.
        """
        lines = [line.strip() for line in super().clean(value).splitlines()]
        return tuple(self._rule(line) for line in lines if line)

    def _rule(self, line: str) -> WhoRule:
        found = WHO.fullmatch(line)
        words = [] if found is None else found["who"].replace(",", " ").split()
        people = tuple(one for one in words if not one.startswith("@"))
        roles = tuple(one[1:] for one in words if one.startswith("@"))
        if found is None or not words or not set(roles) <= set(TeamRole.values):
            raise ValidationError(
                _(
                    "“%(line)s” is no such rule; write: high: 1 of alice, bob, or any: 1 of @admin."
                )
                % {"line": line}
            )
        risk = None if found["risk"] == ANY else Risk(found["risk"])
        return WhoRule(risk=risk, count=int(found["count"]), people=people, roles=roles)


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
    who = WhoField(
        required=False,
        max_length=2000,
        label=_("Whose approvals must be among them"),
        help_text=_(
            "One rule a line: risk (low, normal, high or any), how many, and of whom: user names, or roles of this team after an @."
        ),
    )
    guests_decide = forms.BooleanField(
        required=False,
        label=_("Guests approve their own plans"),
        help_text=_(
            "Otherwise an approver of this team must be among those who approve plans of guests."
        ),
    )
    shown_version = forms.IntegerField(widget=forms.HiddenInput)
    environment = forms.ChoiceField(
        choices=[("", ""), *DeploymentEnvironment.choices],
        required=False,
        widget=forms.HiddenInput,
    )

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
            "who": "\n".join(map(line_of, rules.who)),
            "guests_decide": rules.guests_decide,
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
            who=value["who"],
            guests_decide=value["guests_decide"],
        )
