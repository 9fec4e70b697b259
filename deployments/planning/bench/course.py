"""The course of a benchmark: which loads, how often, with how many requests, in which order."""

from dataclasses import dataclass

from deployments.planning.bench.datasets import Dataset
from deployments.planning.errors import PlanningError
from deployments.planning.text import text

USUAL_LEVELS = (1, 4, 16)
USUAL_REPEATS = 3
"""The fewest segments that give a spread; a verdict with one alone is a point without a width."""
MOST_LEVELS = 8
MOST_CONCURRENCY = 1024
MOST_REPEATS = 10
MOST_PROMPTS = 5000
MOST_RUNS = 40
ROUNDS_OF_A_LEVEL = 8
"""Requests of a level are at least this many times its concurrency: ramp-up and the last answers,
which run with fewer neighbours, stay a small share."""
FEWEST_PROMPTS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One run of ``vllm bench serve``: the ``repeat``-th (from 1) at a load.

    ``seed`` orders the prompts: the same repeat of both arms sends the same requests.
    """

    number: int
    repeat: int
    concurrency: int
    prompts: int
    warm_ups: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What somebody asked for; ``prompts`` is per run, ``None`` lets the panel choose by the load."""

    dataset: Dataset
    levels: tuple[int, ...] = USUAL_LEVELS
    repeats: int = USUAL_REPEATS
    prompts: int | None = None
    seed: int = 0
    sharegpt_path: str | None = None
    """Where ShareGPT lies in the service's container."""

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            PlanningError: a number is out of its bounds, or the whole would never end.
        """
        if not self.levels or len(self.levels) > MOST_LEVELS:
            raise PlanningError(
                text("Give one to {limit} loads to measure at.", limit=MOST_LEVELS)
            )
        if list(self.levels) != sorted(set(self.levels)):
            raise PlanningError(text("Give each load once, the lowest first."))
        if not 1 <= self.levels[0] <= self.levels[-1] <= MOST_CONCURRENCY:
            raise PlanningError(
                text("A load is 1 to {limit} requests at once.", limit=MOST_CONCURRENCY)
            )
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise PlanningError(
                text("Repeat each load 1 to {limit} times.", limit=MOST_REPEATS)
            )
        if self.repeats * len(self.levels) > MOST_RUNS:
            raise PlanningError(
                text(
                    "{count} runs are more than the {limit} of one benchmark: measure fewer loads or repeat "
                    "less.",
                    count=self.repeats * len(self.levels),
                    limit=MOST_RUNS,
                )
            )
        self._check_prompts()

    def _check_prompts(self) -> None:
        if self.prompts is not None and not (
            self.levels[-1] <= self.prompts <= MOST_PROMPTS
        ):
            raise PlanningError(
                text(
                    "A run sends at least as many prompts as its load, {load}, and at most {limit}.",
                    load=self.levels[-1],
                    limit=MOST_PROMPTS,
                )
            )
        if (self.dataset is Dataset.SHAREGPT) is (self.sharegpt_path is None):
            raise PlanningError(
                text(
                    "ShareGPT is read from a path in the service's container; other prompts have none."
                )
            )

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All runs in their order: every load once, then all again.

        A drift of the machine then falls on every load alike and shows in the spread.
        """
        return tuple(
            Segment(
                number=repeat * len(self.levels) + index + 1,
                repeat=repeat + 1,
                concurrency=level,
                prompts=self.prompts_at(level),
                warm_ups=min(level, 16) * 2,
                seed=self.seed + repeat,
            )
            for repeat in range(self.repeats)
            for index, level in enumerate(self.levels)
        )

    def prompts_at(self, level: int) -> int:
        """Requests of one run at a load."""
        if self.prompts is not None:
            return self.prompts
        return min(MOST_PROMPTS, max(FEWEST_PROMPTS, level * ROUNDS_OF_A_LEVEL))
