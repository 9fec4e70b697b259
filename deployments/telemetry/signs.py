"""A sign of a deployment: wrong, right or unsure, with its figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from deployments.planning.text import NOTHING, Text


class State(StrEnum):
    """What a sign says now."""

    WRONG = "wrong"
    RIGHT = "right"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One sign; ``evidence`` holds its figures, ``began_s`` when the change point lies."""

    state: State
    text: Text = NOTHING
    evidence: Mapping[str, float | int | str] = field(default_factory=dict)
    began_s: int | None = None


UNSURE = Sign(state=State.UNSURE)
RIGHT = Sign(state=State.RIGHT)
