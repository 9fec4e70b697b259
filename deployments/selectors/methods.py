"""Names of speculative methods, however an engine or a plan spells them."""

from deployments.planning.errors import PlanningError
from deployments.planning.methods import FACTS, normalise_method
from deployments.selectors.texts import say


def method_title(spelling: str) -> str:
    """The title of a method: MTP for ``deepseek_mtp``; the spelling itself where it is unknown."""
    try:
        return say(FACTS[normalise_method(spelling)].title)
    except PlanningError:
        return spelling


def same_method(one: str, other: str) -> bool:
    """Whether two spellings mean one method."""
    return _normal(one) == _normal(other)


def _normal(spelling: str) -> str:
    try:
        return normalise_method(spelling)
    except PlanningError:
        return spelling
