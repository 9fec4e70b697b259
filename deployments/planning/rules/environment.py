"""Environment variables that people add: what the plan sets itself, what opens doors, secrets."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.environment import (
    belongs_to_panel,
    forbidden_because,
    looks_secret,
)
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.text import Text, text

SECURITY = text("security rules of this panel")


def environment_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge every variable of the revision."""
    for name, value in context.spec.environment:
        because = forbidden_because(name)
        if because is not None:
            yield _finding(
                "ENVIRONMENT_FORBIDDEN",
                name,
                text(
                    "{name} may not be set here: {because}.", name=name, because=because
                ),
                text("Take the variable out."),
            )
        elif belongs_to_panel(name) or _replaced(context, name, value):
            yield _finding(
                "ENVIRONMENT_MANAGED",
                name,
                text("The plan sets {name} itself.", name=name),
                text(
                    "Take the variable out, or change the field that it follows from."
                ),
            )
        elif looks_secret(name, value):
            yield _finding(
                "ENVIRONMENT_HOLDS_SECRET",
                name,
                text(
                    "{name} looks like a secret, and everybody who may see the plan reads its "
                    "environment.",
                    name=name,
                ),
                text(
                    "Take it out. A key that clients send has a field of its own, where a stored "
                    "secret is named."
                ),
            )
        if "$" in value:
            yield _finding(
                "ENVIRONMENT_HAS_DOLLAR",
                name,
                text(
                    "The value of {name} holds a dollar sign; nothing expands it.",
                    name=name,
                ),
                text("Write the value itself."),
            )


def _replaced(context: PlanContext, name: str, value: str) -> bool:
    """Whether the platform gives some container another value."""
    return any(
        dict(one.container.environment).get(name) != value
        for one in context.replicas
        if one.role is not Role.ROUTER
    )


def _finding(code: str, name: str, message: Text, fix: Text) -> Finding:
    return Finding(
        code=code,
        category="environment",
        severity=Severity.ERROR,
        message=message,
        fix=fix,
        source=SECURITY,
        evidence=name,
    )
