"""Documented hardware needs against the devices of the plan."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.plan import Finding, Severity
from deployments.planning.text import text

GIGABYTE = 1_000_000_000


def memory_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge whether each role has the devices that its weights are documented to need."""
    if context.practice or not context.platform.has_devices:
        return
    for settings in context.roles:
        yield from _documented_minimum(context, settings)
        yield from _memory(context, settings)
        if settings.layout.assumed:
            yield _assumed(settings)


def _devices(settings: RoleSettings) -> int:
    return settings.layout.devices_per_host * settings.layout.hosts_per_instance


def _documented_minimum(
    context: PlanContext, settings: RoleSettings
) -> Iterator[Finding]:
    for need in context.checkpoint.minimum:
        needed = need.hosts * need.devices_per_host
        if need.platform != context.platform.name or _devices(settings) >= needed:
            continue
        yield Finding(
            code="BELOW_DOCUMENTED_HARDWARE",
            category="memory",
            severity=Severity.ERROR,
            message=text(
                "One {role} instance has {devices} devices; {repository} is documented on {needed} "
                "({hosts} x {devices_per_host}).",
                role=settings.role.value,
                devices=_devices(settings),
                repository=context.checkpoint.repository,
                needed=needed,
                hosts=need.hosts,
                devices_per_host=need.devices_per_host,
            ),
            fix=text("Add hosts or devices, or choose a smaller checkpoint."),
            source=need.source,
            evidence=settings.role.value,
        )


def _memory(context: PlanContext, settings: RoleSettings) -> Iterator[Finding]:
    needed = context.checkpoint.memory_minimum_bytes
    each = settings.layout.hosts[0].device_memory_bytes
    spread = _devices(settings)
    if context.model.experts is None and not settings.layout.expert_parallel:
        spread = settings.layout.tensor_parallel_size
    if needed is None or each is None or each * spread >= needed:
        return
    if any(
        need.platform == context.platform.name for need in context.checkpoint.minimum
    ):
        return
    yield Finding(
        code="MEMORY_BELOW_MINIMUM",
        category="memory",
        severity=Severity.ERROR,
        message=text(
            "{repository} is published with a need of {needed} GB; one {role} instance spreads "
            "its weights over {present} GB.",
            repository=context.checkpoint.repository,
            needed=needed // GIGABYTE,
            role=settings.role.value,
            present=each * spread // GIGABYTE,
        ),
        fix=text(
            "Take more devices, a smaller checkpoint, or devices with more memory."
        ),
        source=context.checkpoint.source,
        evidence=settings.role.value,
    )


def _assumed(settings: RoleSettings) -> Finding:
    layout = settings.layout
    return Finding(
        code="LAYOUT_ASSUMED",
        category="tensor-parallel",
        severity=Severity.INFO,
        message=text(
            "No document gives a layout for the {role} role here; the plan takes tensor parallel "
            "size {tensor_parallel_size} on each host.",
            role=settings.role.value,
            tensor_parallel_size=layout.tensor_parallel_size,
        ),
        fix=text("Set tensor_parallel_size if you know better."),
        source=text("assumed"),
        evidence=settings.role.value,
    )
