"""Words for benchmarks: what a difference means, and the sentence of a verdict."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy

from deployments.telemetry.benchmarks.side_by_side import Change
from deployments.telemetry.benchmarks.verdict import Comparison, Verdict
from deployments.templatetags.figures import figure

register = template.Library()

_CHANGES = {
    Change.BETTER: ("good", gettext_lazy("better")),
    Change.WORSE: ("bad", gettext_lazy("worse")),
    Change.SAME: ("", gettext_lazy("the same")),
}


@register.simple_tag
def change(value: str) -> SafeString | str:
    """The word for a difference; none where more is neither better nor worse."""
    meant = Change(value)
    if meant is Change.OPEN:
        return ""
    tone, word = _CHANGES[meant]
    return format_html('<span class="{}">{}</span>', tone, word)


@register.filter
def verdict_sentence(comparison: Comparison) -> str:
    """What to do, with the numbers that say so."""
    if not comparison.comparable:
        return gettext("These two must not be compared for a verdict.")
    ratio, tpot = comparison.throughput_ratio, comparison.tpot_ratio
    said = {
        "ratio": figure(ratio),
        "tpot": figure(tpot),
        "count": comparison.keep_up_to,
    }
    if comparison.verdict is Verdict.INCONCLUSIVE:
        return gettext(
            "Inconclusive: this measurement does not decide about speculation."
        )
    if comparison.verdict is Verdict.TURN_OFF:
        return (
            gettext(
                "Turn speculation off: output throughput is %(ratio)s times that without it, time per output token %(tpot)s times."
            )
            % said
        )
    if comparison.keep_up_to is not None:
        return (
            gettext(
                "Keep speculation up to %(count)s concurrent requests: at the lowest load output throughput is %(ratio)s times that without it."
            )
            % said
        )
    return (
        gettext(
            "Keep speculation: output throughput is %(ratio)s times that without it, time per output token %(tpot)s times."
        )
        % said
    )
