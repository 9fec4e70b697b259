"""The sizes that the engines of a role run with, and how it drafts."""

from deployments.planning.catalog import TargetModel
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.counts import (
    WITHOUT_PREFILL,
    Count,
    must_be_equal,
    recommended,
)
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.engines.speculative import SpeculativeConfig
from deployments.planning.errors import PlanningError
from deployments.planning.methods import FACTS, Method, Need
from deployments.planning.plan import Role
from deployments.planning.text import text
from deployments.planning.topology import RoleLayout

MODELS_IN_CONTAINER = "/models"
SMALLEST_BATCH = 8
PROMPT_LOOKUP_MAX = 5


def role_settings(context: PlanContext, layout: RoleLayout) -> RoleSettings:
    """Settle sizes and drafting of one role: a person's values, else documented ones, else derived."""
    count = _count(context, layout)
    speculative = _speculative(context, count)
    serving, limits = layout.serving, context.spec.limits
    sequences = limits.max_num_seqs or serving.max_num_seqs or _batch(context, layout)
    drafted = count.value if count else 0
    percent = limits.gpu_memory_utilization_percent
    share = f"{percent // 100}.{percent % 100:02d}" if percent is not None else None
    return RoleSettings(
        layout=layout,
        speculative=speculative,
        count=count,
        max_model_len=limits.max_model_len or _context(context, serving.max_model_len),
        max_num_seqs=sequences,
        max_num_batched_tokens=limits.max_num_batched_tokens
        or _batched(layout, sequences * (drafted + 1)),
        gpu_memory_utilization=share or serving.gpu_memory_utilization,
    )


def drafter_path(context: PlanContext) -> str | None:
    """Return the drafter's directory in the container, ``None`` when nothing is mounted for it."""
    drafter = context.drafter
    if drafter is None or drafter.inside_checkpoint:
        return None
    return f"{MODELS_IN_CONTAINER}/{drafter.directory}"


def _count(context: PlanContext, layout: RoleLayout) -> Count | None:
    method = context.method
    if method is None:
        return None
    role = layout.role
    told = recommended(
        context.model, method, context.documented_for, role, context.drafter
    )
    eager = told.draft_eager if told else None
    asked = layout.spec.num_speculative_tokens
    shared = role is not Role.PREFILL or must_be_equal(context.model, method)
    if asked is None and shared:
        asked = context.spec.speculation.num_speculative_tokens
    if asked is None and role is Role.PREFILL and must_be_equal(context.model, method):
        asked = _asked_of_decode(context)
    if asked is None:
        return told
    if asked < 0:
        raise PlanningError(
            text(
                "The {role} role cannot draft {asked} tokens; use 0 for none, or 1 and more.",
                role=role.value,
                asked=asked,
            )
        )
    if asked == 0 or (role is Role.PREFILL and method in WITHOUT_PREFILL):
        return None
    return Count(
        value=asked, source=text("the revision"), published=False, draft_eager=eager
    )


def _asked_of_decode(context: PlanContext) -> int | None:
    decode = (one for one in context.spec.roles if one.role is Role.DECODE)
    return next((one.num_speculative_tokens for one in decode), None)


def _speculative(context: PlanContext, count: Count | None) -> SpeculativeConfig | None:
    method, drafter = context.method, context.drafter
    if method is None or count is None:
        return None
    return SpeculativeConfig(
        method=method,
        num_speculative_tokens=count.value,
        model=drafter_path(context),
        draft_eager=_draft_eager(context, count),
        draft_tensor_parallel_size=drafter.draft_tensor_parallel_size
        if drafter
        else None,
        max_model_len=drafter.max_model_len if drafter else None,
        prompt_lookup_max=PROMPT_LOOKUP_MAX
        if FACTS[method].need is Need.NOTHING
        else None,
        target_model_type=context.model.model_type,
    )


def _draft_eager(context: PlanContext, count: Count) -> bool | None:
    if context.profile.engine != VLLM_ASCEND:
        return None
    forced = refuses_draft_graph(context.model, context.method)
    return True if forced else count.draft_eager


def refuses_draft_graph(model: TargetModel, method: Method | None) -> bool:
    """Whether vllm-ascend refuses to capture the drafter: every GLM (code of v0.23.0 and later)."""
    if method is None or FACTS[method].need not in (Need.MTP_WEIGHTS, Need.DRAFTER):
        return False
    return "glm" in (model.model_type or "").lower()


def _context(context: PlanContext, documented: int | None) -> int | None:
    limit = context.model.context_length
    if documented is None or limit is None:
        return documented
    return min(documented, limit)


def _batch(context: PlanContext, layout: RoleLayout) -> int:
    instances = len(layout.hosts) // layout.hosts_per_instance
    ranks = max(1, instances * layout.data_parallel_size)
    share = -(-context.spec.workload.concurrency // ranks)
    return max(SMALLEST_BATCH, 1 << (share - 1).bit_length())


def _batched(layout: RoleLayout, needed: int) -> int | None:
    documented = layout.serving.max_num_batched_tokens
    if documented is None:
        return None
    return max(documented, needed) if layout.role is not Role.PREFILL else documented
