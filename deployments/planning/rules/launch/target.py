"""The target: whether it holds what the method drafts with, and hands it over."""

import re
from collections.abc import Iterator

from deployments.planning.engines.eagle3 import eagle3_since
from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text
from deployments.planning.versions import Version

RUN = "vLLM 0.32.0, run with tiny models"
_MTP_LEFT_OUT = re.compile(r"[-_](?:no|without)[-_]?mtp", re.IGNORECASE)


@RuleCard(
    code="EAGLE3_TARGET_UNSUPPORTED",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text(
        "The target's class does not hand its hidden states to an EAGLE-3 head in this version."
    ),
    fix=text("Use a later version, or MTP where the model has it."),
    source="vLLM sources, EAGLE-3 target list 0.8.5 to 0.21.0 and interface 0.22.1 to 0.33.0",
    versions=text("by family; GLM-4.5 to 4.7 in none"),
)
def eagle3_target(view: LaunchView) -> Iterator[Hit]:
    """Fires on targets outside the list of the judged version."""
    if view.method != Method.EAGLE3.value or not view.model:
        return
    if families.is_glm4_moe(view.model):
        yield Hit(
            message=text(
                "{model} has no EAGLE-3 interface in any version; it drafts with MTP.",
                model=view.model,
            ),
            evidence=view.model,
            start=view.spec_place,
        )
        return
    since = eagle3_since(view.model)
    if since is None or view.ascend or view.engine.old or not view.vllm_before(*since):
        return
    yield Hit(
        message=text(
            "EAGLE-3 takes {model} since vLLM {since}.",
            model=view.model,
            since=str(Version(since)),
        ),
        evidence=view.model,
        start=view.spec_place,
    )


@RuleCard(
    code="MTP_NOT_IN_MODEL",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("The model family has no MTP layers."),
    fix=text("Use EAGLE-3 with a head for this model, or n-gram."),
    source=f"{RUN}: Unsupported speculative method: 'mtp'; vLLM sources to 0.33.0, MTP routes",
)
def no_mtp(view: LaunchView) -> Iterator[Hit]:
    """Fires on MTP with Llama, Qwen3 and other families without it."""
    if view.method != Method.MTP.value or not view.launch.is_vllm or not view.model:
        return
    if view.speculation is not None and view.speculation.drafter is not None:
        return
    target = view.target
    if families.is_deepseek_v41(view.model):
        yield Hit(
            message=text(
                "{model} has no MTP route; it drafts with DSpark.", model=view.model
            ),
            fix=text("Write dspark."),
            evidence=view.model,
            start=view.spec_place,
        )
    elif families.has_no_mtp(view.model) or (
        target is not None and target.has_mtp is False
    ):
        yield Hit(
            message=text("{model} has no MTP layers.", model=view.model),
            evidence=view.model,
            start=view.spec_place,
        )


@RuleCard(
    code="MTP_ASSISTANT_MISSING",
    category="missing-drafter",
    severity=Severity.ERROR,
    summary=text(
        "Gemma 4 drafts with an assistant checkpoint of its own, named in model."
    ),
    fix=text("Name the assistant, such as google/gemma-4-31B-it-assistant."),
    source="vLLM 0.21.0 and later, sources; vllm-project/recipes, 2026-08-21",
    versions=text("vLLM 0.21.0 and later"),
)
def assistant(view: LaunchView) -> Iterator[Hit]:
    """Fires on MTP for Gemma 4 without the assistant."""
    speculation = view.speculation
    if view.method != Method.MTP.value or not families.is_gemma4(view.model):
        return
    if speculation is not None and speculation.drafter is None:
        yield Hit(
            message=text(
                "{model} holds no MTP layers; its drafter is a separate assistant checkpoint.",
                model=view.model,
            ),
            evidence=view.model,
            start=view.spec_place,
        )


@RuleCard(
    code="MTP_LEFT_OUT",
    category="missing-weights",
    severity=Severity.ERROR,
    summary=text(
        "The checkpoint does not hold the MTP layers that the method drafts with."
    ),
    fix=text("Use a checkpoint that holds them, or draft otherwise."),
    source="the catalog; vllm-ascend#6754, #9655, #5794",
)
def left_out(view: LaunchView) -> Iterator[Hit]:
    """Fires on a checkpoint that is known, or says itself, not to hold MTP."""
    if view.method != Method.MTP.value or not view.model:
        return
    name = families.last_part(view.model)
    checkpoint = next(
        (
            one
            for one in (view.target.checkpoints if view.target else ())
            if name in (families.last_part(one.repository), one.directory)
        ),
        None,
    )
    if (
        checkpoint is not None and checkpoint.holds_mtp is False
    ) or _MTP_LEFT_OUT.search(name):
        yield Hit(
            message=text("{model} does not hold MTP layers.", model=view.model),
            evidence=view.model,
            start=view.spec_place,
        )


@RuleCard(
    code="MTP_QUANTISATION_RISK",
    category="zero-acceptance",
    severity=Severity.WARNING,
    summary=text(
        "In 4-bit checkpoints the MTP layers are often kept unquantised or left out; loaded with the target's quantisation they accept nothing."
    ),
    fix=text(
        "Name the unquantised model in the config's model, use a checkpoint with MTP in its own precision, or watch the acceptance rate."
    ),
    source="vllm#37667, #36331, #43455",
    platforms=("cuda", "rocm"),
)
def quantised(view: LaunchView) -> Iterator[Hit]:
    """Fires on MTP with MXFP4, AWQ, GPTQ and INT4 checkpoints."""
    speculation = view.speculation
    if view.method != Method.MTP.value or view.ascend or speculation is None:
        return
    if speculation.drafter is not None or "mtp" in view.model.lower():
        return
    if families.has_four_bits(view.model) and view.launch.is_vllm:
        yield Hit(
            message=text(
                "The MTP layers of {model} may not be quantised like the rest; then no draft is accepted.",
                model=view.model,
            ),
            evidence=view.model,
            start=view.spec_place,
        )


TARGET_RULES: tuple[LaunchRule, ...] = (
    eagle3_target,
    no_mtp,
    assistant,
    left_out,
    quantised,
)
