"""The decision tree's answer for a model and a platform, without hosts."""

from collections.abc import Iterable
from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.catalog import Checkpoint, TargetModel
from deployments.planning.checkpoints import checkpoint_here
from deployments.planning.counts import recommended
from deployments.planning.decision import OFF, decide
from deployments.planning.documents import in_english, to_document
from deployments.planning.engines.profile import EngineProfile, find_profile
from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.plan import Decision, Role
from deployments.planning.platforms import find_platform
from deployments.planning.revision import SpeculationChoice
from deployments.planning.text import text
from deployments.planning.verdict import Question, find_drafter

WIDE_NAMES = {"cuda": "nvidia", "ascend": "ascend-a3"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """A decision with the count of every role and the drafter's repository."""

    decision: Decision
    checkpoint: Checkpoint
    per_role: tuple[tuple[Role, int | None], ...]
    drafter: str | None


def recommend(
    model: TargetModel,
    platform: str,
    *,
    checkpoint: str | None = None,
    engine: str | None = None,
    own: Iterable[EngineProfile] = (),
) -> Recommendation:
    """Decide for a model on a platform; ``own`` are profiles that people made.

    Raises:
        PlanningError: platform, checkpoint or engine is unknown or does not belong together.
    """
    family = find_platform(WIDE_NAMES.get(platform, platform))
    profile = find_profile(
        engine or f"{family.engine}=={family.default_engine_version}", own
    )
    if profile.engine != family.engine:
        raise PlanningError(
            text(
                "{engine} does not run on {platform}; use {usual}.",
                engine=profile.engine,
                platform=family.title,
                usual=family.engine,
            )
        )
    chosen, documented_for = checkpoint_here(model, checkpoint, family)
    asked = Question(
        model=model,
        checkpoint=chosen,
        platform=family,
        documented_for=documented_for,
        profile=profile,
        choice=SpeculationChoice(),
    )
    decision = decide(asked)
    if decision.method == OFF:
        return Recommendation(
            decision=decision, checkpoint=chosen, per_role=(), drafter=None
        )
    method = Method(decision.method)
    drafter = find_drafter(asked, method)
    counts = [
        (role, recommended(model, method, documented_for, role, drafter))
        for role in (Role.COMBINED, Role.PREFILL, Role.DECODE)
    ]
    return Recommendation(
        decision=decision,
        checkpoint=chosen,
        per_role=tuple(
            (role, count.value if count else None) for role, count in counts
        ),
        drafter=drafter.repository if drafter else None,
    )


def recommendation_answer(
    given: Recommendation, concurrency: int | None
) -> dict[str, Json]:
    """Return the recommendation as ``recommend_method --json`` prints it."""
    decision = given.decision
    drafted = decision.num_speculative_tokens or 0
    per_role: dict[str, Json] = {
        role.value: count for role, count in given.per_role if role is not Role.COMBINED
    }
    return {
        "method": decision.method,
        "checkpoint": given.checkpoint.key,
        "per_role": per_role,
        "num_speculative_tokens": decision.num_speculative_tokens,
        "drafter": given.drafter,
        "path": in_english(to_document(decision.path)),
        "alternatives": [
            {"method": one.method, "open": one.open, "why_not": one.because.english}
            for one in decision.methods
            if one.method != decision.method
        ],
        "decode_tokens_per_step": concurrency * (drafted + 1) if concurrency else None,
    }
