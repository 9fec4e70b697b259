"""What a plan means to do, in one sentence, and what became of a request, in one or two."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deployments.models import RequestState
from deployments.planning.plan import Plan, ReplaceStrategy
from deployments.selectors.canaries import tried
from deployments.selectors.methods import method_title

STATE_SENTENCES: dict[str, Promise] = {
    RequestState.OPEN: gettext_lazy("One approval lets this plan run."),
    RequestState.APPROVED: gettext_lazy(
        "Exactly this plan may run now. Nothing runs until an operator deploys it."
    ),
    RequestState.RELEASED: gettext_lazy("This plan was deployed."),
    RequestState.REJECTED: gettext_lazy(
        "This plan will not run. Change the revision and submit it again."
    ),
    RequestState.WITHDRAWN: gettext_lazy("This request was taken back before it ran."),
    RequestState.EXPIRED: gettext_lazy(
        "Its time ran out before anything started. Plan again: the fleet may have changed since."
    ),
    RequestState.STALE: gettext_lazy(
        "A host changed between planning and deploying, so nothing was started. Plan again "
        "and ask for approval of the new plan."
    ),
    RequestState.SUPERSEDED: gettext_lazy(
        "A newer revision of this deployment was submitted, and only the newest can run."
    ),
}


def intent(before: Plan | None, after: Plan) -> str:
    """What deploying ``after`` in place of ``before`` does, most telling difference first."""
    words = {
        "name": after.deployment,
        "revision": f"r{_number(after)}",
        "method": spoken_method(after),
        "old_method": spoken_method(before) if before else "",
        "canary": tried(after),
    }
    of_canary = _of_canary(before, words)
    if of_canary:
        return of_canary
    if before is None:
        if after.decision.method == "off":
            return _("Start %(name)s without speculative decoding") % words
        return _("Start %(name)s with %(method)s") % words
    if words["method"] != words["old_method"]:
        return _method_change(before, after) % words
    if (before.engine, before.engine_version) != (after.engine, after.engine_version):
        words["engine"] = f"{after.engine} {after.engine_version}"
        return _("Move %(name)s to %(engine)s, %(method)s as before") % words
    return _("Put %(name)s %(revision)s in place, %(method)s as before") % words


def _of_canary(before: Plan | None, words: dict[str, str]) -> str:
    """What a plan with a canary tries, or what becomes of the one that runs; empty without either."""
    if words["canary"]:
        return (
            _("Try %(canary)s on one replica of %(name)s, %(method)s on the others")
            % words
        )
    if before is None or not before.canary:
        return ""
    if words["method"] == tried(before):
        return _("Promote the canary of %(name)s: %(method)s on every replica") % words
    if words["method"] == words["old_method"]:
        return _("End the canary of %(name)s: %(method)s on every replica") % words
    return ""


def _method_change(before: Plan, after: Plan) -> str:
    if before.decision.method == "off":
        return _("Turn on %(method)s for %(name)s")
    if after.decision.method == "off":
        return _("Turn off speculative decoding for %(name)s")
    return _("Change %(name)s from %(old_method)s to %(method)s")


def spoken_method(plan: Plan) -> str:
    """Method and count, or that drafting is off."""
    decision = plan.decision
    if decision.method == "off":
        return _("drafting off")
    title = method_title(decision.method)
    count = plan.num_speculative_tokens
    return title if count is None else f"{title} ×{count}"  # noqa: RUF001


def replacement(before: Plan | None, after: Plan) -> str:
    """What clients notice while the plan takes over."""
    if before is None:
        return _("Nothing runs under this name now.")
    if after.replace is ReplaceStrategy.CREATE_THEN_REMOVE:
        return _("What runs now keeps serving until the new replicas are verified.")
    if after.canary or before.canary:
        return _(
            "Every replica restarts, not the canary alone: the endpoint is down from the stop of "
            "what runs now until the new replicas are ready."
        )
    return _(
        "The endpoint is down from the stop of what runs now until the new replicas are ready."
    )


def _number(plan: Plan) -> str:
    return str(plan.revision.get("number", "?"))
