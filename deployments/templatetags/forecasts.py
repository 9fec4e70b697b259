"""Memory bars and the expected gain of a plan, on whichever page shows one."""

from typing import Any

from django import template

from deployments.planning.plan import Plan
from deployments.selectors.gains import gain_figures
from deployments.selectors.memory_bars import memory_bars
from deployments.selectors.speed_curves import curve_of_gain

register = template.Library()


@register.inclusion_tag("components/plan_memory.html")
def plan_memory(plan: Plan) -> dict[str, Any]:
    """A bar for each role; nothing for a plan that loads nothing."""
    return {"bars": memory_bars(plan.memory)}


@register.inclusion_tag("components/plan_gain.html")
def plan_gain(plan: Plan) -> dict[str, Any]:
    """The sentence of the prediction, with its curve over concurrency."""
    gain = plan.gain
    return {
        "gain": gain_figures(gain),
        "curve": curve_of_gain(gain) if gain is not None else None,
        "kind": gain.kind if gain is not None else "",
        "practice": plan.practice,
    }
