"""What the canary of a plan tries, in words."""

from django.utils.translation import gettext as _

from deployments.planning.plan import Plan
from deployments.selectors.methods import method_title

TIMES = "\N{MULTIPLICATION SIGN}"


def tried(plan: Plan | None) -> str:
    """Method and count of the canary, or that it does not draft; empty where there is none."""
    replica = plan.canary if plan else None
    if replica is None:
        return ""
    expected = replica.speculation
    if expected is None:
        return _("drafting off")
    return f"{method_title(expected.method)} {TIMES}{expected.num_speculative_tokens}"
