"""Graph capture with drafting: eager drafters, capture sizes, coverage."""

import json
from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.engines.arguments import flag_values
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.rules.capture import not_multiples
from deployments.planning.sizes import refuses_draft_graph
from deployments.planning.text import listed, text

COMPILATION = "--compilation-config"
SIZES_FLAG = "--cudagraph-capture-sizes"
LARGEST_FLAG = "--max-cudagraph-capture-size"


def graph_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge how the drafter and the decode batch meet graph capture."""
    if context.practice or not context.platform.has_devices:
        return
    yield from _eager_drafter(context)
    for settings in context.roles:
        flags = _flags_of(context, settings.role)
        if settings.role is Role.PREFILL or "--enforce-eager" in flags:
            continue
        sizes = capture_sizes(flags)
        if settings.speculative is not None:
            yield from _multiples(context, settings, sizes)
        yield from _coverage(context, settings, sizes, flags)


def capture_sizes(flags: dict[str, str | None]) -> tuple[int, ...]:
    """Return the capture sizes that a command names, in tokens; none when the engine chooses."""
    direct = flags.get(SIZES_FLAG)
    if direct:
        return tuple(
            int(word) for word in direct.replace(",", " ").split() if word.isdigit()
        )
    given = _json_object(flags.get(COMPILATION)).get("cudagraph_capture_sizes")
    if isinstance(given, list):
        return tuple(size for size in given if isinstance(size, int))
    return ()


def _eager_drafter(context: PlanContext) -> Iterator[Finding]:
    eager = [
        one for one in context.roles if one.speculative and one.speculative.draft_eager
    ]
    if not eager or context.profile.engine != VLLM_ASCEND:
        return
    forced = refuses_draft_graph(context.model, context.method)
    yield Finding(
        code="DRAFTER_RUNS_EAGER",
        category="ascend-graph",
        severity=Severity.INFO,
        message=text(
            "The drafter of {model} runs without graph capture; the target keeps its graph. The "
            "engine forces it for GLM models, and the plan says so openly.",
            model=context.model.name,
        )
        if forced
        else text(
            "The drafter of {model} runs without graph capture, as documented; the target keeps "
            "its graph.",
            model=context.model.name,
        ),
        fix=text(
            "Leave enforce_eager in the speculative config; it is not the target's "
            "--enforce-eager."
        ),
        source="vllm-ascend v0.23.0, draft proposer and tutorials",
    )


def _multiples(
    context: PlanContext, settings: RoleSettings, sizes: tuple[int, ...]
) -> Iterator[Finding]:
    step = settings.num_speculative_tokens + 1
    wrong = not_multiples(sizes, step)
    if not wrong:
        return
    none_left = len(wrong) == len(sizes)
    yield Finding(
        code="CAPTURE_SIZES_NOT_MULTIPLES",
        category="ascend-graph"
        if context.profile.engine == VLLM_ASCEND
        else "cudagraph",
        severity=Severity.ERROR if none_left else Severity.WARNING,
        message=text(
            "Capture sizes count tokens, {step} for each request here; {listed} are no multiples "
            "of {step} and are rounded or dropped.",
            step=step,
            listed=listed(map(str, wrong)),
        ),
        fix=text(
            "Use multiples of {step} up to {tokens_per_step}.",
            step=step,
            tokens_per_step=settings.tokens_per_step,
        ),
        source="vLLM 0.32.0 and vllm-ascend documentation v0.23.0, graph capture",
        evidence=settings.role.value,
    )


def _coverage(
    context: PlanContext,
    settings: RoleSettings,
    sizes: tuple[int, ...],
    flags: dict[str, str | None],
) -> Iterator[Finding]:
    largest = flags.get(LARGEST_FLAG)
    limit = max(sizes) if sizes else context.profile.capture_limit_tokens
    if largest and largest.isdigit():
        limit = int(largest)
    if settings.tokens_per_step <= limit:
        return
    step = settings.num_speculative_tokens + 1
    yield Finding(
        code="CAPTURE_COVERAGE_SHORT",
        category="ascend-graph"
        if context.profile.engine == VLLM_ASCEND
        else "cudagraph",
        severity=Severity.WARNING,
        message=text(
            "A full decode batch is {max_num_seqs} requests x {step} tokens = {tokens_per_step}, "
            "but graphs are captured up to {limit} tokens: larger batches run without a graph.",
            max_num_seqs=settings.max_num_seqs,
            step=step,
            tokens_per_step=settings.tokens_per_step,
            limit=limit,
        ),
        fix=text(
            "Add {flag} {tokens_per_step}, or serve at most {most} requests at once.",
            flag=LARGEST_FLAG,
            tokens_per_step=settings.tokens_per_step,
            most=limit // step,
        ),
        source="vLLM 0.32.0 and vllm-ascend v0.23.0, graph capture",
        evidence=settings.role.value,
    )


def _flags_of(context: PlanContext, role: Role) -> dict[str, str | None]:
    commands = (one.container.command for one in context.replicas if one.role is role)
    return flag_values(next(commands))


def _json_object(text: str | None) -> dict[str, Json]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
