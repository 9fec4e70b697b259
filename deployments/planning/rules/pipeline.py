"""Pipeline stages: with which methods they go, and where the KV cache cannot follow."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.text import Text, text
from deployments.planning.versions import Version

WITH_DRAFTING_SINCE = Version((0, 16, 0))
DRAFTER_ALONE_SINCE = Version((0, 30, 0))
STAYS_BROKEN = (Method.MTP, Method.DFLASH, Method.DSPARK)
DRAFTING_SOURCE = "vLLM documentation up to 0.15; vllm#52069, #57755, #49355"
ASCEND_SOURCE = "vllm-ascend v0.23.0, Mooncake connector"


def pipeline_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge every role with more than one stage."""
    for settings in context.roles:
        if settings.layout.pipeline_parallel_size > 1 and not context.practice:
            yield from _drafting(context, settings)
            yield from _decode_on_ascend(context, settings)


def _drafting(context: PlanContext, settings: RoleSettings) -> Iterator[Finding]:
    method = context.method
    if method is None or settings.speculative is None:
        return
    why = _refused(context, method)
    if why is None:
        return
    yield Finding(
        code="PIPELINE_WITH_DRAFTING",
        category="pipeline-parallel",
        severity=Severity.ERROR,
        message=text(
            "{stages} pipeline stages do not go with {method} in {engine} {version}: {why}",
            stages=settings.layout.pipeline_parallel_size,
            method=FACTS[method].title,
            engine=context.profile.engine,
            version=context.profile.version,
            why=why,
        ),
        fix=text(
            "Use tensor parallelism instead, take another method, or leave drafting out."
        ),
        source=DRAFTING_SOURCE,
        evidence=settings.role.value,
    )


def _refused(context: PlanContext, method: Method) -> Text | None:
    version = context.profile.vllm
    if version < WITH_DRAFTING_SINCE:
        return text("up to 0.15 vLLM drafts in one stage only.")
    if method in STAYS_BROKEN:
        return text(
            "its drafts read the target's last layers, which fails across stages."
        )
    drafts = FACTS[method].need not in (Need.NOTHING, Need.PACKAGE)
    if drafts and version < DRAFTER_ALONE_SINCE:
        return text("before 0.30 the drafter is cut into the same stages.")
    return None


def _decode_on_ascend(
    context: PlanContext, settings: RoleSettings
) -> Iterator[Finding]:
    if context.profile.engine != VLLM_ASCEND or settings.role is not Role.DECODE:
        return
    yield Finding(
        code="PIPELINE_ON_DECODE",
        category="pipeline-parallel",
        severity=Severity.ERROR,
        message=text(
            "The Mooncake connector of vllm-ascend hands the KV cache to one pipeline stage only; "
            "decode has {stages}.",
            stages=settings.layout.pipeline_parallel_size,
        ),
        fix=text("Use one stage on decode; prefill may have several."),
        source=ASCEND_SOURCE,
        evidence=settings.role.value,
    )
