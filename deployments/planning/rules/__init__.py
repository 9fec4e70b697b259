"""Findings: one small module per subject, each rule with a code, a reason, a fix and a source."""

from collections.abc import Callable, Iterable

from deployments.planning.context import PlanContext
from deployments.planning.plan import Finding, in_order
from deployments.planning.rules.budget import budget_rules
from deployments.planning.rules.count import count_rules
from deployments.planning.rules.disaggregation import disaggregation_rules
from deployments.planning.rules.endpoint import endpoint_rules
from deployments.planning.rules.engine import engine_rules
from deployments.planning.rules.environment import environment_rules
from deployments.planning.rules.flags import flag_rules
from deployments.planning.rules.graph import graph_rules
from deployments.planning.rules.host import host_rules
from deployments.planning.rules.memory import memory_rules
from deployments.planning.rules.method import method_rules
from deployments.planning.rules.pipeline import pipeline_rules
from deployments.planning.rules.weights import weights_rules

Rule = Callable[[PlanContext], Iterable[Finding]]
RULES: tuple[Rule, ...] = (
    method_rules,
    count_rules,
    graph_rules,
    budget_rules,
    disaggregation_rules,
    host_rules,
    weights_rules,
    endpoint_rules,
    environment_rules,
    pipeline_rules,
    memory_rules,
    engine_rules,
    flag_rules,
)


def find_all(context: PlanContext) -> tuple[Finding, ...]:
    """Return the findings of every rule, errors first, in an order that never changes."""
    return in_order(finding for rule in RULES for finding in rule(context))
