"""Findings: one small module per subject, each rule with a code, a reason, a fix and a source."""

from collections.abc import Callable, Iterable

from deployments.planning.context import PlanContext
from deployments.planning.plan import Finding, Severity

Rule = Callable[[PlanContext], Iterable[Finding]]
RULES: tuple[Rule, ...] = ()
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def find_all(context: PlanContext) -> tuple[Finding, ...]:
    """Return the findings of every rule, errors first, in an order that never changes."""
    found = {finding for rule in RULES for finding in rule(context)}
    return tuple(
        sorted(
            found,
            key=lambda one: (_RANK[one.severity], one.code, one.evidence, one.message),
        )
    )
