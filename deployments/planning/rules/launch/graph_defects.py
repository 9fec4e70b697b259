"""Graph capture that some builds or settings break."""

import math
from collections.abc import Iterator

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.graph import captures, given_sizes
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    drop_key,
)
from deployments.planning.rules.launch.view import FULL_MODES, LaunchView
from deployments.planning.text import text


@RuleCard(
    code="CAPTURE_SHARES_NO_SIZE",
    category="cudagraph",
    severity=Severity.WARNING,
    summary=text(
        "In vLLM 0.11.1 and 0.11.2 k+1 and the tensor parallel size must divide one another, or workers fail at graph sizing."
    ),
    fix=text(
        "Use a later version, or a count whose k+1 divides or is divided by the tensor parallel size."
    ),
    source="vllm#29036",
    versions=text("vLLM 0.11.1 and 0.11.2"),
    platforms=("cuda", "rocm"),
)
def no_common_size(view: LaunchView) -> Iterator[Hit]:
    """Fires on (k+1) and tensor parallel sizes without a common graph size."""
    step, ranks = view.launch.tokens_per_request, view.launch.tensor_parallel_size
    if step < 2 or ranks < 2 or view.ascend or not captures(view):
        return
    if math.lcm(step, ranks) == max(step, ranks):
        return
    if view.affected((0, 11, 1), (0, 12, 0), r"Can't determine cudagraph shapes"):
        yield Hit(
            message=text(
                "{step} tokens a request and {ranks} tensor parallel ranks share no graph size in this build.",
                step=step,
                ranks=ranks,
            ),
            evidence=f"{step}, {ranks}",
            start=view.spec_place,
        )


@RuleCard(
    code="QWEN3_NEXT_TWO_TOKENS",
    category="cudagraph",
    severity=Severity.WARNING,
    summary=text(
        "Builds around vLLM 0.11.0 fail during graph capture with Qwen3-Next MTP and two tokens; three work."
    ),
    fix=text("Draft 3 tokens, or use a later version."),
    source="vllm#25647",
    versions=text("vLLM 0.10.2 to 0.11.0"),
)
def qwen3_next(view: LaunchView) -> Iterator[Hit]:
    """Fires on Qwen3-Next MTP with 2 tokens in the affected builds."""
    named = f"{view.model} {view.config.get('method') or ''}".lower().replace("_", "-")
    if "qwen3-next" not in named or view.count != 2 or not captures(view):
        return
    if view.affected(
        (0, 11, 0), (0, 11, 1), r"assert \(?m\.num_reqs \* \(self\.num_spec"
    ):
        yield Hit(
            message=text(
                "Qwen3-Next MTP with 2 tokens fails during graph capture in this build."
            ),
            evidence="2",
            start=view.spec_place,
        )


@RuleCard(
    code="COUNT_BY_BATCH_SLOW",
    category="cudagraph",
    severity=Severity.WARNING,
    summary=text(
        "A table of counts by batch size leaves full graphs: decode on Ascend ran three times slower, and with data parallelism it is switched off."
    ),
    fix=text("Use one count."),
    source="vllm-ascend#16637; vLLM 0.24.0 and later: Disabling num_speculative_tokens_per_batch_size",
    versions=text("vLLM 0.24.0 and later"),
)
def by_batch(view: LaunchView) -> Iterator[Hit]:
    """Fires on the table with full graphs on Ascend, and with data parallelism anywhere."""
    if "num_speculative_tokens_per_batch_size" not in view.config:
        return
    ranks = view.launch.number("--data-parallel-size") or 1
    full = view.graph_mode in FULL_MODES
    if view.method in ("dspark", "suffix") and view.ascend:
        severity = Severity.ERROR
        message = text(
            "A table of counts by batch size does not go with {method} on Ascend.",
            method=view.method or "",
        )
    elif view.ascend and full:
        severity = Severity.WARNING
        message = text(
            "A table of counts by batch size keeps decode out of full graphs: 107 instead of 333 tokens a second were measured."
        )
    elif ranks > 1:
        severity = Severity.WARNING
        message = text(
            "With data parallelism the engine drops the table of counts by batch size."
        )
    else:
        return
    yield Hit(
        message=message,
        severity=severity,
        evidence="num_speculative_tokens_per_batch_size",
        start=view.spec_place,
        edits=(drop_key("num_speculative_tokens_per_batch_size"),)
        if view.count
        else (),
    )


@RuleCard(
    code="UNPADDED_DRAFTS_IN_GRAPH",
    category="ascend-graph",
    severity=Severity.ERROR,
    summary=text(
        "disable_padded_drafter_batch does not go with full graphs unless the drafter runs eager."
    ),
    fix=text("Leave disable_padded_drafter_batch out."),
    source="vllm-ascend sources: only supports padded drafter batch",
    platforms=("ascend",),
)
def unpadded(view: LaunchView) -> Iterator[Hit]:
    """Fires on unpadded drafts with full graphs."""
    if not view.ascend or view.config.get("disable_padded_drafter_batch") is not True:
        return
    if view.config.get("enforce_eager") is True or not captures(view):
        return
    if view.graph_mode in (*FULL_MODES, "FULL_AND_PIECEWISE"):
        yield Hit(
            message=text(
                "disable_padded_drafter_batch does not go with {mode}.",
                mode=view.graph_mode or "",
            ),
            evidence="disable_padded_drafter_batch",
            start=view.spec_place,
            edits=(drop_key("disable_padded_drafter_batch"),),
        )


@RuleCard(
    code="GRAPH_WITH_BLOCKING_LAUNCHES",
    category="ascend-graph",
    severity=Severity.ERROR,
    summary=text("ASCEND_LAUNCH_BLOCKING=1 does not go with graph mode."),
    fix=text("Leave the variable out, or add --enforce-eager."),
    source="vllm-ascend sources: ACL graph is incompatible with ASCEND_LAUNCH_BLOCKING=1",
    platforms=("ascend",),
)
def blocking(view: LaunchView) -> Iterator[Hit]:
    """Fires on the debugging variable without eager mode."""
    if (
        view.ascend
        and view.launch.variable("ASCEND_LAUNCH_BLOCKING") == "1"
        and captures(view)
    ):
        yield Hit(
            message=text("ASCEND_LAUNCH_BLOCKING=1 does not go with graph mode."),
            evidence="ASCEND_LAUNCH_BLOCKING=1",
            start=view.launch.start,
        )


@RuleCard(
    code="LARGE_GRID_SHARES_NO_RANKS",
    category="ascend-graph",
    severity=Severity.ERROR,
    summary=text(
        "With sequence parallelism capture sizes must hold multiples of the tensor parallel size."
    ),
    fix=text("Add sizes that are multiples of the tensor parallel size and of k+1."),
    source="vllm-ascend sources, platform.py",
    platforms=("ascend",),
)
def rank_multiples(view: LaunchView) -> Iterator[Hit]:
    """Fires where FlashComm1 or DSA context parallelism leaves no capture size."""
    ranks, sizes = view.launch.tensor_parallel_size, given_sizes(view)
    parallel = any(
        view.additional.get(key) is True
        for key in ("enable_flashcomm1", "enable_dsa_cp")
    )
    if not view.ascend or ranks < 2 or not sizes or not parallel or not captures(view):
        return
    if all(size % ranks for size in sizes):
        yield Hit(
            message=text(
                "None of the capture sizes is a multiple of the tensor parallel size {ranks}.",
                ranks=ranks,
            ),
            evidence=", ".join(map(str, sizes[:16])),
            start=view.place("--compilation-config"),
        )


GRAPH_DEFECT_RULES: tuple[LaunchRule, ...] = (
    no_common_size,
    qwen3_next,
    by_batch,
    unpadded,
    blocking,
    rank_multiples,
)
