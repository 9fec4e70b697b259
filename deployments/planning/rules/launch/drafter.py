"""The drafter: missing, of another kind than the method, or one that the target cannot take."""

import re
from collections.abc import Iterator

from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.rule import Hit, LaunchRule, rule, set_key
from deployments.planning.rules.launch.view import NEEDS_MODEL, LaunchView
from deployments.planning.text import text
from deployments.planning.versions import Version

RUN = "vLLM 0.32.0, run with tiny models"
_EAGLE3 = re.compile(r"eagle-?3|speculator.*eagle3", re.IGNORECASE)
_MTP_LEFT_OUT = re.compile(r"[-_](?:no|without)[-_]?mtp", re.IGNORECASE)
_QWEN = re.compile(r"qwen(?P<line>1\.5|2\.5|2)[-_](?P<size>\d+(?:\.\d+)?)b(?!-a)", re.IGNORECASE)
_SMALL_VOCABULARY = {
    "1.5": frozenset(("0.5", "1.8", "4", "7")),
    "2": frozenset(("0.5", "1.5")),
    "2.5": frozenset(("0.5", "1.5", "3")),
}
"""Sizes with 151936 entries in their vocabulary; the others have 152064 (their config.json)."""


@rule(
    code="DRAFTER_MISSING",
    category="missing-drafter",
    severity=Severity.ERROR,
    summary=text("The method needs a drafter, and model is not given."),
    fix=text("Name the drafter's path or repository in model."),
    source=f"{RUN}: num_speculative_tokens was provided but without speculative model",
)
def missing(view: LaunchView) -> Iterator[Hit]:
    """Fires on eagle3, dflash, draft_model and others without model."""
    speculation = view.speculation
    if speculation is None or speculation.implied or not view.launch.is_vllm:
        return
    if view.method not in NEEDS_MODEL or view.config.get("model"):
        return
    title = FACTS[Method(view.method)].title
    yield Hit(
        message=text("{method} needs a drafter, and the speculative config names none.", method=title),
        evidence=view.method,
        start=view.spec_place,
    )


@rule(
    code="EAGLE_METHOD_FOR_EAGLE3",
    category="draft-loading",
    severity=Severity.ERROR,
    summary=text("The drafter is an EAGLE-3 head, and the method is eagle: the architecture's name gets a wrong prefix."),
    fix=text("Write eagle3."),
    source="AngelSlim#15; vllm#22333",
)
def eagle_for_eagle3(view: LaunchView) -> Iterator[Hit]:
    """Fires on method eagle with a head whose name says EAGLE-3."""
    speculation = view.speculation
    if speculation is None or speculation.method_as_written != Method.EAGLE.value:
        return
    path = speculation.drafter_resolved or ""
    if _EAGLE3.search(path):
        yield Hit(
            message=text("{drafter} is an EAGLE-3 head, but the method is eagle.", drafter=path),
            evidence=path,
            start=view.spec_place,
            edits=(set_key("method", Method.EAGLE3.value),),
        )


@rule(
    code="EAGLE3_METHOD_FOR_EAGLE",
    category="draft-loading",
    severity=Severity.WARNING,
    summary=text("The drafter's name says EAGLE, and the method is eagle3."),
    fix=text("Write eagle, or name an EAGLE-3 head."),
    source="vllm#18906",
)
def eagle3_for_eagle(view: LaunchView) -> Iterator[Hit]:
    """Fires on method eagle3 with the first EAGLE heads."""
    speculation = view.speculation
    if speculation is None or speculation.method_as_written != Method.EAGLE3.value:
        return
    path = (speculation.drafter_resolved or "").lower()
    if re.search(r"yuhuili/eagle-|eagle-(?:llama|qwen|mixtral)", path) and "eagle3" not in path:
        yield Hit(
            message=text("{drafter} looks like an EAGLE head of the first kind, but the method is eagle3.", drafter=path),
            evidence=path,
            start=view.spec_place,
            edits=(set_key("method", Method.EAGLE.value),),
        )


@rule(
    code="EAGLE3_EARLY",
    category="draft-loading",
    severity=Severity.WARNING,
    summary=text("Up to vLLM 0.9.0 an EAGLE-3 head with embeddings of its own does not load."),
    fix=text("Use vLLM 0.9.1 or later."),
    source="vllm#18906",
    versions="up to vLLM 0.9.0",
)
def eagle3_early(view: LaunchView) -> Iterator[Hit]:
    """Fires on EAGLE-3 in 0.8.5 and 0.9.0."""
    if view.method == Method.EAGLE3.value and view.vllm_before(0, 9, 1) and not view.ascend:
        yield Hit(
            message=text("This version shares the target's embeddings with the EAGLE-3 head, also where the head has its own."),
            evidence=view.method,
            start=view.spec_place,
        )


@rule(
    code="EAGLE3_TARGET_UNSUPPORTED",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("The target's class does not hand its hidden states to an EAGLE-3 head in this version."),
    fix=text("Use a later version, or MTP where the model has it."),
    source="vLLM sources, EAGLE-3 target list 0.8.5 to 0.21.0 and interface 0.22.1 to 0.33.0",
    versions="by family; GLM-4.5 to 4.7 in none",
)
def eagle3_target(view: LaunchView) -> Iterator[Hit]:
    """Fires on targets outside the list of the judged version."""
    if view.method != Method.EAGLE3.value or not view.model:
        return
    if families.is_glm4_moe(view.model):
        yield Hit(
            message=text("{model} has no EAGLE-3 interface in any version; it drafts with MTP.", model=view.model),
            evidence=view.model,
            start=view.spec_place,
        )
        return
    since = families.eagle3_since(view.model)
    if since is None or view.engine.old or not view.vllm_before(*since):
        return
    yield Hit(
        message=text(
            "EAGLE-3 takes {model} since vLLM {since}.",
            model=view.model,
            since=str(Version(since)),
        ),
        severity=Severity.WARNING if view.ascend else Severity.ERROR,
        evidence=view.model,
        start=view.spec_place,
    )


@rule(
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
            message=text("{model} has no MTP route; it drafts with DSpark.", model=view.model),
            fix=text("Write dspark."),
            evidence=view.model,
            start=view.spec_place,
        )
    elif families.has_no_mtp(view.model) or (target is not None and target.has_mtp is False):
        yield Hit(
            message=text("{model} has no MTP layers.", model=view.model),
            evidence=view.model,
            start=view.spec_place,
        )


@rule(
    code="MTP_ASSISTANT_MISSING",
    category="missing-drafter",
    severity=Severity.ERROR,
    summary=text("Gemma 4 drafts with an assistant checkpoint of its own, named in model."),
    fix=text("Name the assistant, such as google/gemma-4-31B-it-assistant."),
    source="vLLM 0.21.0 and later, sources; vllm-project/recipes, 2026-08-21",
    versions="vLLM 0.21.0 and later",
)
def assistant(view: LaunchView) -> Iterator[Hit]:
    """Fires on MTP for Gemma 4 without the assistant."""
    if view.method == Method.MTP.value and families.is_gemma4(view.model):
        if view.speculation is not None and view.speculation.drafter is None:
            yield Hit(
                message=text("{model} holds no MTP layers; its drafter is a separate assistant checkpoint.", model=view.model),
                evidence=view.model,
                start=view.spec_place,
            )


@rule(
    code="MTP_LEFT_OUT",
    category="missing-weights",
    severity=Severity.ERROR,
    summary=text("The checkpoint does not hold the MTP layers that the method drafts with."),
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
    if (checkpoint is not None and checkpoint.holds_mtp is False) or _MTP_LEFT_OUT.search(name):
        yield Hit(
            message=text("{model} does not hold MTP layers.", model=view.model),
            evidence=view.model,
            start=view.spec_place,
        )


@rule(
    code="MTP_QUANTISATION_RISK",
    category="zero-acceptance",
    severity=Severity.WARNING,
    summary=text("In 4-bit checkpoints the MTP layers are often kept unquantised or left out; loaded with the target's quantisation they accept nothing."),
    fix=text("Name the unquantised model in the config's model, use a checkpoint with MTP in its own precision, or watch the acceptance rate."),
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
            message=text("The MTP layers of {model} may not be quantised like the rest; then no draft is accepted.", model=view.model),
            evidence=view.model,
            start=view.spec_place,
        )


@rule(
    code="PACKAGE_NEEDED",
    category="missing-package",
    severity=Severity.WARNING,
    summary=text("Suffix decoding needs the package arctic-inference, which the images do not hold."),
    fix=text("Install arctic-inference==0.1.1 in the image."),
    source="vLLM 0.32.0, run: Arctic Inference is required for suffix decoding; vllm-ascend#5045",
    versions="vLLM 0.11.1 and later",
)
def package(view: LaunchView) -> Iterator[Hit]:
    """Fires on suffix decoding unless the input installs the package."""
    method = view.method_enum
    if method is None or FACTS[method].need is not Need.PACKAGE or not view.launch.is_vllm:
        return
    name = FACTS[method].package or ""
    if re.search(rf"pip3? install[^\n]*{re.escape(name)}", view.source.text):
        return
    yield Hit(
        message=text("{method} needs the package {package} in the image.", method=FACTS[method].title, package=name),
        evidence=method.value,
        start=view.spec_place,
    )


@rule(
    code="VOCABULARY_DIFFERS",
    category="draft-loading",
    severity=Severity.ERROR,
    summary=text("Target and draft model have vocabularies of different sizes."),
    fix=text("Use a draft model with the target's vocabulary; since vLLM 0.25 use_heterogeneous_vocab allows another."),
    source=f"{RUN}: should have the same vocabulary size; vllm#5203, #7252",
)
def vocabulary(view: LaunchView) -> Iterator[Hit]:
    """Fires on small Qwen2 and 2.5 drafts (151936 entries) for large targets (152064)."""
    speculation = view.speculation
    if view.method != Method.DRAFT_MODEL.value or speculation is None:
        return
    if view.config.get("use_heterogeneous_vocab") is True:
        return
    target = _QWEN.search(view.model)
    draft = _QWEN.search(speculation.drafter_resolved or "")
    if target is None or draft is None or _has_small(target) or not _has_small(draft):
        return
    yield Hit(
        message=text(
            "{draft} has 151936 entries in its vocabulary and {target} 152064.",
            draft=speculation.drafter_resolved or "",
            target=view.model,
        ),
        severity=Severity.INFO if view.engine.version is None and view.engine.old else None,
        evidence=speculation.drafter_resolved or "",
        start=view.spec_place,
    )


def _has_small(name: re.Match[str]) -> bool:
    return name["size"] in _SMALL_VOCABULARY[name["line"]]


@rule(
    code="DRAFT_TARGET_FAMILY",
    category="draft-loading",
    severity=Severity.ERROR,
    summary=text("Draft model and target are of different families, so their vocabularies differ."),
    fix=text("Use a small model of the target's own family."),
    source=f"{RUN}: should have the same vocabulary size",
)
def family(view: LaunchView) -> Iterator[Hit]:
    """Fires on a Llama draft for a Qwen target and the like."""
    speculation = view.speculation
    if view.method != Method.DRAFT_MODEL.value or speculation is None:
        return
    if view.config.get("use_heterogeneous_vocab") is True:
        return
    pair = [
        next((name for name in ("qwen", "llama", "glm", "gpt-oss", "mistral", "gemma") if name in one.lower()), None)
        for one in (families.last_part(view.model), families.last_part(speculation.drafter_resolved or ""))
    ]
    if None in pair or pair[0] == pair[1] or "distill" in view.model.lower():
        return
    yield Hit(
        message=text(
            "{draft} drafts for {target}, which is of another family.",
            draft=speculation.drafter_resolved or "",
            target=view.model,
        ),
        evidence=speculation.drafter_resolved or "",
        start=view.spec_place,
    )


DRAFTER_RULES: tuple[LaunchRule, ...] = (
    missing,
    eagle_for_eagle3,
    eagle3_for_eagle,
    eagle3_early,
    eagle3_target,
    no_mtp,
    assistant,
    left_out,
    quantised,
    package,
    vocabulary,
    family,
)
