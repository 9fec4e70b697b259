"""The sentences of the advice in the person's language, by code."""

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from deployments.telemetry.advice import Statement, Verdict

TONES = {
    Verdict.HEALTHY: "good",
    Verdict.NORMAL: "good",
    Verdict.LOW: "attention",
    Verdict.NOT_COMPARABLE: "idle",
    Verdict.NO_DATA: "idle",
}
VERDICTS: dict[Verdict, Promise] = {
    Verdict.HEALTHY: _("Healthy"),
    Verdict.NORMAL: _("Normal"),
    Verdict.LOW: _("Low"),
    Verdict.NOT_COMPARABLE: _("Not comparable"),
    Verdict.NO_DATA: _("No data"),
}
SENTENCES: dict[str, Promise] = {
    "no_traffic": _("Nothing was drafted in this span, so there is nothing to judge."),
    "measured": _(
        "%(accepted)s of %(drafted)s drafted tokens were accepted: %(rate)s, %(length)s tokens "
        "per step."
    ),
    "measured_rate": _(
        "%(accepted)s of %(drafted)s drafted tokens were accepted: %(rate)s."
    ),
    "not_comparable": _(
        "The thresholds do not apply: n-gram and suffix drafting only draft where the text "
        "repeats, and without num_speculative_tokens a rate says nothing."
    ),
    "rate_healthy": _(
        "%(rate)s is healthy: with %(count)s tokens per draft, 60 %% and 80 %% per token make "
        "%(low)s and %(high)s."
    ),
    "rate_normal": _(
        "%(rate)s is in the normal range: with %(count)s tokens per draft, 60 %% and 80 %% per "
        "token make %(low)s and %(high)s."
    ),
    "rate_low": _(
        "%(rate)s is low: with %(count)s tokens per draft, 60 %% and 80 %% per token make "
        "%(low)s and %(high)s."
    ),
    "marginal_gain": _(
        "Position %(position)s is accepted in %(rate)s of the drafts. Tokens per target step of "
        "time by count, with an assumed draft cost of %(cost)s target steps per token: "
        "%(speeds)s (the last one is extrapolated)."
    ),
    "action_raise": _("Try num_speculative_tokens %(suggested)s instead of %(count)s."),
    "action_lower": _(
        "Lower num_speculative_tokens from %(count)s to %(suggested)s: the positions behind it "
        "cost more than they bring."
    ),
    "action_keep": _("Keep num_speculative_tokens at %(count)s."),
    "action_check_drafter": _(
        "Check that drafter, checkpoint and method belong together before changing "
        "num_speculative_tokens."
    ),
    "action_wait": _("Wait for at least %(enough)s drafts before changing anything."),
}


def sentence(statement: Statement) -> str:
    """The statement in the person's language; in English as it is where its code is new."""
    template = SENTENCES.get(statement.code)
    if template is None:
        return statement.text
    return str(template) % {
        name: _spoken(value) for name, value in statement.parameters
    }


def _spoken(value: str) -> str:
    """Digits in groups, and the space that the house puts before a per cent sign."""
    if value.isascii() and value.isdigit():
        return number_format(int(value), use_l10n=True, force_grouping=True)
    return f"{value[:-1]}\u00a0%" if value.endswith("%") else value
