"""Flags and variables that do not go with drafting, or that drafting changes the meaning of."""

import json
from collections.abc import Iterator

from deployments.planning.importing.json_repair import read_json
from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard, drop_flag
from deployments.planning.rules.launch.view import EAGLE_FAMILY, LaunchView
from deployments.planning.text import listed, text

PER_REQUEST = "--per-request-spec-decode-metrics"
SAMPLING = "--override-generation-config"
REPLAY = "--replayssm-buffer-len"
_ON = ("1", "true", "True")


@RuleCard(
    code="REQUEST_METRICS_WITHOUT_DRAFTING",
    category="no-metrics",
    severity=Severity.ERROR,
    summary=text("--per-request-spec-decode-metrics wants a speculative config."),
    fix=text("Leave it out, or turn drafting on."),
    source="vLLM 0.29.0 and later: requires speculative decoding to be enabled",
    versions=text("vLLM 0.29.0 and later"),
)
def request_metrics(view: LaunchView) -> Iterator[Hit]:
    """Fires on the flag without drafting."""
    value = view.launch.value(PER_REQUEST)
    if value not in (None, "none") and view.speculation is None:
        yield Hit(
            message=text("{flag} stands without drafting.", flag=PER_REQUEST),
            evidence=value or "",
            start=view.place(PER_REQUEST),
            edits=(drop_flag(PER_REQUEST),),
        )


@RuleCard(
    code="SAMPLING_DEFAULTS_REFUSED",
    category="structured-output",
    severity=Severity.ERROR,
    summary=text(
        "min_p and logit_bias are refused while drafting: as defaults of the server they fail every request."
    ),
    fix=text("Take them out of the generation config."),
    source="vLLM 0.17.0 and later: not yet supported with speculative decoding; vllm#42744, #42802",
    versions=text("vLLM 0.17.0 and later; ignored from 0.11.1 to 0.16.0"),
)
def sampling_defaults(view: LaunchView) -> Iterator[Hit]:
    """Fires on such a default for all requests."""
    given = view.launch.value(SAMPLING)
    if given is None or view.speculation is None or not view.launch.is_vllm:
        return
    value = read_json(given).value
    used = [
        key
        for key in ("min_p", "logit_bias")
        if isinstance(value, dict) and value.get(key) not in (None, 0, {})
    ]
    if used:
        yield Hit(
            message=text(
                "{keys} are defaults for every request, and refused while drafting.",
                keys=listed(used),
            ),
            severity=Severity.WARNING if view.vllm_before(0, 17, 0) else None,
            evidence=json.dumps(used),
            start=view.place(SAMPLING),
        )


@RuleCard(
    code="REPLAY_BUFFER_SHORT",
    category="token-budget",
    severity=Severity.ERROR,
    summary=text(
        "The replay buffer of a recurrent state must hold the drafted tokens and the target's own."
    ),
    fix=text("Make it k+1 or more."),
    source="vLLM 0.32.0 sources",
)
def replay_buffer(view: LaunchView) -> Iterator[Hit]:
    """Fires on a buffer shorter than k+1."""
    length, count = view.launch.number(REPLAY), view.count
    if length is not None and count is not None and 0 <= length < count + 1:
        yield Hit(
            message=text(
                "{flag} is {length}; drafting {count} tokens needs {needed}.",
                flag=REPLAY,
                length=length,
                count=count,
                needed=count + 1,
            ),
            evidence=str(length),
            start=view.place(REPLAY),
        )


@RuleCard(
    code="EXPERT_TRANSPORT_GARBLES",
    category="zero-acceptance",
    severity=Severity.WARNING,
    summary=text(
        "MTP over DeepEP's low-latency transport gave wrong text in builds of 2026: accuracy fell to a few per cent."
    ),
    fix=text(
        "Use another all2all backend, or a newer release, and check the accuracy."
    ),
    source="vllm#46834, #47087",
    versions=text("before vLLM 0.27.0"),
    platforms=("cuda",),
)
def expert_transport(view: LaunchView) -> Iterator[Hit]:
    """Fires on MTP with that transport."""
    chosen = view.launch.value("--all2all-backend") or view.launch.variable(
        "VLLM_ALL2ALL_BACKEND"
    )
    if chosen != "deepep_low_latency" or view.method != Method.MTP.value:
        return
    if view.vllm_since(0, 27, 0) or view.ascend:
        return
    yield Hit(
        message=text("MTP drafts over {backend} here.", backend=chosen),
        evidence=chosen,
        start=view.spec_place,
    )


@RuleCard(
    code="ROCM_ATTENTION_GARBLES",
    category="zero-acceptance",
    severity=Severity.WARNING,
    summary=text(
        "The AITER attention of ROCm took one token a step for granted: with drafting its text was wrong."
    ),
    fix=text("Use TRITON_ATTN, or vLLM 0.16.0 and later."),
    source="vllm#31625, #32877",
    versions=text("before vLLM 0.16.0"),
    platforms=("rocm",),
)
def rocm_attention(view: LaunchView) -> Iterator[Hit]:
    """Fires on that backend while drafting, in an early version."""
    chosen = view.launch.value("--attention-backend") or view.launch.variable(
        "VLLM_ATTENTION_BACKEND"
    )
    if view.speculation is None or not view.vllm_before(0, 16, 0):
        return
    if chosen == "ROCM_AITER_FA":
        yield Hit(
            message=text("{backend} drafts wrongly in this version.", backend=chosen),
            evidence=chosen,
            start=view.spec_place,
        )


@RuleCard(
    code="DSPARK_EXPERTS_IN_GROUPS",
    category="data-parallel",
    severity=Severity.WARNING,
    summary=text(
        "DSpark with data and expert parallelism failed in the profiling run of vLLM 0.28 and 0.29."
    ),
    fix=text("Use vLLM 0.30.0 and later, or one data parallel rank."),
    source="vllm#56281",
    versions=text("vLLM 0.28 and 0.29"),
    platforms=("cuda", "rocm"),
)
def dspark_groups(view: LaunchView) -> Iterator[Hit]:
    """Fires on the three together in those releases."""
    ranks = view.launch.number("--data-parallel-size") or 1
    if view.method != Method.DSPARK.value or ranks < 2 or view.ascend:
        return
    if not view.launch.has("--enable-expert-parallel"):
        return
    if view.vllm_since(0, 28, 0) and view.vllm_before(0, 30, 0):
        yield Hit(
            message=text(
                "DSpark over {ranks} data parallel ranks with expert parallelism fails to start in this release.",
                ranks=ranks,
            ),
            evidence=str(ranks),
            start=view.place("--data-parallel-size"),
        )


@RuleCard(
    code="ATTENTION_TAKES_THREE",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text("The HPC attention backend takes three drafted tokens at most."),
    fix=text("Draft 3 tokens or fewer, or choose another attention backend."),
    source="vLLM 0.32.0 sources",
    platforms=("cuda",),
)
def hpc_attention(view: LaunchView) -> Iterator[Hit]:
    """Fires on four tokens and more with that backend."""
    chosen = (view.launch.value("--attention-backend") or "").upper()
    if chosen in ("HPC", "HPC_ATTN") and (view.count or 0) > 3:
        yield Hit(
            message=text(
                "{backend} takes three drafted tokens, not {count}.",
                backend=chosen,
                count=view.count or 0,
            ),
            evidence=str(view.count),
            start=view.spec_place,
        )


@RuleCard(
    code="HEAD_POSITIONS_SHORT",
    category="draft-loading",
    severity=Severity.INFO,
    summary=text(
        "Many EAGLE-3 heads state 2,048 positions; before vLLM 0.27 a longer prompt runs past them and fails on the device."
    ),
    fix=text(
        "Use vLLM 0.27.1 and later, or raise max_position_embeddings in the head's config.json."
    ),
    source="vllm#48894, #21986, #23072",
    versions=text("before vLLM 0.27.1"),
    platforms=("cuda", "rocm"),
)
def head_positions(view: LaunchView) -> Iterator[Hit]:
    """Fires on the heads of yuhuili, which state 2,048, with a longer context."""
    drafter = view.speculation.drafter_resolved if view.speculation else None
    length = view.launch.number("--max-model-len")
    if view.method not in EAGLE_FAMILY or view.ascend or not drafter:
        return
    if not drafter.lower().startswith("yuhuili/eagle3") or not view.vllm_before(
        0, 27, 1
    ):
        return
    if length is None or length > 2048:
        yield Hit(
            message=text(
                "{drafter} states 2,048 positions, and prompts may be longer.",
                drafter=drafter,
            ),
            evidence=drafter,
            start=view.spec_place,
        )


COMBINATION_RULES: tuple[LaunchRule, ...] = (
    request_metrics,
    sampling_defaults,
    replay_buffer,
    expert_transport,
    rocm_attention,
    dspark_groups,
    hpc_attention,
    head_positions,
)
