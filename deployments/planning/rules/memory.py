"""Memory of a device against weights, drafter, buffers and KV cache, and against documents."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.plan import Finding, RoleMemory, Severity
from deployments.planning.sizing.documented import (
    GIGABYTE,
    launched_devices,
    unmet_memory,
    unmet_need,
)
from deployments.planning.sizing.plan_memory import is_tight
from deployments.planning.text import Text, sentences, text

SOURCE = text(
    "sizing of this panel, with the parts and who says each of them in the plan"
)
_MIB = 1 << 20


def memory_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge whether each role's devices hold what runs on them."""
    if context.practice or not context.platform.has_devices:
        return
    for settings, memory in zip(context.roles, context.memory, strict=True):
        yield from _documented_minimum(context, settings, memory)
        yield from _published_minimum(context, settings)
        yield from _sized(memory)
        if settings.layout.assumed:
            yield _assumed(settings)
        if settings.layout.widened_from is not None:
            yield _widened(settings, settings.layout.widened_from)
        if settings.shortened_from is not None:
            yield _shortened(context, settings, settings.shortened_from)


def _devices(settings: RoleSettings) -> int:
    return settings.layout.devices_per_host * settings.layout.hosts_per_instance


def _documented_minimum(
    context: PlanContext, settings: RoleSettings, memory: RoleMemory
) -> Iterator[Finding]:
    need = unmet_need(
        context.checkpoint,
        context.platform.name,
        _devices(settings),
        launched_devices(settings.layout.serving),
    )
    if need is None:
        return
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
            needed=need.hosts * need.devices_per_host,
            hosts=need.hosts,
            devices_per_host=need.devices_per_host,
        ),
        fix=sentences(
            text("Add hosts or devices, or choose a smaller checkpoint."),
            *memory.proposals,
        ),
        source=need.source,
        evidence=settings.role.value,
    )


def _published_minimum(
    context: PlanContext, settings: RoleSettings
) -> Iterator[Finding]:
    each = settings.layout.hosts[0].device_memory_bytes
    spread = _devices(settings)
    if context.model.experts is None and not settings.layout.expert_parallel:
        spread = settings.layout.tensor_parallel_size
    present = each * spread if each is not None else None
    needed = unmet_memory(context.checkpoint, context.platform.name, present)
    if needed is None or present is None:
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
            present=present // GIGABYTE,
        ),
        fix=text(
            "Take more devices, a smaller checkpoint, or devices with more memory."
        ),
        source=context.checkpoint.source,
        evidence=settings.role.value,
    )


def _sized(memory: RoleMemory) -> Iterator[Finding]:
    if memory.fits is None:
        yield _unknown(memory)
    elif not memory.fits and memory.documented is None:
        yield _too_much(memory)
    elif is_tight(memory) and memory.fits:
        yield _tight(memory)


def _too_much(memory: RoleMemory) -> Finding:
    fixed = sum(part.size_bytes or 0 for part in memory.parts)
    if memory.kv_bytes is not None and memory.kv_bytes > 0:
        message = text(
            "One device of the {role} role has {left} MiB left for the KV cache, and one request of "
            "max_model_len {tokens} needs more at {each} bytes a token: the engine will not start.",
            role=memory.role.value,
            left=memory.kv_bytes // _MIB,
            tokens=memory.max_model_len or memory.sequence_tokens,
            each=memory.kv_bytes_per_token or 0,
        )
    else:
        message = text(
            "Weights, drafter and buffers take {needed} MiB of one device of the {role} role, and "
            "gpu_memory_utilization allows {budget} MiB: the engine will not start.",
            role=memory.role.value,
            needed=fixed // _MIB,
            budget=(memory.budget_bytes or 0) // _MIB,
        )
    return Finding(
        code="MEMORY_DOES_NOT_FIT",
        category="memory",
        severity=Severity.ERROR,
        message=message,
        fix=_fix(memory),
        source=SOURCE,
        evidence=memory.role.value,
    )


def _tight(memory: RoleMemory) -> Finding:
    served, wanted = memory.sequences or 0, memory.sequences_wanted
    if served < wanted:
        message = text(
            "The KV cache of the {role} role holds {served} of {wanted} requests of {tokens} tokens "
            "on each data parallel rank: the others wait or are computed again.",
            role=memory.role.value,
            served=served,
            wanted=wanted,
            tokens=memory.sequence_tokens,
        )
    else:
        message = text(
            "Less than 5 % of a device of the {role} role is left: {left} MiB.",
            role=memory.role.value,
            left=(memory.headroom_bytes or 0) // _MIB,
        )
    return Finding(
        code="MEMORY_TIGHT",
        category="memory",
        severity=Severity.WARNING,
        message=message,
        fix=_fix(memory),
        source=SOURCE,
        evidence=memory.role.value,
    )


def _fix(memory: RoleMemory) -> Text:
    if memory.proposals:
        return sentences(*memory.proposals)
    return text("Take more devices, a smaller checkpoint, or devices with more memory.")


def _unknown(memory: RoleMemory) -> Finding:
    missing = [
        {
            "weights": text("weights"),
            "drafter": text("drafter"),
            "verification": text("verification buffers"),
            "activations": text("activations"),
        }[part.kind]
        for part in memory.parts
        if part.size_bytes is None
    ]
    if memory.kv_bytes_per_token is None:
        missing.append(text("KV cache"))
    if memory.device_bytes is None:
        missing.append(text("memory of a device"))
    said = missing[0] if missing else text("context length")
    for name in missing[1:]:
        said = text("{names}, {name}", names=said, name=name)
    return Finding(
        code="MEMORY_UNKNOWN",
        category="memory",
        severity=Severity.INFO,
        message=text(
            "Whether the {role} role fits cannot be said; unknown: {missing}.",
            role=memory.role.value,
            missing=said,
        ),
        fix=text(
            "Add layers, heads and vocabulary to the model's catalog entry, and the memory of the "
            "devices to the host."
        ),
        source=SOURCE,
        evidence=memory.role.value,
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


def _widened(settings: RoleSettings, documented: int) -> Finding:
    layout = settings.layout
    return Finding(
        code="LAYOUT_WIDENED",
        category="tensor-parallel",
        severity=Severity.INFO,
        message=text(
            "The documented tensor parallel size {documented} of the {role} role does not fit on "
            "these devices; the plan takes {chosen}, with as many fewer data parallel ranks.",
            documented=documented,
            role=settings.role.value,
            chosen=layout.tensor_parallel_size,
        ),
        fix=text(
            "Add hosts for the documented layout, or set tensor_parallel_size yourself."
        ),
        source=SOURCE,
        evidence=settings.role.value,
    )


def _shortened(context: PlanContext, settings: RoleSettings, wanted: int) -> Finding:
    own = wanted == context.model.context_length
    return Finding(
        code="CONTEXT_SHORTENED",
        category="memory",
        severity=Severity.INFO if own else Severity.WARNING,
        message=text(
            "The devices of the {role} role cannot hold one request of {wanted} tokens, so the engine "
            "would not start; the plan takes max_model_len {chosen}.",
            role=settings.role.value,
            wanted=wanted,
            chosen=settings.max_model_len or 0,
        ),
        fix=text("Set max_model_len yourself, or add devices for the longer context."),
        source=SOURCE,
        evidence=settings.role.value,
    )
