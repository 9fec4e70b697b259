"""Ascend: methods without a proposer, context parallelism, heads, and containers without NPUs."""

from collections.abc import Iterator

from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    drop_key,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text
from deployments.planning.versions import Version

ASCEND = ("ascend",)
CONTEXT = "--decode-context-parallel-size"
BY_BATCH = "num_speculative_tokens_per_batch_size"
_SPARSE = ("sfa_mla", "dsa_mla")
_LATENT_HEADS = (32, 64, 128)


def _context(view: LaunchView) -> int:
    return view.launch.number(CONTEXT) or 1


@RuleCard(
    code="METHOD_WITHOUT_PROPOSER",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("vllm-ascend has no proposer for the method."),
    fix=text("Use one of: mtp, eagle3, dflash, dspark, suffix, ngram, draft_model."),
    source="vllm-ascend sources: Unknown speculative decoding method",
    platforms=ASCEND,
)
def no_proposer(view: LaunchView) -> Iterator[Hit]:
    """Fires on custom_class and mlp_speculator on Ascend."""
    if view.ascend and view.method in ("custom_class", "mlp_speculator"):
        yield Hit(
            message=text(
                "vllm-ascend has no proposer for {method}.", method=view.method
            ),
            evidence=view.method,
            start=view.spec_place,
        )


@RuleCard(
    code="COUNT_TABLE_REFUSED",
    category="ascend-graph",
    severity=Severity.ERROR,
    summary=text(
        "On Ascend a table of counts by batch size goes neither with DSpark and suffix decoding nor with decode context parallelism."
    ),
    fix=text("Leave the table out."),
    source="vllm-ascend sources: Dynamic speculative decoding and decode context parallelism is not supported",
    platforms=ASCEND,
)
def table_refused(view: LaunchView) -> Iterator[Hit]:
    """Fires on the table with one of the three."""
    if not view.ascend or BY_BATCH not in view.config:
        return
    other = (
        view.method
        if view.method in (Method.DSPARK.value, Method.SUFFIX.value)
        else CONTEXT
        if _context(view) > 1
        else None
    )
    if other is not None:
        yield Hit(
            message=text("{key} does not go with {other}.", key=BY_BATCH, other=other),
            evidence=other,
            start=view.spec_place,
            edits=(drop_key(BY_BATCH),),
        )


@RuleCard(
    code="CONTEXT_RANKS_UNEQUAL",
    category="tensor-parallel",
    severity=Severity.ERROR,
    summary=text(
        "With sparse attention the decode context parallel size must be the tensor parallel size, and Ascend 950 has none."
    ),
    fix=text("Make both equal, or leave decode context parallelism out."),
    source="vllm-ascend documentation v0.23.0, context parallelism",
    platforms=ASCEND,
)
def context_ranks(view: LaunchView) -> Iterator[Hit]:
    """Fires on DeepSeek-V3.2 and GLM-5 with unequal sizes, where the catalog knows the attention."""
    attention = view.target.attention if view.target else None
    size, ranks = _context(view), view.launch.tensor_parallel_size
    if not view.ascend or size < 2 or attention is None:
        return
    if attention.kind in _SPARSE and (size != ranks or view.chip == "950"):
        yield Hit(
            message=text(
                "{model} wants as many decode context ranks as tensor parallel ranks: {size} is not {ranks}.",
                model=view.model,
                size=size,
                ranks=ranks,
            )
            if size != ranks
            else text(
                "Ascend 950 has no decode context parallelism for {model}.",
                model=view.model,
            ),
            evidence=str(size),
            start=view.place(CONTEXT),
        )


@RuleCard(
    code="CONTEXT_PARALLEL_WITH_DRAFTS",
    category="crash",
    severity=Severity.WARNING,
    summary=text(
        "The candidates of vllm-ascend 0.26.0 fail when decode context parallelism meets drafting: shapes differ, indexes run out."
    ),
    fix=text("Stay on 0.23.0, draft 1 token, or leave decode context parallelism out."),
    source="vllm-ascend#13710, #13934, #14320",
    versions=text("vllm-ascend 0.26.0rc"),
    platforms=ASCEND,
)
def context_drafts(view: LaunchView) -> Iterator[Hit]:
    """Fires on both together in a candidate of 0.26.0."""
    version = view.engine.version
    if not view.ascend or version is None or view.speculation is None:
        return
    if (
        version.release == (0, 26, 0)
        and version < Version((0, 26, 0))
        and _context(view) > 1
    ):
        yield Hit(
            message=text(
                "{count} drafted tokens meet decode context parallelism {size} in a candidate that fails there.",
                count=view.count or 1,
                size=_context(view),
            ),
            evidence=str(_context(view)),
            start=view.place(CONTEXT),
        )


@RuleCard(
    code="LATENT_HEADS_IN_GRAPH",
    category="ascend-graph",
    severity=Severity.WARNING,
    summary=text(
        "On early stacks graph mode takes latent attention with 32, 64 or 128 heads a device only."
    ),
    fix=text("Lower the tensor parallel size, or run eager."),
    source="vllm-ascend FAQ 13: MLA only support {32, 64, 128}",
    versions=text("before vllm-ascend 0.11.0"),
    platforms=ASCEND,
)
def latent_heads(view: LaunchView) -> Iterator[Hit]:
    """Fires on such a model whose heads are spread too thin, in an early version."""
    attention = view.target.attention if view.target else None
    version = view.engine.version
    if not view.ascend or version is None or attention is None or view.eager:
        return
    if version >= Version((0, 11, 0), (0, 0)) or attention.heads is None:
        return
    share = attention.heads // view.launch.tensor_parallel_size
    if "mla" in attention.kind and share not in _LATENT_HEADS:
        yield Hit(
            message=text(
                "{share} heads a device are too few for graph mode.", share=share
            ),
            evidence=str(share),
            start=view.place("--tensor-parallel-size"),
        )


@RuleCard(
    code="XLITE_WITH_STAGES",
    category="pipeline-parallel",
    severity=Severity.ERROR,
    summary=text("The Xlite graph mode runs without pipeline stages only."),
    fix=text("Leave pipeline parallelism or Xlite out."),
    source="vllm-ascend sources, ascend_config.py",
    platforms=ASCEND,
)
def xlite_stages(view: LaunchView) -> Iterator[Hit]:
    """Fires on Xlite with several stages."""
    config = view.additional.get("xlite_graph_config")
    on = isinstance(config, dict) and config.get("enabled") is True
    stages = view.launch.pipeline_parallel_size
    if view.ascend and on and stages > 1:
        yield Hit(
            message=text("Xlite does not run in {stages} stages.", stages=stages),
            evidence=str(stages),
            start=view.place("--pipeline-parallel-size"),
        )


@RuleCard(
    code="BUDGET_OF_OTHER_METHOD",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text(
        "dynamic_spec_config is for DSpark and DFlash, and names the method of the speculative config."
    ),
    fix=text("Give both the same method, or leave dynamic_spec_config out."),
    source="vllm-ascend documentation, dynamic speculative decoding",
    platforms=ASCEND,
)
def other_budget(view: LaunchView) -> Iterator[Hit]:
    """Fires where both name different methods."""
    config = view.additional.get("dynamic_spec_config")
    named = config.get("method") if isinstance(config, dict) else None
    if not view.ascend or not isinstance(named, str) or named == view.method:
        return
    yield Hit(
        message=text(
            "dynamic_spec_config names {named}, and the launch drafts with {method}.",
            named=named[:40],
            method=view.method or text("nothing"),
        ),
        evidence=named[:40],
        start=view.place("--additional-config"),
    )


@RuleCard(
    code="CHIP_310P_MTP_TEXT",
    category="zero-acceptance",
    severity=Severity.WARNING,
    summary=text("On 310P MTP of Qwen3.8 garbled its text in vllm-ascend 0.23.0."),
    fix=text("Turn MTP off on 310P."),
    source="vllm-ascend#16979",
    versions=text("vllm-ascend 0.23.0"),
    platforms=("ascend-310p",),
)
def small_chip_text(view: LaunchView) -> Iterator[Hit]:
    """Fires on Qwen3.8 with MTP on that chip."""
    qwen = "qwen3.8" in view.model.lower() or "qwen3_8" in view.model.lower()
    if view.chip == "310p" and view.method == Method.MTP.value and qwen:
        yield Hit(
            message=text(
                "{model} gives garbled text with MTP on 310P.", model=view.model
            ),
            evidence=view.model,
            start=view.spec_place,
        )


@RuleCard(
    code="ROTATED_WEIGHTS_EARLY",
    category="low-acceptance",
    severity=Severity.WARNING,
    summary=text(
        "Before vllm-ascend 0.18.0 an EAGLE-3 head reads rotated hidden states of QuaRot weights as they are, and little is accepted."
    ),
    fix=text("Use vllm-ascend 0.18.0 and later, or a head trained on these weights."),
    source="vllm-ascend#5974, #7038, #6914",
    versions=text("before vllm-ascend 0.18.0"),
    platforms=ASCEND,
)
def rotated(view: LaunchView) -> Iterator[Hit]:
    """Fires on weights that say QuaRot with an EAGLE-3 head in an early version."""
    version = view.engine.version
    if not view.ascend or version is None or view.method != Method.EAGLE3.value:
        return
    if "quarot" in view.model.lower() and version < Version((0, 18, 0)):
        yield Hit(
            message=text(
                "The weights of {model} are rotated, the head's are not.",
                model=view.model,
            ),
            evidence=view.model,
            start=view.spec_place,
        )


@RuleCard(
    code="NPU_NOT_PASSED",
    category="device",
    severity=Severity.ERROR,
    summary=text("An Ascend container sees no NPU unless one is passed to it."),
    fix=text(
        "Pass /dev/davinci0 and its siblings with the three management devices, or use the Ascend runtime with ASCEND_VISIBLE_DEVICES."
    ),
    source="vllm-ascend documentation v0.23.0, installation",
    platforms=ASCEND,
)
def no_npu(view: LaunchView) -> Iterator[Hit]:
    """Fires on a container of the Ascend image without device, runtime or privilege."""
    container = view.launch.container
    if container is None or "vllm-ascend" not in (container.image or ""):
        return
    if container.devices or container.privileged or container.runtime or container.gpus:
        return
    if view.launch.variable("ASCEND_VISIBLE_DEVICES") is not None:
        return
    yield Hit(
        message=text("No NPU is passed to the container."),
        evidence=container.image or "",
        start=container.start,
    )


ASCEND_PARALLEL_RULES: tuple[LaunchRule, ...] = (
    no_proposer,
    table_refused,
    context_ranks,
    context_drafts,
    latent_heads,
    xlite_stages,
    other_budget,
    small_chip_text,
    rotated,
    no_npu,
)
