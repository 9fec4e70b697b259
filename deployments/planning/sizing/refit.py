"""What the planner changes by itself where memory asks for it: ranks, hosts together, context."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from deployments.planning.catalog import TargetModel
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.sizing.question import question_of
from deployments.planning.sizing.role import role_memory
from deployments.planning.topology import RoleLayout, divides_heads

Settle = Callable[[RoleLayout], RoleSettings]
_SHORTEST_CONTEXT = 8192
_ROUND = 1024
_HEADROOM_PARTS = 20


def refitted(
    context: PlanContext, settings: RoleSettings, settle: Settle
) -> RoleSettings:
    """Return settings that fit on the same hosts, the given ones where none do.

    Every data parallel rank has its own copy of attention and embeddings, so a layout that is
    documented on two hosts can be too much for one: ranks become wider. Hosts that would each serve
    alone serve together. Last, the context is cut. What a person chose is never changed.
    """
    if context.practice or _fits(context, settings):
        return settings
    layouts = [
        settings,
        *(settle(one) for one in _layouts(context.model, settings.layout)),
    ]
    for tried in layouts:
        if _fits(context, tried):
            return tried
    if context.spec.limits.max_model_len is None:
        for tried in layouts:
            shorter = _shortened(context, tried)
            if shorter is not None:
                return shorter
    return settings


def _fits(context: PlanContext, settings: RoleSettings) -> bool:
    question = question_of(context, settings)
    return role_memory(question, context.platform.name).fits is not False


def _layouts(model: TargetModel, layout: RoleLayout) -> Iterator[RoleLayout]:
    spec = layout.spec
    if spec.tensor_parallel_size or spec.data_parallel_size:
        return
    local, total = layout.data_parallel_size_local, layout.data_parallel_size
    tensor = layout.tensor_parallel_size
    while local % 2 == 0:
        local, total, tensor = local // 2, total // 2, tensor * 2
        if not divides_heads(model, tensor):
            break
        yield replace(
            layout,
            tensor_parallel_size=tensor,
            data_parallel_size=total,
            data_parallel_size_local=local,
            widened_from=layout.tensor_parallel_size,
        )
    if layout.expert_parallel and len(layout.hosts) > layout.hosts_per_instance:
        ranks = layout.data_parallel_size_local * len(layout.hosts)
        yield replace(layout, data_parallel_size=ranks)


def _shortened(context: PlanContext, settings: RoleSettings) -> RoleSettings | None:
    question = question_of(context, settings)
    found = role_memory(question, context.platform.name)
    if found.documented is not None or found.largest_context is None:
        return None
    longest, token = found.largest_context, found.kv_bytes_per_token or 1
    spared = (found.device_bytes or 0) // _HEADROOM_PARTS // token
    least = max(_SHORTEST_CONTEXT, question.sequence_tokens + question.count)
    chosen = longest - spared if longest - spared >= least else longest
    chosen = chosen // _ROUND * _ROUND
    if chosen < least:
        return None
    return replace(
        settings, max_model_len=chosen, shortened_from=question.context_length
    )
