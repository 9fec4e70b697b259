"""The drafter: missing, of another kind than the method, or one that the target cannot take."""

import re
from collections.abc import Iterator

from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard, set_key
from deployments.planning.rules.launch.view import NEEDS_MODEL, LaunchView
from deployments.planning.text import text

RUN = "vLLM 0.32.0, run with tiny models"
_EAGLE3 = re.compile(r"eagle-?3|speculator.*eagle3", re.IGNORECASE)
_QWEN = re.compile(
    r"qwen(?P<line>1\.5|2\.5|2)[-_](?P<size>\d+(?:\.\d+)?)b(?!-a)", re.IGNORECASE
)
_SMALL_VOCABULARY = {
    "1.5": frozenset(("0.5", "1.8", "4", "7")),
    "2": frozenset(("0.5", "1.5")),
    "2.5": frozenset(("0.5", "1.5", "3")),
}
"""Sizes with 151936 entries in their vocabulary; the others have 152064 (their config.json)."""


@RuleCard(
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
        message=text(
            "{method} needs a drafter, and the speculative config names none.",
            method=title,
        ),
        evidence=view.method,
        start=view.spec_place,
    )


@RuleCard(
    code="EAGLE_METHOD_FOR_EAGLE3",
    category="draft-loading",
    severity=Severity.ERROR,
    summary=text(
        "The drafter is an EAGLE-3 head, and the method is eagle: the architecture's name gets a wrong prefix."
    ),
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
            message=text(
                "{drafter} is an EAGLE-3 head, but the method is eagle.", drafter=path
            ),
            evidence=path,
            start=view.spec_place,
            edits=(set_key("method", Method.EAGLE3.value),),
        )


@RuleCard(
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
    if (
        re.search(r"yuhuili/eagle-|eagle-(?:llama|qwen|mixtral)", path)
        and "eagle3" not in path
    ):
        yield Hit(
            message=text(
                "{drafter} looks like an EAGLE head of the first kind, but the method is eagle3.",
                drafter=path,
            ),
            evidence=path,
            start=view.spec_place,
            edits=(set_key("method", Method.EAGLE.value),),
        )


@RuleCard(
    code="EAGLE3_EARLY",
    category="draft-loading",
    severity=Severity.WARNING,
    summary=text(
        "Up to vLLM 0.9.0 an EAGLE-3 head with embeddings of its own does not load."
    ),
    fix=text("Use vLLM 0.9.1 or later."),
    source="vllm#18906",
    versions=text("up to vLLM 0.9.0"),
)
def eagle3_early(view: LaunchView) -> Iterator[Hit]:
    """Fires on EAGLE-3 in 0.8.5 and 0.9.0."""
    if (
        view.method == Method.EAGLE3.value
        and view.vllm_before(0, 9, 1)
        and not view.ascend
    ):
        yield Hit(
            message=text(
                "This version shares the target's embeddings with the EAGLE-3 head, also where the head has its own."
            ),
            evidence=view.method,
            start=view.spec_place,
        )


@RuleCard(
    code="PACKAGE_NEEDED",
    category="missing-package",
    severity=Severity.WARNING,
    summary=text(
        "Suffix decoding needs the package arctic-inference, which the images do not hold."
    ),
    fix=text("Install arctic-inference==0.1.1 in the image."),
    source="vLLM 0.32.0, run: Arctic Inference is required for suffix decoding; vllm-ascend#5045",
    versions=text("vLLM 0.11.1 and later"),
)
def package(view: LaunchView) -> Iterator[Hit]:
    """Fires on suffix decoding unless the input installs the package."""
    method = view.method_enum
    if (
        method is None
        or FACTS[method].need is not Need.PACKAGE
        or not view.launch.is_vllm
    ):
        return
    name = FACTS[method].package or ""
    if re.search(rf"pip3? install[^\n]*{re.escape(name)}", view.source.text):
        return
    yield Hit(
        message=text(
            "{method} needs the package {package} in the image.",
            method=FACTS[method].title,
            package=name,
        ),
        evidence=method.value,
        start=view.spec_place,
    )


@RuleCard(
    code="VOCABULARY_DIFFERS",
    category="draft-loading",
    severity=Severity.ERROR,
    summary=text("Target and draft model have vocabularies of different sizes."),
    fix=text(
        "Use a draft model with the target's vocabulary; since vLLM 0.25 use_heterogeneous_vocab allows another."
    ),
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
        severity=Severity.INFO
        if view.engine.version is None and view.engine.old
        else None,
        evidence=speculation.drafter_resolved or "",
        start=view.spec_place,
    )


def _has_small(name: re.Match[str]) -> bool:
    return name["size"] in _SMALL_VOCABULARY[name["line"]]


@RuleCard(
    code="DRAFT_TARGET_FAMILY",
    category="draft-loading",
    severity=Severity.ERROR,
    summary=text(
        "Draft model and target are of different families, so their vocabularies differ."
    ),
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
        next(
            (
                name
                for name in ("qwen", "llama", "glm", "gpt-oss", "mistral", "gemma")
                if name in one.lower()
            ),
            None,
        )
        for one in (
            families.last_part(view.model),
            families.last_part(speculation.drafter_resolved or ""),
        )
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
    package,
    vocabulary,
    family,
)
