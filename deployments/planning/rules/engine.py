"""The engine version against the model, and what the practice image is."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.plan import Finding, Severity
from deployments.planning.text import text
from deployments.planning.versions import parse_version


def engine_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge engine and image."""
    profile = context.profile
    minimum = context.model.minimum_engines.get(profile.engine)
    if minimum is not None and parse_version(minimum) > parse_version(profile.version):
        yield Finding(
            code="ENGINE_TOO_OLD",
            category="other",
            severity=Severity.ERROR,
            message=text(
                "{model} needs {engine} {minimum} or later; the plan has {version}.",
                model=context.model.name,
                engine=profile.engine,
                minimum=minimum,
                version=profile.version,
            ),
            fix=text(
                "Use {engine}=={minimum} or later.",
                engine=profile.engine,
                minimum=minimum,
            ),
            source="vllm-project/recipes, 2026-08-21; engine release notes",
        )
    if context.practice:
        yield Finding(
            code="PRACTICE_IMAGE",
            category="control-panel",
            severity=Severity.INFO,
            message=text(
                "This plan runs the practice image: it answers like vLLM but serves no real model, "
                "needs no weights and takes no device."
            ),
            fix=text("Choose an engine image to serve the model for real."),
            source=text("this panel"),
        )
