"""A canary against the other replicas of its release: the same minutes, other drafts.

What decides is the time per output token at a similar load. Acceptance is shown beside it: a longer
draft has a lower rate and may still be faster.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from deployments.planning.text import Text, text
from deployments.telemetry.acceptance_history import NOTHING, Counts
from deployments.telemetry.advice import ENOUGH_DRAFTS
from deployments.telemetry.serving import Histogram

ENOUGH_TOKENS = 1000
"""Output tokens of a side that does not draft, before its pace is judged."""
LOAD_WITHIN = 0.25
"""Mean requests at once that lie closer than this share of the larger are a similar load."""
LOAD_APART = 0.5
"""Fewer requests than this lie between two similar loads, however small both are."""
LEVEL_WITHIN = 0.03
"""Paces that lie closer than this are level: engines export them in coarse buckets."""


class Standing(StrEnum):
    """How the canary stands against the others."""

    TOO_LITTLE = "too_little"
    OTHER_LOAD = "other_load"
    UNKNOWN = "unknown"
    BETTER = "better"
    LEVEL = "level"
    WORSE = "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one replica, or several alike, did in the window; ``None`` is unknown.

    ``drafts`` says whether it is planned to draft. ``running`` is the mean of one replica's requests
    at once. ``output`` are the times per output token, or per step where ``by_step``.
    """

    drafts: bool
    counts: Counts = NOTHING
    running: float | None = None
    requests: int = 0
    generated: int = 0
    output: Histogram = field(default_factory=Histogram)
    by_step: bool = False

    @property
    def enough(self) -> bool:
        """Whether there is enough of it to judge."""
        if self.drafts:
            return (self.counts.num_drafts or 0) >= ENOUGH_DRAFTS
        return self.generated >= ENOUGH_TOKENS

    @property
    def tokens_per_step(self) -> float | None:
        """Tokens that a step writes for one request: 1 without drafts."""
        return self.counts.mean_acceptance_length if self.drafts else 1.0

    @property
    def per_token(self) -> float | None:
        """Mean seconds for an output token."""
        mean, length = self.output.mean, self.tokens_per_step
        if not self.by_step or mean is None:
            return mean
        return mean / length if length else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryVerdict:
    """Where the canary stands, in a sentence; ``ratio`` is its speed over that of the others."""

    standing: Standing
    said: Text
    ratio: float | None = None


def judge_canary(canary: Side, others: Side) -> CanaryVerdict:
    """Judge the canary, or say what is still missing."""
    if not (canary.enough and others.enough):
        return CanaryVerdict(
            standing=Standing.TOO_LITTLE,
            said=text(
                "Too little yet: {drafts} drafts, or {tokens} tokens from a side that does not "
                "draft, are needed on both sides.",
                drafts=str(ENOUGH_DRAFTS),
                tokens=str(ENOUGH_TOKENS),
            ),
        )
    if not _alike(canary.running, others.running):
        return CanaryVerdict(
            standing=Standing.OTHER_LOAD,
            said=text(
                "Not comparable yet: the canary serves {canary} requests at once, another "
                "replica {others}. Send both the same share.",
                canary=_figure(canary.running),
                others=_figure(others.running),
            ),
        )
    mine, theirs = canary.per_token, others.per_token
    if not mine or not theirs:
        return CanaryVerdict(
            standing=Standing.UNKNOWN,
            said=text(
                "The engines do not say how long an output token takes, so only acceptance can be "
                "compared."
            ),
        )
    ratio = theirs / mine
    return CanaryVerdict(standing=_standing(ratio), said=_said(ratio), ratio=ratio)


def _alike(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return False
    apart = abs(one - other)
    return apart <= LOAD_APART or apart <= LOAD_WITHIN * max(one, other)


def _figure(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}"


def _standing(ratio: float) -> Standing:
    if ratio > 1 + LEVEL_WITHIN:
        return Standing.BETTER
    return Standing.WORSE if ratio < 1 - LEVEL_WITHIN else Standing.LEVEL


def _said(ratio: float) -> Text:
    share = f"{abs(ratio - 1):.0%}"
    match _standing(ratio):
        case Standing.BETTER:
            return text(
                "The canary writes {share} more tokens in the same time: promote it.",
                share=share,
            )
        case Standing.WORSE:
            return text(
                "The canary writes {share} fewer tokens in the same time: roll it back.",
                share=share,
            )
        case _:
            return text(
                "No difference beyond {within}: keep what is simpler.",
                within=f"{LEVEL_WITHIN:.0%}",
            )
