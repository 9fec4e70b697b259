"""Parallel sizes: pipeline stages, draft ranks, devices that are visible or passed."""

import re
from collections.abc import Iterator

from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    drop_flag,
    set_flag,
    set_key,
)
from deployments.planning.rules.launch.view import WITH_DRAFTER, LaunchView
from deployments.planning.text import text

PP = "--pipeline-parallel-size"
VISIBLE = (
    "CUDA_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
)
_DAVINCI = re.compile(r"/dev/davinci\d+")


@RuleCard(
    code="SPECULATION_WITH_PIPELINE",
    category="pipeline-parallel",
    severity=Severity.ERROR,
    summary=text(
        "Pipeline parallelism does not go with drafting: before 0.30 the drafter inherits the stages, and MTP and DSpark stay broken after."
    ),
    fix=text("Use tensor parallelism instead, or leave speculation out."),
    source="vllm#52069, #52761, #57755, #49355, #14117",
    versions=text(
        "EAGLE and draft models before vLLM 0.30.0; MTP, DFlash and DSpark in all"
    ),
)
def pipeline(view: LaunchView) -> Iterator[Hit]:
    """Fires on more than one stage with drafting; a warning where 0.30 and later take it."""
    stages = view.launch.pipeline_parallel_size
    if stages < 2 or view.speculation is None or not view.launch.is_vllm:
        return
    drafting = view.method in WITH_DRAFTER or view.engine.old
    late = view.vllm_since(0, 30, 0) and view.method in (
        "eagle",
        "eagle3",
        "draft_model",
    )
    yield Hit(
        message=text(
            "{stages} pipeline stages do not go with speculative decoding.",
            stages=stages,
        ),
        severity=Severity.ERROR if drafting and not late else Severity.WARNING,
        evidence=str(stages),
        start=view.place(PP),
        edits=(
            drop_flag(PP),
            set_flag(
                "--tensor-parallel-size", stages * view.launch.tensor_parallel_size
            ),
        ),
    )


@RuleCard(
    code="DRAFT_RANKS_ODD",
    category="tensor-parallel",
    severity=Severity.ERROR,
    summary=text(
        "draft_tensor_parallel_size must be 1 or the target's tensor parallel size."
    ),
    fix=text("Use 1 or the target's size."),
    source="vLLM 0.32.0, run: cannot be other value than 1 or target model tensor_parallel_size; vllm#10483",
)
def draft_ranks(view: LaunchView) -> Iterator[Hit]:
    """Fires on a draft size between 1 and the target's."""
    drafts, ranks = (
        view.config.get("draft_tensor_parallel_size"),
        view.launch.number("--tensor-parallel-size"),
    )
    known = (
        ranks
        if ranks is not None
        else None
        if view.launch.flag("--tensor-parallel-size")
        else 1
    )
    if not isinstance(drafts, int) or isinstance(drafts, bool) or known is None:
        return
    if drafts in (1, known):
        return
    yield Hit(
        message=text(
            "draft_tensor_parallel_size is {drafts}; it must be 1 or {ranks}.",
            drafts=drafts,
            ranks=known,
        ),
        evidence=str(drafts),
        start=view.spec_place,
        edits=(
            set_key(
                "draft_tensor_parallel_size",
                1 if view.method != Method.DRAFT_MODEL.value else known,
            ),
        ),
    )


@RuleCard(
    code="DRAFT_MODEL_RANKS_DIFFER",
    category="tensor-parallel",
    severity=Severity.ERROR,
    summary=text(
        "A draft model runs with as many tensor parallel ranks as its target."
    ),
    fix=text("Leave draft_tensor_parallel_size out, or give the target's size."),
    source="vLLM sources: 'draft_tensor_parallel_size' and 'tensor_parallel_size' must be the same",
    versions=text("vLLM 0.16.0 and later, V1 runner"),
)
def draft_model_ranks(view: LaunchView) -> Iterator[Hit]:
    """Fires on a draft model with one rank for a target with several."""
    drafts, ranks = (
        view.config.get("draft_tensor_parallel_size"),
        view.launch.tensor_parallel_size,
    )
    if (
        view.method != Method.DRAFT_MODEL.value
        or drafts != 1
        or ranks < 2
        or view.engine.old
    ):
        return
    if view.vllm_before(0, 16, 0):
        return
    yield Hit(
        message=text(
            "The draft model has 1 tensor parallel rank and the target {ranks}; they must be the same.",
            ranks=ranks,
        ),
        evidence="1",
        start=view.spec_place,
        edits=(set_key("draft_tensor_parallel_size", ranks),),
    )


@RuleCard(
    code="DEVICES_TOO_FEW",
    category="device",
    severity=Severity.ERROR,
    summary=text("The launch needs more devices than it can see."),
    fix=text("Show it more devices, or lower the parallel sizes."),
    source="vLLM: world size is larger than the number of available devices",
)
def too_few(view: LaunchView) -> Iterator[Hit]:
    """Fires on visible device lists and passed device nodes shorter than the need."""
    needed = view.launch.devices_required
    shown = _shown(view)
    if shown is None or shown >= needed or not view.launch.is_vllm:
        return
    if view.launch.value("--distributed-executor-backend") == "ray" or view.launch.flag(
        "--nnodes"
    ):
        return
    if (
        view.launch.flag("--data-parallel-address")
        and view.launch.flag("--data-parallel-rank") is None
    ):
        return
    yield Hit(
        message=text(
            "The launch needs {needed} devices and sees {shown}.",
            needed=needed,
            shown=shown,
        ),
        evidence=str(shown),
        start=view.place("--tensor-parallel-size"),
    )


def _shown(view: LaunchView) -> int | None:
    for name in VISIBLE:
        value = view.launch.variable(name)
        if value and re.fullmatch(r"\d{1,3}(?:,\d{1,3})*,?", value.replace(" ", "")):
            return len([one for one in value.split(",") if one.strip()])
    container = view.launch.container
    if container is None or container.privileged:
        return None
    nodes = sum(1 for one in container.devices if _DAVINCI.fullmatch(one))
    if nodes:
        return nodes
    gpus = (container.gpus or "").strip("\"'")
    listed = re.search(r"device=(\d+(?:,\d+)*)", gpus)
    if listed:
        return listed[1].count(",") + 1
    return int(gpus) if gpus.isdigit() and len(gpus) < 4 else None


@RuleCard(
    code="HEADS_NOT_DIVISIBLE",
    category="tensor-parallel",
    severity=Severity.ERROR,
    summary=text(
        "The attention heads of the model do not divide among the tensor parallel ranks."
    ),
    fix=text("Use a tensor parallel size that divides the heads."),
    source="the catalog; vLLM: Total number of attention heads must be divisible by tensor parallel size",
)
def heads(view: LaunchView) -> Iterator[Hit]:
    """Fires where the catalog knows the heads and the ranks do not divide them."""
    attention = view.target.attention if view.target else None
    ranks = view.launch.tensor_parallel_size
    if (
        attention is None
        or attention.heads is None
        or ranks < 2
        or attention.heads % ranks == 0
    ):
        return
    yield Hit(
        message=text(
            "{model} has {heads} attention heads, which {ranks} ranks do not divide.",
            model=view.model,
            heads=attention.heads,
            ranks=ranks,
        ),
        evidence=str(ranks),
        start=view.place("--tensor-parallel-size"),
    )


@RuleCard(
    code="PARALLEL_SIZE_ODD",
    category="tensor-parallel",
    severity=Severity.ERROR,
    summary=text("A parallel size must be a whole number of 1 or more."),
    fix=text("Write a whole number."),
    source="vLLM sources, argument parser",
)
def odd_size(view: LaunchView) -> Iterator[Hit]:
    """Fires on sizes that are no positive whole numbers."""
    for flag in ("--tensor-parallel-size", PP, "--data-parallel-size"):
        value = view.launch.value(flag)
        if value is None or "$" in value or "{" in value or "<" in value:
            continue
        number = view.launch.number(flag)
        if number is None or number < 1:
            yield Hit(
                message=text(
                    "{flag} is {value}; it must be a whole number of 1 or more.",
                    flag=flag,
                    value=value[:40],
                ),
                evidence=value[:40],
                start=view.place(flag),
            )


PARALLEL_RULES: tuple[LaunchRule, ...] = (
    pipeline,
    draft_ranks,
    draft_model_ranks,
    too_few,
    heads,
    odd_size,
)
