"""Limits and documents on num_speculative_tokens."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.counts import must_be_equal
from deployments.planning.methods import FACTS, Method
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.text import text

LAYER_REUSE = (
    "vLLM 0.11.0 to 0.33.0: a single MTP layer is run again for every further token"
)


def count_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge the number of drafted tokens of every role."""
    method = context.method
    if method is None:
        return
    for settings in context.roles:
        if settings.speculative is not None:
            yield from _too_many(context, settings)
            yield from _too_few(settings, method)
            yield from _not_divisible(context, settings)
    yield from _layer_reused(context, method)
    yield from _claims(context, method)
    yield from _differing(context, method)
    yield from _prefill_high(context, method)


def _too_many(context: PlanContext, settings: RoleSettings) -> Iterator[Finding]:
    limit = context.profile.max_tokens_per_step
    drafted = settings.num_speculative_tokens
    if limit is None or drafted + 1 <= limit:
        return
    yield Finding(
        code="COUNT_ABOVE_KERNEL_LIMIT",
        category="k-limit",
        severity=Severity.ERROR,
        message=text(
            "{drafted} drafted tokens and the target's own make {total} a step; the "
            "attention kernel takes {limit} at most.",
            drafted=drafted,
            total=drafted + 1,
            limit=limit,
        ),
        fix=text("Draft {most} tokens or fewer.", most=limit - 1),
        source=context.profile.source,
        evidence=settings.role.value,
    )


def _too_few(settings: RoleSettings, method: Method) -> Iterator[Finding]:
    facts = FACTS[method]
    drafted = settings.num_speculative_tokens
    if drafted >= facts.smallest_count:
        return
    yield Finding(
        code="COUNT_BELOW_METHOD_LIMIT",
        category="k-limit",
        severity=Severity.ERROR,
        message=text(
            "{method} drafts {smallest_count} tokens a step or more, not {drafted}.",
            method=facts.title,
            smallest_count=facts.smallest_count,
            drafted=drafted,
        ),
        fix=text("Draft {default_count} tokens.", default_count=facts.default_count),
        source="vllm-ascend documentation, speculative decoding guide",
        evidence=settings.role.value,
    )


def _not_divisible(context: PlanContext, settings: RoleSettings) -> Iterator[Finding]:
    layers, drafted = context.model.mtp_layers, settings.num_speculative_tokens
    if context.method is not Method.MTP or not layers or drafted <= layers:
        return
    if drafted % layers == 0:
        return
    yield Finding(
        code="COUNT_NOT_DIVISIBLE",
        category="k-limit",
        severity=Severity.ERROR,
        message=text(
            "{drafted} drafted tokens are no multiple of the {layers} MTP layers of {model}; the "
            "engine refuses that.",
            drafted=drafted,
            layers=layers,
            model=context.model.name,
        ),
        fix=text("Draft {fewer} tokens.", fewer=drafted - drafted % layers),
        source="vLLM sources, 0.8.5 to 0.33.0: must be divisible by n_predict",
        evidence=settings.role.value,
    )


def _layer_reused(context: PlanContext, method: Method) -> Iterator[Finding]:
    layers = context.model.mtp_layers
    if method is not Method.MTP or not layers:
        return
    for settings in context.roles:
        drafted, count = settings.num_speculative_tokens, settings.count
        if drafted <= layers or count is None:
            continue
        documented = count.published or _is_documented(context, settings)
        yield Finding(
            code="MTP_LAYER_REUSED",
            category="k-limit",
            severity=Severity.INFO if documented else Severity.WARNING,
            message=text(
                "{model} has {layers} MTP layer; drafting {drafted} tokens runs it {drafted} times a "
                "step, and each further token is accepted less often.",
                model=context.model.name,
                layers=layers,
                drafted=drafted,
            ),
            fix=text(
                "Watch the acceptance rate by position and draft fewer where it falls off."
            )
            if documented
            else text(
                "Draft the documented number, or compare both by their acceptance rate."
            ),
            source=count.source if documented else LAYER_REUSE,
            evidence=settings.role.value,
        )


def _is_documented(context: PlanContext, settings: RoleSettings) -> bool:
    return any(
        entry.followed
        and entry.method is context.method
        and entry.num_speculative_tokens >= settings.num_speculative_tokens
        and (not entry.platforms or context.documented_for in entry.platforms)
        and (not entry.roles or settings.role in entry.roles)
        for entry in context.model.counts
    )


def _claims(context: PlanContext, method: Method) -> Iterator[Finding]:
    used = context.role(Role.DECODE) or context.role(Role.COMBINED)
    if used is None or used.count is None:
        return
    for claim in context.model.counts:
        if claim.followed or claim.method is not method:
            continue
        if claim.num_speculative_tokens == used.num_speculative_tokens:
            continue
        yield Finding(
            code="COUNT_CLAIM_NOT_FOLLOWED",
            category="k-limit",
            severity=Severity.INFO,
            message=text(
                "{claimant} names {claimed} tokens for {model}; this plan drafts "
                "{planned}, as {source} says.",
                claimant=claim.source,
                claimed=claim.num_speculative_tokens,
                model=context.model.name,
                planned=used.num_speculative_tokens,
                source=used.count.source,
            ),
            fix=text(
                "Measure before you raise it: compare the acceptance rate by position."
            ),
            source=used.count.source,
        )


def _differing(context: PlanContext, method: Method) -> Iterator[Finding]:
    prefill, decode = context.role(Role.PREFILL), context.role(Role.DECODE)
    if prefill is None or decode is None or not must_be_equal(context.model, method):
        return
    given, wanted = prefill.num_speculative_tokens, decode.num_speculative_tokens
    if given == wanted:
        return
    yield Finding(
        code="COUNTS_DIFFER_ACROSS_ROLES",
        category="disaggregation",
        severity=Severity.ERROR,
        message=text(
            "Prefill drafts {given} tokens and decode {wanted}; {method} on {model} needs the "
            "same number on both, or decode reads the wrong state.",
            given=given,
            wanted=wanted,
            method=FACTS[method].title,
            model=context.model.name,
        ),
        fix=text("Draft {wanted} on prefill as well.", wanted=wanted),
        source="vllm-ascend documentation v0.23.0, speculative decoding guide",
    )


def _prefill_high(context: PlanContext, method: Method) -> Iterator[Finding]:
    prefill, decode = context.role(Role.PREFILL), context.role(Role.DECODE)
    if prefill is None or decode is None or must_be_equal(context.model, method):
        return
    if prefill.num_speculative_tokens <= 1:
        return
    # The field guide runs EAGLE-3 with decode's count on both sides: slower, but it serves.
    as_decode = prefill.num_speculative_tokens == decode.num_speculative_tokens
    known = method is Method.EAGLE3 and as_decode
    yield Finding(
        code="PREFILL_DRAFTS_IN_VAIN",
        category="disaggregation",
        severity=Severity.INFO if known else Severity.WARNING,
        message=text(
            "Prefill drafts {drafted} tokens, but it emits one token per request: "
            "the further drafts are thrown away and delay the first token.",
            drafted=prefill.num_speculative_tokens,
        ),
        fix=text(
            "Draft 1 on prefill; that already carries the drafter's KV cache over."
        ),
        source="vllm-ascend documentation v0.23.0, prefill/decode tutorials",
    )
