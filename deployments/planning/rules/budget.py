"""Batch sizes and lengths against the work that was described."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.text import text


def budget_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge token budgets, lengths and concurrency of every role."""
    for settings in context.roles:
        yield from _batched_tokens(settings)
        yield from _length(context, settings)
    yield from _concurrency(context)


def _batched_tokens(settings: RoleSettings) -> Iterator[Finding]:
    budget, needed = settings.max_num_batched_tokens, settings.tokens_per_step
    if budget is None or settings.role is Role.PREFILL:
        return
    step = settings.num_speculative_tokens + 1
    if budget < step:
        severity = Severity.ERROR
    elif budget < needed:
        severity = Severity.WARNING
    else:
        return
    yield Finding(
        code="BATCHED_TOKENS_SHORT",
        category="token-budget",
        severity=severity,
        message=text(
            "max_num_batched_tokens is {budget}, but {max_num_seqs} requests with {step} tokens "
            "a step need {needed}: some requests wait a step.",
            budget=budget,
            max_num_seqs=settings.max_num_seqs,
            step=step,
            needed=needed,
        ),
        fix=text(
            "Raise max_num_batched_tokens to {needed}, or serve {requests} requests.",
            needed=needed,
            requests=max(1, budget // step),
        ),
        source="vLLM 0.32.0 scheduler; vllm-ascend documentation v0.23.0, decode nodes",
        evidence=settings.role.value,
    )


def _length(context: PlanContext, settings: RoleSettings) -> Iterator[Finding]:
    length, trained = settings.max_model_len, context.model.context_length
    work = context.spec.workload
    needed = work.input_tokens + work.output_tokens
    if length is not None and trained is not None and length > trained:
        yield Finding(
            code="LENGTH_ABOVE_CONTEXT",
            category="token-budget",
            severity=Severity.ERROR,
            message=text(
                "max_model_len is {length}, but {model} has a context of {trained} tokens.",
                length=length,
                model=context.model.name,
                trained=trained,
            ),
            fix=text("Use {trained} or less.", trained=trained),
            source=context.model.sources.get("context_length", text("the catalog")),
            evidence=settings.role.value,
        )
    limit = length or trained
    if limit is not None and limit < needed:
        yield Finding(
            code="LENGTH_BELOW_WORKLOAD",
            category="token-budget",
            severity=Severity.WARNING,
            message=text(
                "A typical request has {needed} tokens, but the length limit is {limit}.",
                needed=needed,
                limit=limit,
            ),
            fix=text("Raise max_model_len to {needed} or more.", needed=needed)
            if trained is None or trained >= needed
            else text("Choose a model with a longer context."),
            source=text("the revision's workload"),
            evidence=settings.role.value,
        )


def _concurrency(context: PlanContext) -> Iterator[Finding]:
    settings = context.role(Role.DECODE) or context.role(Role.COMBINED)
    if settings is None:
        return
    layout = settings.layout
    instances = len(layout.hosts) // layout.hosts_per_instance
    room = settings.max_num_seqs * layout.data_parallel_size * instances
    wanted = context.spec.workload.concurrency
    if room >= wanted:
        return
    yield Finding(
        code="BATCH_BELOW_CONCURRENCY",
        category="batch-limit",
        severity=Severity.WARNING,
        message=text(
            "The plan serves {room} requests at once, the workload brings {wanted}: the others "
            "wait.",
            room=room,
            wanted=wanted,
        ),
        fix=text("Raise max_num_seqs or add hosts."),
        source=layout.serving.source,
        evidence=settings.role.value,
    )
