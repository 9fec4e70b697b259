"""MTP by release: the engine learns the MTP layers of each model family in a release of its own."""

import re
from collections.abc import Iterator

from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard, set_key
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text
from deployments.planning.versions import Version

_SINCE: tuple[tuple[re.Pattern[str], tuple[int, int, int]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), release)
    for pattern, release in (
        (r"deepseek[-_]?v3[._]2", (0, 11, 0)),
        (r"deepseek[-_]?v4", (0, 20, 0)),
        (r"glm[-_]?4[._]7[-_]?flash", (0, 16, 0)),
        (r"glm[-_]?4[._]?[567](?![-_]?flash)", (0, 10, 0)),
        (r"glm[-_]?ocr", (0, 16, 0)),
        (r"glm[-_]?5(?![0-9])", (0, 16, 0)),
        (r"mimo[-_]?v2", (0, 21, 0)),
        (r"mimo[-_]?7b", (0, 9, 0)),
        (r"ernie[-_]?4[._]5", (0, 10, 2)),
        (r"qwen3[-_]next", (0, 10, 2)),
        (r"qwen3[._][568](?![0-9])", (0, 17, 0)),
        (r"longcat[-_]flash", (0, 11, 0)),
        (r"pangu[-_]?ultra", (0, 11, 1)),
        (r"step[-_]?3[._]5", (0, 16, 0)),
        (r"step[-_]?3[._]7", (0, 23, 0)),
        (r"nemotron[-_]?(?:h|3)", (0, 17, 0)),
        (r"gemma[-_]?4", (0, 21, 0)),
        (r"minimax[-_]?m3", (0, 24, 0)),
        (r"kimi[-_]?k3", (0, 27, 1)),
    )
)
_LATE_RELEASE = re.compile(r"deepseek[-_]?v4.*[-_]0731", re.IGNORECASE)


def mtp_since(model: str) -> tuple[int, int, int] | None:
    """The vLLM release that brought the MTP layers of the family, ``None`` when unknown."""
    name = families.last_part(model)
    return next((since for pattern, since in _SINCE if pattern.search(name)), None)


@RuleCard(
    code="MTP_TARGET_EARLY",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("This release does not know the MTP layers of the model yet."),
    fix=text("Use the release that brought them, or a later one."),
    source="vLLM sources, MTP routes by target, 0.8.5 to 0.33.0",
    versions=text("by family"),
    platforms=("cuda", "rocm", "xpu"),
)
def early_target(view: LaunchView) -> Iterator[Hit]:
    """Fires on a family whose MTP came with a later release; GLM-4.5 to 4.7 are let pass by name."""
    if view.method != Method.MTP.value or view.ascend or not view.launch.is_vllm:
        return
    since = mtp_since(view.model)
    if since is None or view.engine.old or not view.vllm_before(*since):
        return
    yield Hit(
        message=text(
            "vLLM drafts with the MTP layers of {model} since {since}.",
            model=view.model,
            since=str(Version(since)),
        ),
        evidence=view.model,
        start=view.spec_place,
    )


@RuleCard(
    code="MTP_OF_DSPARK_CHECKPOINT",
    category="missing-weights",
    severity=Severity.WARNING,
    summary=text(
        "The 0731 checkpoints of DeepSeek-V4 hold a DSpark drafter where MTP tensors are looked for."
    ),
    fix=text("Write dspark, with a version that runs it."),
    source="vllm#52111",
)
def dspark_checkpoint(view: LaunchView) -> Iterator[Hit]:
    """Fires on MTP with such a checkpoint."""
    if view.method == Method.MTP.value and _LATE_RELEASE.search(view.model):
        yield Hit(
            message=text(
                "{model} drafts with DSpark; loaded as MTP its tensors are not found.",
                model=view.model,
            ),
            evidence=view.model,
            start=view.spec_place,
            edits=(set_key("method", Method.DSPARK.value),),
        )


TARGET_VERSION_RULES: tuple[LaunchRule, ...] = (early_target, dspark_checkpoint)
