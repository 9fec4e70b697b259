"""Whether the chosen method can run: closed methods, weights nobody has checked."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.decision import AUTO
from deployments.planning.engines.lives import why_unsupported
from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.model_config.fit import READS_STATES
from deployments.planning.plan import Finding, Severity
from deployments.planning.text import listed, text

CATEGORIES = {
    Need.MTP_WEIGHTS: "missing-weights",
    Need.DRAFTER: "missing-drafter",
    Need.PACKAGE: "missing-package",
    Need.NOTHING: "unsupported-method",
}


def method_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge the decision itself."""
    method = context.method
    if method is None:
        yield _off(context)
        return
    yield from _closed(context, method)
    yield from _unchecked_weights(context, method)
    yield from _unchecked_drafter(context, method)
    if not FACTS[method].async_scheduling:
        yield Finding(
            code="ASYNC_SCHEDULING_OFF",
            category="async-scheduling",
            severity=Severity.INFO,
            message=text(
                "{method} turns asynchronous scheduling off, which costs some throughput.",
                method=FACTS[method].title,
            ),
            fix=text("Compare with drafting off before you keep it."),
            source=FACTS[method].source,
        )


def _off(context: PlanContext) -> Finding:
    asked = context.spec.speculation.method != AUTO
    return Finding(
        code="SPECULATION_OFF",
        category="other",
        severity=Severity.INFO,
        message=text("Speculative decoding is off because the revision says so.")
        if asked
        else text(
            "Speculative decoding is off: no method is open for this model here."
        ),
        fix=text("Choose a method if the acceptance rate is worth it."),
        source=text("the revision") if asked else text("the decision tree"),
    )


def _closed(context: PlanContext, method: Method) -> Iterator[Finding]:
    verdict = next(
        one for one in context.decision.methods if one.method == method.value
    )
    if verdict.open:
        return
    unsupported = why_unsupported(context.profile, method)
    category = "unsupported-method" if unsupported else CATEGORIES[FACTS[method].need]
    best = next((one for one in context.decision.methods if one.open), None)
    yield Finding(
        code="METHOD_CLOSED",
        category=category,
        severity=Severity.ERROR,
        message=verdict.because,
        fix=text("Use {method}, which is open here.", method=best.method)
        if best
        else text("Turn drafting off."),
        source=context.profile.source if unsupported else text("the catalog"),
        evidence=method.value,
    )


def _unchecked_weights(context: PlanContext, method: Method) -> Iterator[Finding]:
    if method is not Method.MTP or context.checkpoint.holds_mtp is not None:
        return
    if context.model.has_mtp is not True:
        return
    yield Finding(
        code="MTP_WEIGHTS_UNCHECKED",
        category="missing-weights",
        severity=Severity.WARNING,
        message=text(
            "Nobody has checked that the checkpoint {checkpoint} really holds the MTP layers; "
            "quantised checkpoints often leave them out.",
            checkpoint=context.checkpoint.key,
        ),
        fix=text(
            "Look for the MTP layer in the weight index of the checkpoint, or choose a "
            "checkpoint that is known to hold it."
        ),
        source=context.checkpoint.source,
        evidence=context.checkpoint.repository,
    )


def _unchecked_drafter(context: PlanContext, method: Method) -> Iterator[Finding]:
    """A drafter of its own must have the target's vocabulary, and mostly its hidden size."""
    model, drafter = context.model, context.drafter
    if drafter is None or drafter.inside_checkpoint or context.practice:
        return
    facts = [(text("vocabulary"), model.vocabulary_size)]
    if method in READS_STATES:
        facts.insert(0, (text("hidden size"), model.hidden_size))
    unknown = [name for name, size in facts if size is None]
    if not unknown:
        return
    yield Finding(
        code="DRAFTER_FIT_UNCHECKED",
        category="missing-drafter",
        severity=Severity.INFO,
        message=text(
            "Not known of {model}: {facts}. Whether the drafter {drafter} fits it could not be "
            "checked, and what the drafter adds to memory is a guess.",
            model=model.name,
            facts=listed(unknown),
            drafter=drafter.key,
        ),
        fix=text("Compare config.json of both, or import it from a host."),
        source=drafter.source,
        evidence=drafter.repository,
    )
