"""What runs beside drafting: asynchronous scheduling, tool calls, LoRA, logits processors."""

from collections.abc import Iterator

from deployments.planning.methods import FACTS
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard, drop_flag
from deployments.planning.rules.launch.view import EAGLE_FAMILY, LaunchView
from deployments.planning.text import text
from deployments.planning.versions import Version

ASYNC = "--async-scheduling"
_ASYNC_SINCE = {"ngram_gpu": (0, 18, 0), "dspark": (0, 25, 1), "dflash": (0, 20, 0)}


@RuleCard(
    code="ASYNC_SCHEDULING_REFUSED",
    category="async-scheduling",
    severity=Severity.ERROR,
    summary=text(
        "--async-scheduling is refused with methods that draft on the processor, and with all of them up to vLLM 0.11."
    ),
    fix=text("Leave --async-scheduling out: the engine then chooses by itself."),
    source="vLLM sources 0.8.5 to 0.33.0: async scheduling is only supported with EAGLE/MTP/...",
)
def async_refused(view: LaunchView) -> Iterator[Hit]:
    """Fires on the explicit flag with ngram, suffix, Medusa, or in an early version."""
    if (
        not view.launch.has(ASYNC)
        or view.speculation is None
        or not view.launch.is_vllm
    ):
        return
    method = view.method_enum
    if method is not None and not FACTS[method].async_scheduling:
        message = text(
            "Asynchronous scheduling does not go with {method}.",
            method=FACTS[method].title,
        )
    elif view.vllm_before(0, 11, 1) and not view.ascend:
        message = text("This version does not draft with asynchronous scheduling.")
    elif method is not None and view.vllm_before(
        *_ASYNC_SINCE.get(method.value, (0, 8, 5))
    ):
        message = text(
            "Asynchronous scheduling goes with {method} in later versions only.",
            method=FACTS[method].title,
        )
    else:
        return
    yield Hit(
        message=message,
        evidence=ASYNC,
        start=view.place(ASYNC),
        edits=(drop_flag(ASYNC),),
    )


@RuleCard(
    code="ASYNC_SCHEDULING_OFF",
    category="async-scheduling",
    severity=Severity.INFO,
    summary=text(
        "The method turns asynchronous scheduling off, which costs some throughput."
    ),
    fix=text("Compare with drafting off before you keep it."),
    source="vLLM 0.14.0 to 0.33.0: will be disabled",
    versions=text("vLLM 0.14.0 and later"),
)
def async_off(view: LaunchView) -> Iterator[Hit]:
    """Fires on such a method without the explicit flag."""
    method = view.method_enum
    if method is None or FACTS[method].async_scheduling or view.launch.has(ASYNC):
        return
    if view.engine.old or view.vllm_before(0, 14, 0) or not view.launch.is_vllm:
        return
    yield Hit(
        message=text(
            "{method} turns asynchronous scheduling off.", method=FACTS[method].title
        ),
        evidence=method.value,
        start=view.spec_place,
    )


@RuleCard(
    code="UNPADDED_DRAFTS_ASYNC",
    category="async-scheduling",
    severity=Severity.ERROR,
    summary=text(
        "disable_padded_drafter_batch does not go with asynchronous scheduling."
    ),
    fix=text("Leave one of them out."),
    source="vLLM sources, 0.11.0 to 0.33.0",
)
def unpadded(view: LaunchView) -> Iterator[Hit]:
    """Fires on both together."""
    if view.config.get("disable_padded_drafter_batch") is True and view.launch.has(
        ASYNC
    ):
        yield Hit(
            message=text(
                "disable_padded_drafter_batch does not go with --async-scheduling."
            ),
            evidence=ASYNC,
            start=view.place(ASYNC),
            edits=(drop_flag(ASYNC),),
        )


@RuleCard(
    code="TOOL_PARSER_MISSING",
    category="tool-calls",
    severity=Severity.ERROR,
    summary=text("--enable-auto-tool-choice wants a --tool-call-parser."),
    fix=text("Name the parser of the model, or leave automatic tool choice out."),
    source="vLLM sources: --enable-auto-tool-choice requires --tool-call-parser",
)
def tool_parser(view: LaunchView) -> Iterator[Hit]:
    """Fires on automatic tool choice without a parser."""
    if (
        view.launch.has("--enable-auto-tool-choice")
        and view.launch.flag("--tool-call-parser") is None
    ):
        yield Hit(
            message=text(
                "--enable-auto-tool-choice stands without --tool-call-parser."
            ),
            evidence="--enable-auto-tool-choice",
            start=view.place("--enable-auto-tool-choice"),
        )


@RuleCard(
    code="TOOL_CALLS_CUT",
    category="tool-calls",
    severity=Severity.WARNING,
    summary=text(
        "vllm-ascend 0.17.0rc1 breaks streamed tool calls of GLM-5 when more than one token is drafted."
    ),
    fix=text("Draft 1 token, or use a later version."),
    source="vllm-ascend#7580",
    versions=text("vllm-ascend up to 0.17.0"),
    platforms=("ascend",),
)
def tool_calls(view: LaunchView) -> Iterator[Hit]:
    """Fires on GLM with more than one token in the affected builds."""
    if not view.ascend or (view.count or 0) < 2 or not families.is_glm(view.names):
        return
    if view.affected((0, 17, 0), Version((0, 18, 0), (0, 0)), r"Unterminated string"):
        yield Hit(
            message=text(
                "Streamed tool calls are cut off with {count} drafted tokens in this build.",
                count=view.count or 0,
            ),
            evidence=str(view.count),
            start=view.spec_place,
        )


@RuleCard(
    code="NGRAM_WITH_TOOL_CALLS",
    category="tool-calls",
    severity=Severity.INFO,
    summary=text(
        "Short n-gram matches were reported to damage arguments of tool calls."
    ),
    fix=text("Set prompt_lookup_min to 8, or turn drafting off for tool calls."),
    source="vllm#40875, #41967",
)
def ngram_tools(view: LaunchView) -> Iterator[Hit]:
    """Fires on n-gram with tool calls and a short minimum."""
    shortest = view.config.get("prompt_lookup_min")
    if view.method != "ngram" or not view.launch.has("--enable-auto-tool-choice"):
        return
    if not isinstance(shortest, int) or shortest < 8:
        yield Hit(
            message=text(
                "N-gram matches below 8 tokens were reported to damage tool calls."
            ),
            evidence="prompt_lookup_min",
            start=view.spec_place,
        )


@RuleCard(
    code="FAST_PREFILL_WITH_EAGLE",
    category="other",
    severity=Severity.ERROR,
    summary=text(
        "--kv-sharing-fast-prefill does not go with EAGLE, MTP and their kind."
    ),
    fix=text("Leave --kv-sharing-fast-prefill out."),
    source="vLLM sources: Fast prefill optimization for KV sharing is not compatible with EAGLE",
)
def fast_prefill(view: LaunchView) -> Iterator[Hit]:
    """Fires on both together."""
    if view.launch.has("--kv-sharing-fast-prefill") and view.method in EAGLE_FAMILY:
        yield Hit(
            message=text(
                "--kv-sharing-fast-prefill does not go with {method}.",
                method=view.method or "",
            ),
            evidence="--kv-sharing-fast-prefill",
            start=view.place("--kv-sharing-fast-prefill"),
            edits=(drop_flag("--kv-sharing-fast-prefill"),),
        )


@RuleCard(
    code="LOGITS_PROCESSORS_WITH_SPECULATION",
    category="structured-output",
    severity=Severity.ERROR,
    summary=text("Logits processors of your own do not go with speculative decoding."),
    fix=text("Leave --logits-processors out, or draft nothing."),
    source="vLLM 0.32.0 sources: Custom logits processors are not supported when speculative decoding is enabled",
)
def logits(view: LaunchView) -> Iterator[Hit]:
    """Fires on both together."""
    if (
        view.launch.flag("--logits-processors")
        and view.speculation is not None
        and view.launch.is_vllm
    ):
        yield Hit(
            message=text("--logits-processors does not go with speculative decoding."),
            evidence="--logits-processors",
            start=view.place("--logits-processors"),
            edits=(drop_flag("--logits-processors"),),
        )


@RuleCard(
    code="OVERLAP_WITH_SPECULATION",
    category="other",
    severity=Severity.WARNING,
    summary=text(
        "Dual batch overlap does not go with drafting on the V2 model runner."
    ),
    fix=text("Leave --enable-dbo out."),
    source="vLLM sources, V2 model runner, 0.22.0 to 0.33.0",
)
def overlap(view: LaunchView) -> Iterator[Hit]:
    """Fires on dual batch overlap with drafting."""
    if view.launch.has("--enable-dbo") and view.speculation is not None:
        yield Hit(
            message=text("--enable-dbo does not go with speculative decoding."),
            evidence="--enable-dbo",
            start=view.place("--enable-dbo"),
            edits=(drop_flag("--enable-dbo"),),
        )


@RuleCard(
    code="ADAPTIVE_WITH_LORA",
    category="lora",
    severity=Severity.ERROR,
    summary=text("Adaptive verification does not go with LoRA."),
    fix=text("Leave enable_adaptive_verification out."),
    source="vLLM 0.28.0 and later, sources",
    versions=text("vLLM 0.28.0 and later"),
)
def adaptive_lora(view: LaunchView) -> Iterator[Hit]:
    """Fires on both together."""
    if view.config.get("enable_adaptive_verification") is True and view.launch.has(
        "--enable-lora"
    ):
        yield Hit(
            message=text(
                "enable_adaptive_verification does not go with --enable-lora."
            ),
            evidence="--enable-lora",
            start=view.spec_place,
        )


SCHEDULING_RULES: tuple[LaunchRule, ...] = (
    async_refused,
    async_off,
    unpadded,
    tool_parser,
    tool_calls,
    ngram_tools,
    fast_prefill,
    logits,
    overlap,
    adaptive_lora,
)
