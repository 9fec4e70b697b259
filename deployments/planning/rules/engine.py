"""The engine version against the model, and what the practice image is."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.plan import Finding, Severity
from deployments.planning.platforms.ascend import DRIVERS
from deployments.planning.text import text
from deployments.planning.versions import parse_version

GRAPHS_BY_DEFAULT = (0, 21, 0)
"""FULL_AND_PIECEWISE is the default from this vLLM release on (vllm-ascend v0.21.0rc1)."""


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
    if not context.practice:
        yield from _image(context)
        yield from _driver(context)
        yield from _kin(context)
        yield from _length(context)
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


def _image(context: PlanContext) -> Iterator[Finding]:
    since, profile = context.platform.traits.image_since, context.profile
    if since is None or context.spec.image is not None:
        return
    if parse_version(profile.version) >= parse_version(since):
        return
    yield Finding(
        code="IMAGE_NOT_PUBLISHED",
        category="broken-image",
        severity=Severity.WARNING,
        message=text(
            "{engine} {version} has no official image for {platform} that this panel knows; the "
            "first is that of {since}.",
            engine=profile.engine,
            version=profile.version,
            platform=context.platform.title,
            since=since,
        ),
        fix=text("Use {since} or later, or name an image of your own.", since=since),
        source=context.platform.traits.source,
    )


def _driver(context: PlanContext) -> Iterator[Finding]:
    profile = context.profile
    toolkit = DRIVERS.get(profile.version)
    if profile.engine != VLLM_ASCEND or toolkit is None:
        return
    graphs = profile.vllm.release >= GRAPHS_BY_DEFAULT
    yield Finding(
        code="DRIVER_NEEDED",
        category="ascend-version",
        severity=Severity.INFO,
        message=text(
            "The image of {version} brings CANN {toolkit}; its default graph mode needs driver "
            "(HDK) 25.5.1 or later on the host.",
            version=profile.version,
            toolkit=toolkit,
        )
        if graphs
        else text(
            "The image of {version} brings CANN {toolkit}; the driver on the host must support it.",
            version=profile.version,
            toolkit=toolkit,
        ),
        fix=text("Compare with what npu-smi info shows on the host."),
        source="vllm-ascend v0.23.0, versioning policy and release notes",
    )


def _kin(context: PlanContext) -> Iterator[Finding]:
    if context.documented_for == context.platform.name:
        return
    yield Finding(
        code="PLATFORM_NOT_DOCUMENTED",
        category="other",
        severity=Severity.WARNING,
        message=text(
            "Nobody has documented {model} on {platform}; checkpoint, settings and counts are those "
            "documented on {kin}.",
            model=context.model.name,
            platform=context.platform.title,
            kin=context.documented_for,
        ),
        fix=text("Measure memory, speed and acceptance before you rely on them."),
        source=text("the catalog"),
    )


def _length(context: PlanContext) -> Iterator[Finding]:
    if not context.platform.traits.needs_length:
        return
    if all(one.max_model_len is not None for one in context.roles):
        return
    yield Finding(
        code="LENGTH_NEEDED",
        category="token-budget",
        severity=Severity.ERROR,
        message=text(
            "{platform} needs max_model_len: memory for the causal mask grows with its square.",
            platform=context.platform.title,
        ),
        fix=text("Set max_model_len to the longest request that you serve."),
        source=context.platform.traits.source,
    )
