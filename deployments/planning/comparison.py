"""Two methods side by side: what each needs, drafts, captures and mounts."""

from collections.abc import Sequence
from dataclasses import dataclass

from deployments.planning.catalog import Drafter, TargetModel
from deployments.planning.counts import recommended
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.methods import FACTS, Method, Need, normalise_method
from deployments.planning.plan import MethodVerdict, Plan, Role
from deployments.planning.sizes import refuses_draft_graph
from deployments.planning.text import Text, text


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodComparison:
    """One column of the comparison; ``None`` is unknown.

    ``drafter`` is a repository, ``None`` when the drafter is inside the checkpoint or there is
    none; ``drafter_bytes`` its size, 0 when nothing is loaded besides the target. ``counts`` are
    (role, num_speculative_tokens) with ``None`` for a role that does not draft. ``mounts`` are
    directories under the model root besides the checkpoint.
    """

    method: str
    title: str
    open: bool
    because: Text
    needs_drafter: bool
    drafter: str | None
    drafter_bytes: int | None
    counts: tuple[tuple[Role, int | None], ...]
    counts_source: Text | str
    drafter_graph: Text
    mounts: tuple[str, ...]
    async_scheduling: bool


def compare_methods(
    plan: Plan,
    model: TargetModel,
    platform: str,
    methods: Sequence[str] = (Method.MTP, Method.EAGLE3),
) -> tuple[MethodComparison, ...]:
    """Compare methods for a plan on a platform of the catalog's documents.

    Raises:
        PlanningError: a method is unknown.
    """
    verdicts = {one.method: one for one in plan.decision.methods}
    return tuple(
        _compare(plan, model, platform, verdicts[normalise_method(method).value])
        for method in methods
    )


def _compare(
    plan: Plan, model: TargetModel, platform: str, verdict: MethodVerdict
) -> MethodComparison:
    method = Method(verdict.method)
    drafter = model.drafter(verdict.drafter) if verdict.drafter else None
    counts = {
        role: recommended(model, method, platform, role, drafter)
        for role in (Role.COMBINED, Role.PREFILL, Role.DECODE)
    }
    decode = counts[Role.DECODE]
    outside = drafter if drafter is not None and not drafter.inside_checkpoint else None
    needs = FACTS[method].need is Need.DRAFTER
    return MethodComparison(
        method=method.value,
        title=FACTS[method].title,
        open=verdict.open,
        because=verdict.because,
        needs_drafter=needs,
        drafter=outside.repository if outside else None,
        drafter_bytes=_bytes(
            outside, needs_drafter=needs and outside is None and drafter is None
        ),
        counts=tuple(
            (role, count.value if count else None) for role, count in counts.items()
        ),
        counts_source=decode.source if decode else text("none"),
        drafter_graph=_graph(
            plan, model, method, decode.draft_eager if decode else None
        ),
        mounts=(outside.directory,) if outside else (),
        async_scheduling=FACTS[method].async_scheduling,
    )


def _bytes(drafter: Drafter | None, *, needs_drafter: bool) -> int | None:
    if drafter is not None:
        return drafter.size_bytes
    return None if needs_drafter else 0


def _graph(plan: Plan, model: TargetModel, method: Method, eager: bool | None) -> Text:  # noqa: FBT001
    if FACTS[method].need not in (Need.MTP_WEIGHTS, Need.DRAFTER):
        return text("none: it drafts without a model")
    if plan.engine != VLLM_ASCEND:
        return text("captured")
    if refuses_draft_graph(model, method):
        return text("eager, forced by the engine for GLM models")
    return text("eager, as documented") if eager else text("captured")
