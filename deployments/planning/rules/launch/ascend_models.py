"""Models on Ascend: hybrids, Gemma 4, GLM, and features that lower their acceptance."""

from collections.abc import Iterator

from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.pairs import HYBRID_WORDS
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    drop_flag,
    set_flag,
)
from deployments.planning.rules.launch.view import FULL_MODES, LaunchView
from deployments.planning.text import text
from deployments.planning.versions import Version

FORCED_SINCE = Version((0, 23, 0), (0, 1))
ASCEND = ("ascend",)


@RuleCard(
    code="HYBRID_MTP_DECAY",
    category="zero-acceptance",
    severity=Severity.WARNING,
    summary=text(
        "MTP on hybrid models (Qwen3-Next, Qwen3.5 and later) was reported to decay to no acceptance: with prefix caching, and with long inputs before 0.23.0rc1."
    ),
    fix=text(
        "Add --no-enable-prefix-caching, use 0.23.0 or later, and watch the acceptance rate."
    ),
    source="vllm-ascend#10118, #10495, #9956, #7944",
    platforms=ASCEND,
)
def hybrid(view: LaunchView) -> Iterator[Hit]:
    """Fires on hybrid MTP with prefix caching asked for, or in an early version."""
    if not view.ascend or view.method != Method.MTP.value:
        return
    if view.config.get("method") not in HYBRID_WORDS and not families.is_hybrid(
        view.names
    ):
        return
    cached = view.launch.has("--enable-prefix-caching")
    if cached or view.affected(
        (0, 20, 0), FORCED_SINCE, r"acceptance is 0|acceptance falls to 0"
    ):
        yield Hit(
            message=text(
                "MTP on a hybrid model was reported to stop being accepted after a while{with_cache}.",
                with_cache=text(" with prefix caching") if cached else "",
            ),
            evidence="--enable-prefix-caching"
            if cached
            else str(view.engine.version or ""),
            start=view.spec_place,
            edits=(
                drop_flag("--enable-prefix-caching"),
                set_flag("--no-enable-prefix-caching", value=True),
            )
            if cached
            else (),
        )


@RuleCard(
    code="GEMMA4_EAGLE3_PATCH",
    category="draft-loading",
    severity=Severity.WARNING,
    summary=text(
        "EAGLE-3 for Gemma 4 on Ascend needs a build with pull request 12948 and works with piecewise graphs only."
    ),
    fix=text("Use a build that has it, with cudagraph_mode PIECEWISE."),
    source="vllm-ascend#12947, PR #12948",
    platforms=ASCEND,
)
def gemma4(view: LaunchView) -> Iterator[Hit]:
    """Fires on EAGLE-3 with Gemma 4 on Ascend."""
    if (
        view.ascend
        and view.method == Method.EAGLE3.value
        and families.is_gemma4(view.model)
    ):
        yield Hit(
            message=text(
                "EAGLE-3 for {model} needs a patched build.", model=view.model
            ),
            evidence=view.model,
            start=view.spec_place,
        )


@RuleCard(
    code="SUFFIX_GLM_GRAPH",
    category="ascend-graph",
    severity=Severity.WARNING,
    summary=text(
        "Suffix decoding on GLM-5 with full decode graphs was reported to fail in the rejection sampler."
    ),
    fix=text("Use MTP, or piecewise graphs."),
    source="vllm-ascend#9278",
    platforms=ASCEND,
)
def suffix_glm(view: LaunchView) -> Iterator[Hit]:
    """Fires on suffix with GLM and full graphs."""
    if (
        view.ascend
        and view.method == Method.SUFFIX.value
        and families.is_glm(view.names)
    ) and view.graph_mode in FULL_MODES:
        yield Hit(
            message=text(
                "Suffix decoding on GLM with {mode} was reported to fail.",
                mode=view.graph_mode or "",
            ),
            evidence=view.graph_mode or "",
            start=view.spec_place,
        )


@RuleCard(
    code="FLASHCOMM_WITH_MTP",
    category="low-acceptance",
    severity=Severity.WARNING,
    summary=text(
        "FlashComm1 lowers acceptance of MTP on GLM-5 and Qwen3.5 before vllm-ascend 0.23.0."
    ),
    fix=text("Turn FlashComm1 off."),
    source="vllm-ascend#9803, #8989",
    versions=text("vllm-ascend before 0.23.0"),
    platforms=ASCEND,
)
def flashcomm(view: LaunchView) -> Iterator[Hit]:
    """Fires on both together with the models concerned."""
    on = (
        view.additional.get("enable_flashcomm1") is True
        or view.launch.variable("VLLM_ASCEND_ENABLE_FLASHCOMM1") == "1"
    )
    concerned = families.is_glm(view.names) or families.is_hybrid(view.names)
    if not view.ascend or not on or not concerned or view.method != Method.MTP.value:
        return
    if view.affected((0, 13, 0), (0, 23, 0)):
        yield Hit(
            message=text("FlashComm1 lowers the acceptance of MTP in this version."),
            evidence="FlashComm1",
            start=view.spec_place,
        )


@RuleCard(
    code="SPARSE_PARALLEL_WITH_MTP",
    category="low-acceptance",
    severity=Severity.WARNING,
    summary=text(
        "With DSA context parallelism, MTP with more than one token accepts little before vllm-ascend 0.23.0."
    ),
    fix=text("Draft 1 token, or use 0.23.0 or later."),
    source="vllm-ascend release notes v0.23.0, PR #10878",
    versions=text("vllm-ascend before 0.23.0"),
    platforms=ASCEND,
)
def sparse_parallel(view: LaunchView) -> Iterator[Hit]:
    """Fires on enable_dsa_cp with more than one token in an early version."""
    several = view.method == Method.MTP.value and (view.count or 0) > 1
    if (
        not view.ascend
        or not several
        or view.additional.get("enable_dsa_cp") is not True
    ):
        return
    if view.affected(None, (0, 23, 0)):
        yield Hit(
            message=text(
                "enable_dsa_cp with {count} drafted tokens accepts little in this version.",
                count=view.count or 0,
            ),
            evidence="enable_dsa_cp",
            start=view.spec_place,
        )


@RuleCard(
    code="EIGHT_BIT_CACHE_WITH_EAGLE3",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text(
        "Checkpoints of MiniMax-M2 with 8-bit KV cache do not draft with EAGLE-3."
    ),
    fix=text("Use a checkpoint without C8."),
    source="vllm-ascend documentation v0.23.0, MiniMax-M2 tutorial",
    platforms=ASCEND,
)
def eight_bit_cache(view: LaunchView) -> Iterator[Hit]:
    """Fires on MiniMax-M2 C8 with EAGLE-3."""
    name = families.last_part(view.model).lower()
    if (
        view.ascend
        and view.method == Method.EAGLE3.value
        and "minimax-m2" in name
        and "c8" in name
    ):
        yield Hit(
            message=text(
                "{model} has an 8-bit KV cache, which does not go with EAGLE-3.",
                model=view.model,
            ),
            evidence=view.model,
            start=view.spec_place,
        )


ASCEND_MODEL_RULES: tuple[LaunchRule, ...] = (
    hybrid,
    gemma4,
    suffix_glm,
    flashcomm,
    sparse_parallel,
    eight_bit_cache,
)
