"""Token budgets, batch limits and lengths."""

from collections.abc import Iterator

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard, set_flag
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text

BATCHED = "--max-num-batched-tokens"
BATCH = "--max-num-seqs"
_DEFAULTS = ((2048, 256), (8192, 1024))
"""max_num_batched_tokens and max_num_seqs of a server unasked: small and large GPUs (vLLM 0.26.0)."""


@RuleCard(
    code="BATCHED_TOKENS_SHORT",
    category="token-budget",
    severity=Severity.WARNING,
    summary=text(
        "max_num_batched_tokens does not hold one step of a full batch: some requests wait a step; below k+1 nothing runs."
    ),
    fix=text("Raise max_num_batched_tokens to max_num_seqs x (k+1)."),
    source="vLLM 0.32.0 scheduler; vllm-ascend documentation v0.23.0, decode nodes",
)
def batched_tokens(view: LaunchView) -> Iterator[Hit]:
    """Fires on a budget below a full step, an error below one request's step."""
    budget, batch = view.launch.number(BATCHED), view.launch.number(BATCH)
    step = view.launch.tokens_per_request
    if budget is None or not view.launch.is_vllm or view.role == "prefill":
        return
    needed = (batch or 1) * step
    if budget < step:
        severity = Severity.ERROR
    elif budget < needed and step > 1:
        severity = Severity.WARNING
    else:
        return
    yield Hit(
        message=text(
            "max_num_batched_tokens is {budget}, but {batch} requests with {step} tokens a step need {needed}.",
            budget=budget,
            batch=batch or 1,
            step=step,
            needed=needed,
        ),
        severity=severity,
        evidence=str(budget),
        start=view.place(BATCHED),
        edits=(set_flag(BATCHED, needed),),
    )


@RuleCard(
    code="SCHEDULED_TOKENS_NEGATIVE",
    category="token-budget",
    severity=Severity.ERROR,
    summary=text(
        "vLLM 0.20 to 0.26 reserves draft slots for every request of the batch; the budget left must stay above 0."
    ),
    fix=text(
        "Raise max_num_batched_tokens, or lower max_num_seqs or num_speculative_tokens."
    ),
    source="vllm#50708: max_num_scheduled_tokens is set to a negative number",
    versions=text("vLLM 0.20.0 to 0.26.0"),
)
def scheduled(view: LaunchView) -> Iterator[Hit]:
    """Fires where slots times batch eat the budget, with defaults where flags are absent."""
    slots = _slots(view)
    if not slots or not view.launch.is_vllm:
        return
    if not view.affected(
        (0, 20, 0), (0, 27, 0), r"max_num_scheduled_tokens is set to -"
    ):
        return
    given, batch = view.launch.number(BATCHED), view.launch.number(BATCH)
    left = max(
        (given or default_tokens) - slots * (batch or default_batch)
        for default_tokens, default_batch in _DEFAULTS
    )
    if left > 0:
        return
    yield Hit(
        message=text(
            "Draft slots leave {left} tokens to schedule: {slots} for each request of the batch.",
            left=left,
            slots=slots,
        ),
        evidence=str(left),
        start=view.place(
            BATCHED if given else BATCH if batch else "--speculative-config"
        ),
        edits=(set_flag(BATCHED, slots * batch + 2048),) if batch else (),
    )


def _slots(view: LaunchView) -> int:
    count = view.count or 0
    if (
        view.method in ("dflash", "dspark")
        or view.config.get("parallel_drafting") is True
    ):
        return max(0, count - 1)
    return 1 if view.method == "draft_model" and count else 0


@RuleCard(
    code="LORA_BUDGET_SHORT",
    category="lora",
    severity=Severity.ERROR,
    summary=text("With LoRA max_num_batched_tokens must reach max_num_seqs x (k+1)."),
    fix=text("Raise max_num_batched_tokens, or lower the count."),
    source="vLLM 0.32.0, run: Consider increasing max_num_batched_tokens; vllm#21068",
)
def lora_budget(view: LaunchView) -> Iterator[Hit]:
    """Fires on LoRA with drafting and a budget below the full step."""
    budget, needed = view.launch.number(BATCHED), view.launch.decode_tokens_per_step
    if not view.launch.has("--enable-lora") or view.launch.tokens_per_request < 2:
        return
    if budget is not None and needed is not None and budget < needed:
        yield Hit(
            message=text(
                "With LoRA {needed} batched tokens are needed, and {budget} are allowed.",
                needed=needed,
                budget=budget,
            ),
            evidence=str(budget),
            start=view.place(BATCHED),
            edits=(set_flag(BATCHED, needed),),
        )


@RuleCard(
    code="BATCH_SMALL_FOR_OLD_ENGINE",
    category="batch-limit",
    severity=Severity.WARNING,
    summary=text(
        "The old engine unfolds each sequence into k+1, and fails when max_num_seqs is at most twice k."
    ),
    fix=text("Set max_num_seqs above twice num_speculative_tokens."),
    source="vllm#5302",
    versions=text("V0 engine, up to vLLM 0.9.2"),
)
def old_batch(view: LaunchView) -> Iterator[Hit]:
    """Fires on a batch of at most 2k in the old engine."""
    batch, count = view.launch.number(BATCH), view.count
    if not view.engine.old or batch is None or not count or batch > 2 * count:
        return
    yield Hit(
        message=text(
            "max_num_seqs {batch} is at most twice the {count} drafted tokens.",
            batch=batch,
            count=count,
        ),
        evidence=str(batch),
        start=view.place(BATCH),
        edits=(set_flag(BATCH, 2 * count + 1),),
    )


@RuleCard(
    code="LENGTH_ABOVE_CONTEXT",
    category="token-budget",
    severity=Severity.ERROR,
    summary=text("max_model_len is longer than the model's context."),
    fix=text("Use the context length or less."),
    source="the catalog; vLLM: User-specified max_model_len is greater than the derived",
)
def length(view: LaunchView) -> Iterator[Hit]:
    """Fires on a length above the catalog's context of the target."""
    wanted = view.launch.number("--max-model-len")
    trained = view.target.context_length if view.target else None
    if wanted is None or trained is None or wanted <= trained:
        return
    allowed = view.launch.variable("VLLM_ALLOW_LONG_MAX_MODEL_LEN") in ("1", "true")
    if (
        allowed
        or view.launch.flag("--hf-overrides")
        or view.launch.flag("--rope-scaling")
    ):
        return
    yield Hit(
        message=text(
            "max_model_len is {wanted}, but {model} has a context of {trained} tokens.",
            wanted=wanted,
            model=view.model,
            trained=trained,
        ),
        evidence=str(wanted),
        start=view.place("--max-model-len"),
        edits=(set_flag("--max-model-len", trained),),
    )


@RuleCard(
    code="DRAFT_LENGTH_ABOVE_TARGET",
    category="token-budget",
    severity=Severity.ERROR,
    summary=text("max_model_len of the drafter is longer than the target's."),
    fix=text("Use the target's length or less."),
    source="vLLM 0.32.0 sources: cannot be larger than",
)
def draft_length(view: LaunchView) -> Iterator[Hit]:
    """Fires on a drafter's length above the target's."""
    drafts, target = (
        view.config.get("max_model_len"),
        view.launch.number("--max-model-len"),
    )
    if (
        isinstance(drafts, int)
        and not isinstance(drafts, bool)
        and target is not None
        and drafts > target
    ):
        yield Hit(
            message=text(
                "The drafter's max_model_len {drafts} is longer than the target's {target}.",
                drafts=drafts,
                target=target,
            ),
            evidence=str(drafts),
            start=view.spec_place,
        )


@RuleCard(
    code="CHUNKING_OFF_BUDGET_SHORT",
    category="token-budget",
    severity=Severity.ERROR,
    summary=text(
        "Without chunked prefill a prompt must fit into max_num_batched_tokens."
    ),
    fix=text(
        "Raise max_num_batched_tokens to max_model_len, or leave chunked prefill on."
    ),
    source="vLLM sources: max_num_batched_tokens is smaller than max_model_len",
)
def unchunked(view: LaunchView) -> Iterator[Hit]:
    """Fires on --no-enable-chunked-prefill with a budget below the length."""
    budget, length_ = view.launch.number(BATCHED), view.launch.number("--max-model-len")
    if (
        "--no-enable-chunked-prefill" not in view.launch.flags
        or budget is None
        or length_ is None
    ):
        return
    if budget < length_:
        yield Hit(
            message=text(
                "Without chunked prefill {budget} batched tokens do not hold a prompt of {length} tokens.",
                budget=budget,
                length=length_,
            ),
            evidence=str(budget),
            start=view.place(BATCHED),
            edits=(set_flag(BATCHED, length_),),
        )


BUDGET_RULES: tuple[LaunchRule, ...] = (
    batched_tokens,
    scheduled,
    lora_budget,
    old_batch,
    length,
    draft_length,
    unchunked,
)
