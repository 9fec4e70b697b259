"""The engine version against the model, and what the practice image is."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.platforms.ascend import DRIVERS
from deployments.planning.platforms.drivers import (
    DriverState,
    DriverVerdict,
    HostDriver,
    ImageStack,
    cuda_of_release,
    judge_driver,
    leaves_full_graphs,
)
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.text import NOTHING, text
from deployments.planning.versions import parse_version

GRAPHS_BY_DEFAULT = (0, 21, 0)
"""FULL_AND_PIECEWISE is the default from this vLLM release on (vllm-ascend v0.21.0rc1)."""
DRIVER_SOURCE = "vllm-ascend v0.23.0, versioning policy and release notes"
CUDA_SOURCE = "NVIDIA, CUDA minor version compatibility; vLLM pull request 39878"


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
        yield from _cuda_driver(context)
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
    if profile.engine != VLLM_ASCEND:
        return
    judged = [(host, _verdict(context, host)) for host in context.hosts]
    for host, verdict in judged:
        if verdict.state in {DriverState.TOO_OLD, DriverState.SLOW}:
            yield Finding(
                code="DRIVER_NEEDED",
                category="ascend-version",
                severity=Severity.WARNING,
                message=verdict.sentence,
                fix=verdict.fix,
                source=DRIVER_SOURCE,
                evidence=host.name,
            )
    toolkit = DRIVERS.get(profile.version)
    if toolkit is None or all(
        verdict.state is not DriverState.UNKNOWN for _host, verdict in judged
    ):
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
        source=DRIVER_SOURCE,
    )


def _cuda_driver(context: PlanContext) -> Iterator[Finding]:
    """Judge the drivers that probes read; an image may hold what makes an older one do."""
    if context.platform.name != "nvidia":
        return
    for host in context.hosts:
        verdict = _verdict(context, host)
        if verdict.state in {DriverState.TOO_OLD, DriverState.SLOW}:
            yield Finding(
                code="CUDA_DRIVER_OLD",
                category="environment",
                severity=Severity.WARNING,
                message=verdict.sentence,
                fix=verdict.fix,
                source=CUDA_SOURCE,
                evidence=host.name,
            )


def _verdict(context: PlanContext, host: HostSnapshot) -> DriverVerdict:
    """Compare the driver that a probe saw with the image; what the image itself says comes later."""
    containers = [
        replica.container
        for replica in context.replicas
        if replica.host == host.name and replica.role is not Role.ROUTER
    ]
    found = judge_driver(
        HostDriver(
            host=host.name,
            platform=host.platform,
            version=host.driver_version,
            compatible=host.driver_compatible,
        ),
        ImageStack(
            reference=containers[0].image.reference if containers else "",
            engine=context.profile.engine,
            # Which CANN an image of one's own holds is not known before it is looked into.
            engine_version="" if context.spec.image else context.profile.version,
            environment=_known_of_image(context),
            full_graphs=any(leaves_full_graphs(one.command) for one in containers),
        ),
    )
    return found or DriverVerdict(state=DriverState.UNKNOWN, sentence=NOTHING)


def _known_of_image(context: PlanContext) -> dict[str, str]:
    """What is known of an official image's environment without it at hand."""
    profile = context.profile
    if context.spec.image is not None:
        return {}
    cuda = cuda_of_release(profile.engine, profile.version)
    return {} if cuda is None else {"CUDA_VERSION": cuda}


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
