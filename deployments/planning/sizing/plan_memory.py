"""The memory of every role of a plan."""

from dataclasses import replace

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.plan import RoleMemory
from deployments.planning.sizing.proposals import proposals
from deployments.planning.sizing.question import question_of
from deployments.planning.sizing.role import role_memory

TIGHT_PER_CENT = 5


def plan_memory(context: PlanContext) -> tuple[RoleMemory, ...]:
    """Size each role; the practice image loads nothing, so there is nothing to size."""
    if context.practice:
        return ()
    return tuple(_one(context, settings) for settings in context.roles)


def is_tight(memory: RoleMemory) -> bool:
    """Whether less than 5 % of the device is left after the work that was described."""
    if memory.headroom_bytes is None or memory.device_bytes is None:
        return False
    return memory.headroom_bytes * 100 < memory.device_bytes * TIGHT_PER_CENT


def _one(context: PlanContext, settings: RoleSettings) -> RoleMemory:
    question = question_of(context, settings)
    found = role_memory(question, context.platform.name)
    if found.fits is not False and not is_tight(found):
        return found
    return replace(found, proposals=proposals(context, settings, question, found))
