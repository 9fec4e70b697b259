"""Ascend: drafters and graphs, chips with limits of their own, hybrid models, features that clash."""

from collections.abc import Iterator

from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.graph import captures, given_sizes
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    set_flag,
    set_key,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text
from deployments.planning.versions import Version

FORCED_SINCE = Version((0, 23, 0), (0, 1))
ASCEND = ("ascend",)
_NIC = ("HCCL_IF_IP", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "HCCL_SOCKET_IFNAME")


def _drafter_in_graph(view: LaunchView) -> bool:
    method = view.method_enum
    if method is None or FACTS[method].need not in (Need.MTP_WEIGHTS, Need.DRAFTER):
        return False
    return view.config.get("enforce_eager") is not True and not view.eager


@RuleCard(
    code="DRAFTER_MUST_RUN_EAGER",
    category="ascend-graph",
    severity=Severity.ERROR,
    summary=text(
        "Before vllm-ascend 0.23.0rc1 drafters of GLM and DeepSeek-V4 cannot be captured in graphs; later versions handle it, and other models never needed it."
    ),
    fix=text(
        'Add "enforce_eager": true to the speculative config; the target keeps its graph.'
    ),
    source="vllm-ascend#10196, #10700, #10005; vllm-ascend v0.23.0 sources, draft proposer",
    versions=text("vllm-ascend before 0.23.0rc1"),
    platforms=ASCEND,
)
def draft_eager(view: LaunchView) -> Iterator[Hit]:
    """Fires on GLM and DeepSeek-V4 without it; worth knowing elsewhere."""
    if not view.ascend or not _drafter_in_graph(view):
        return
    needs = families.is_glm(view.names) or families.is_deepseek_v4(view.names)
    if not needs and view.method != Method.MTP.value:
        return
    version = view.engine.version
    if needs and version is None:
        severity = Severity.WARNING
    elif needs and version is not None and version < FORCED_SINCE:
        severity = Severity.ERROR
    else:
        severity = Severity.INFO
    yield Hit(
        message=text(
            "The drafter of {model} would be captured in a graph, which versions before 0.23.0rc1 cannot do.",
            model=view.model,
        )
        if needs
        else text(
            "The drafter of {model} is captured in a graph; enforce_eager is needed for GLM and DeepSeek-V4 only.",
            model=view.model,
        ),
        severity=severity,
        evidence="enforce_eager",
        start=view.spec_place,
        edits=(set_key("enforce_eager", value=True),) if needs else (),
    )


@RuleCard(
    code="EAGLE3_GRAPH_EARLY",
    category="ascend-graph",
    severity=Severity.WARNING,
    summary=text(
        "Before vllm-ascend 0.13.0rc2 EAGLE-3 fails or gives garbled text in graph mode."
    ),
    fix=text("Add --enforce-eager, or use a later version."),
    source="vllm-ascend#2481, #8721, #5361; release notes v0.13.0rc2",
    versions=text("vllm-ascend before 0.13.0rc2"),
    platforms=ASCEND,
)
def eagle3_graph(view: LaunchView) -> Iterator[Hit]:
    """Fires on EAGLE-3 with graphs in an early version."""
    if not view.ascend or view.method not in ("eagle", "eagle3") or not captures(view):
        return
    if view.affected(None, Version((0, 13, 0), (0, 2))):
        yield Hit(
            message=text(
                "EAGLE-3 in graph mode is not reliable in {version}.",
                version=str(view.engine.version),
            ),
            evidence=view.graph_mode or "",
            start=view.spec_place,
            edits=(set_flag("--enforce-eager", value=True),),
        )


@RuleCard(
    code="CHIP_310P_MTP_GRAPH",
    category="ascend-graph",
    severity=Severity.ERROR,
    summary=text(
        "On 310P MTP and graph mode cannot be combined: the chip lacks an operator for masks that change shape."
    ),
    fix=text(
        "Add --enforce-eager, or leave speculation out; W8A8 weights also bring speed."
    ),
    source="vllm-ascend#12983",
    versions=text("vllm-ascend 0.21.0rc1 to 0.23.0"),
    platforms=("ascend-310p",),
)
def small_chip_graph(view: LaunchView) -> Iterator[Hit]:
    """Fires on MTP with graphs on 310P; a warning in eager mode, where text was reported wrong."""
    if not view.ascend or view.chip != "310p" or view.method != Method.MTP.value:
        return
    if captures(view):
        yield Hit(
            message=text("MTP with graph mode fails on 310P."),
            evidence="310p",
            start=view.spec_place,
            edits=(set_flag("--enforce-eager", value=True),),
        )
    else:
        yield Hit(
            message=text(
                "MTP on 310P was reported to damage text of some models; compare the answers."
            ),
            severity=Severity.WARNING,
            evidence="310p",
            start=view.spec_place,
        )


@RuleCard(
    code="CHIP_310P_DTYPE",
    category="device",
    severity=Severity.ERROR,
    summary=text("310P computes in float16 only."),
    fix=text("Use --dtype float16."),
    source="vllm-ascend documentation v0.23.0, quick start",
    platforms=("ascend-310p",),
)
def small_chip_dtype(view: LaunchView) -> Iterator[Hit]:
    """Fires on another dtype than float16 on 310P."""
    given = view.launch.value("--dtype")
    if (
        view.ascend
        and view.chip == "310p"
        and given in ("bfloat16", "float32", "bf16", "float")
    ):
        yield Hit(
            message=text("310P does not compute in {dtype}.", dtype=given or ""),
            evidence=given or "",
            start=view.place("--dtype"),
            edits=(set_flag("--dtype", "float16"),),
        )


@RuleCard(
    code="CHIP_950_FEW_GRAPHS",
    category="ascend-graph",
    severity=Severity.INFO,
    summary=text("On Ascend 950 piecewise graphs are thinned to four capture sizes."),
    fix=text("Name the four sizes that matter, or use FULL_DECODE_ONLY."),
    source="vllm-ascend sources: Adjusted ACL graph batch sizes",
    platforms=("ascend-950",),
)
def few_graphs(view: LaunchView) -> Iterator[Hit]:
    """Fires on more than four sizes with piecewise graphs on 950."""
    sizes = given_sizes(view)
    if (
        view.ascend
        and view.chip == "950"
        and view.graph_mode == "PIECEWISE"
        and len(sizes) > 4
    ):
        yield Hit(
            message=text(
                "{count} capture sizes are thinned to four.", count=len(sizes)
            ),
            evidence=", ".join(map(str, sizes[:16])),
            start=view.place("--compilation-config"),
        )


@RuleCard(
    code="XLITE_ONE_TOKEN",
    category="ascend-graph",
    severity=Severity.ERROR,
    summary=text("The Xlite graph mode drafts exactly one token."),
    fix=text("Draft 1 token, or leave Xlite out."),
    source="vllm-ascend sources: Xlite graph mode only support speculative decoding with num_speculative_tokens=1",
    platforms=ASCEND,
)
def xlite(view: LaunchView) -> Iterator[Hit]:
    """Fires on Xlite with more than one token."""
    config = view.additional.get("xlite_graph_config")
    on = isinstance(config, dict) and config.get("enabled") is True
    if view.ascend and on and (view.count or 0) > 1:
        yield Hit(
            message=text(
                "Xlite drafts exactly one token, not {count}.", count=view.count or 0
            ),
            evidence="xlite_graph_config",
            start=view.spec_place,
            edits=(set_key("num_speculative_tokens", 1),),
        )


@RuleCard(
    code="DSPARK_PROBABILISTIC",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("On Ascend DSpark samples its drafts greedily."),
    fix=text("Leave draft_sample_method out."),
    source="vllm-ascend sources: DSpark probabilistic draft sampling is not supported",
    platforms=ASCEND,
)
def dspark_sampling(view: LaunchView) -> Iterator[Hit]:
    """Fires on probabilistic draft sampling with DSpark on Ascend."""
    if (
        view.ascend
        and view.method == Method.DSPARK.value
        and (
            view.config.get("draft_sample_method") == "probabilistic"
            and view.launch.variable("VLLM_USE_V2_MODEL_RUNNER") != "1"
        )
    ):
        yield Hit(
            message=text("DSpark on Ascend does not sample drafts probabilistically."),
            evidence="draft_sample_method",
            start=view.spec_place,
            edits=(set_key("draft_sample_method", "greedy"),),
        )


@RuleCard(
    code="PREFILL_CONTEXT_PARALLEL_REFUSED",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "After vllm-ascend 0.23.0 prefill context parallelism is refused on the first model runner."
    ),
    fix=text("Leave --prefill-context-parallel-size out, or stay on 0.23.0."),
    source="vllm-ascend sources after v0.23.0, platform.py",
    versions=text("vllm-ascend after 0.23.0"),
    platforms=ASCEND,
)
def prefill_context(view: LaunchView) -> Iterator[Hit]:
    """Fires on a size above 1 in a later version."""
    size = view.launch.number("--prefill-context-parallel-size") or 1
    version = view.engine.version
    if (
        not view.ascend
        or size < 2
        or version is None
        or version < Version((0, 24, 0), (0, 0))
    ):
        return
    if view.launch.variable("VLLM_USE_V2_MODEL_RUNNER") != "1":
        yield Hit(
            message=text(
                "This version refuses --prefill-context-parallel-size {size}.",
                size=size,
            ),
            evidence=str(size),
            start=view.place("--prefill-context-parallel-size"),
        )


@RuleCard(
    code="NETWORK_NOT_NAMED",
    category="environment",
    severity=Severity.WARNING,
    summary=text(
        "Several Ascend hosts need HCCL_IF_IP and the three interface variables."
    ),
    fix=text(
        "Set HCCL_IF_IP, GLOO_SOCKET_IFNAME, TP_SOCKET_IFNAME and HCCL_SOCKET_IFNAME."
    ),
    source="vllm-ascend documentation v0.23.0, multi-node guides; vllm-ascend#5461",
    platforms=ASCEND,
)
def network(view: LaunchView) -> Iterator[Hit]:
    """Fires on a data parallel address of another host with none of the four set."""
    address = view.launch.value("--data-parallel-address")
    own = (
        address is None or address in ("localhost", "::1") or address.startswith("127.")
    )
    if not view.ascend or own:
        return
    if not any(name in view.launch.environment for name in _NIC):
        yield Hit(
            message=text("No network interface is named for traffic between hosts."),
            evidence=", ".join(_NIC),
            start=view.place("--data-parallel-address"),
        )


ASCEND_RULES: tuple[LaunchRule, ...] = (
    draft_eager,
    eagle3_graph,
    small_chip_graph,
    small_chip_dtype,
    few_graphs,
    xlite,
    dspark_sampling,
    prefill_context,
    network,
)
