"""Risk classes with their reasons, and what a class needs."""

from dataclasses import replace

import pytest

from deployments.planning.approval_rules import (
    ApprovalRules,
    Environment,
    Risk,
    assess,
)
from deployments.planning.documents import from_document, to_document
from deployments.planning.plan import Finding, MethodVerdict, Plan, Severity
from deployments.planning.text import text
from tests.plan_values import plan_value, planned_replica

RULES = ApprovalRules(approvals_low=1, approvals_normal=2, approvals_high=3)


def proven(**changes: object) -> Plan:
    """A plan on one host whose method is proven by a measurement."""
    value = plan_value()
    verdict = MethodVerdict(
        method="mtp", open=True, because=text("Measured."), evidence="measured"
    )
    decision = replace(value.decision, methods=(verdict,))
    return replace(value, decision=decision, **changes)  # type: ignore[arg-type]


def reasons(plan: Plan, before: Plan | None, rules: ApprovalRules = RULES) -> list[str]:
    found = assess(plan, before, rules)
    assert found.risk is Risk.HIGH
    return [str(one) for one in found.reasons]


def test_only_the_speculation_changes_is_low() -> None:
    found = assess(proven(), plan_value(count=1), RULES)

    assert found.risk is Risk.LOW
    assert "Only the speculation" in found.reasons[0]


def test_another_version_on_the_same_host_is_normal() -> None:
    before = replace(plan_value(), engine_version="0.31.0")

    assert assess(proven(), before, RULES).risk is Risk.NORMAL


def test_practice_is_low_even_in_production() -> None:
    plan = plan_value(replicas=(planned_replica(practice=True),))

    assert assess(plan, None, ApprovalRules(production=True)).risk is Risk.LOW


def test_each_reason_raises_the_class() -> None:
    here = proven()
    both = tuple(planned_replica(host=f"gpu-{n}", rank=n) for n in (1, 2))
    warning = Finding(
        code="M",
        category="memory",
        severity=Severity.WARNING,
        message=text("Tight."),
        fix=text("Take more."),
        source="",
    )

    assert reasons(here, here, ApprovalRules(production=True)) == [
        "The cluster serves production."
    ]
    assert reasons(replace(here, replicas=both), here) == [
        "It runs on 2 hosts together."
    ]
    assert "no head room" in reasons(replace(here, findings=(warning,)), here)[0]
    assert "go back to" in reasons(here, None)[0]
    assert "assumed" in reasons(plan_value(), here)[0]


def test_without_drafting_nothing_is_assumed() -> None:
    here = plan_value(method=None)

    assert assess(here, here, RULES).risk is Risk.LOW


@pytest.mark.parametrize(("risk", "needed"), list(zip(Risk, (1, 2, 3), strict=True)))
def test_what_a_class_needs(risk: Risk, needed: int) -> None:
    assert RULES.needed(risk) == needed
    assert RULES.most_needed == 3


def test_an_environment_follows_the_cluster_until_it_has_rules_of_its_own() -> None:
    staging = RULES.with_own(Environment.STAGING, ApprovalRules(approvals_high=1))

    assert staging.within(None) == RULES
    assert staging.within(Environment.STAGING).approvals_high == 1
    assert staging.within(Environment.DEVELOPMENT) == RULES
    assert staging.within(Environment.PRODUCTION) == replace(RULES, production=True)
    assert staging.with_own(Environment.STAGING, None) == RULES
    assert from_document(ApprovalRules, to_document(staging)) == staging


def test_production_raises_the_class_as_a_production_cluster_does() -> None:
    here = proven()
    found = assess(
        here, here, RULES.within(Environment.PRODUCTION), Environment.PRODUCTION
    )

    assert found.risk is Risk.HIGH
    assert [str(one) for one in found.reasons] == ["The deployment serves production."]
