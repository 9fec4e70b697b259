"""What speculation is expected to bring: curve, best count, break-even, each with band and source."""

import functools
from dataclasses import dataclass

from deployments.planning.methods import Method
from deployments.planning.speedup.acceptance import Acceptance, seed_formula
from deployments.planning.speedup.benefit import CountBenefit, benefits, counts_of
from deployments.planning.speedup.calibration import Calibration, corrected
from deployments.planning.speedup.constants import Band, Fit, shipped_fit
from deployments.planning.speedup.cost import Case, Load, StepCost, case_of
from deployments.planning.speedup.coverage import covered, warnings
from deployments.planning.speedup.drafting import drafting_of
from deployments.planning.speedup.shape import ModelShape
from deployments.planning.speedup.step_time import Serving
from deployments.planning.text import Text, text

LARGEST_CONCURRENCY = 4096
USUAL_CONCURRENCY = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is question. ``concurrency`` is the number of sequences decoded at once, ascending.

    ``acceptance`` was seen or assumed for this target model and method. ``drafter`` is the shape of
    a draft model, ``None`` for every other method or when unknown.
    """

    shape: ModelShape
    serving: Serving
    method: Method
    acceptance: Acceptance
    num_speculative_tokens: int
    concurrency: tuple[int, ...] = USUAL_CONCURRENCY
    drafter: ModelShape | None = None
    calibration: Calibration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedPoint:
    """One point of the curve; ``None`` is unknown.

    Nine of ten measurements like it are expected between ``low`` and ``high``; both are ``None``
    where no measurement resembles the point. ``best_num_speculative_tokens`` is 0 where no number
    of draft tokens pays.
    """

    concurrency: int
    speedup: float | None
    low: float | None
    high: float | None
    bound: str | None
    best_num_speculative_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """The highest concurrency at which speculation still pays.

    0: it never does. ``None``: unknown, or beyond 4096. ``low`` to ``high`` is where half of the
    measurements are expected to turn.
    """

    concurrency: int | None
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedPrediction:
    """The answer. ``kind`` is ``measured``, ``published`` or ``assumed``, the weakest of its parts.

    ``draft_cost`` is drafting one token over a plain step at the lowest concurrency, ``None`` with
    an unknown device; ``seed_formula`` uses it. ``measured_up_to`` is the highest concurrency of
    measurements of such cases, published or made here, 0 without any.
    """

    expected_tokens_per_step: float
    seed_formula: float | None
    draft_cost: float | None
    curve: tuple[SpeedPoint, ...]
    best_num_speculative_tokens: int | None
    break_even: BreakEven
    band: Band
    kind: str
    source: Text
    measured_up_to: int
    sentence: Text
    warnings: tuple[Text, ...]


class _Speedups:
    """The speed-ups of one case; each point is computed once, however often it is compared."""

    def __init__(self, question: Question, case: Case) -> None:
        self._case = case
        self._question = question
        self._known: dict[tuple[int, int], float] = {}
        self._loads: dict[int, Load] = {}
        self._tokens: dict[int, float] = {}

    def at(self, sequences: int, count: int) -> float:
        """Return the speed-up with so many sequences and draft tokens."""
        point = (sequences, count)
        if point not in self._known:
            asked = self._question
            if count not in self._tokens:
                self._tokens[count] = asked.acceptance.tokens_per_step(count)
            self._known[point] = corrected(
                self.cost(sequences, count), self._tokens[count], asked.calibration
            )
        return self._known[point]

    def cost(self, sequences: int, count: int) -> StepCost:
        """Return the cost of a step with so many sequences and draft tokens."""
        if sequences not in self._loads:
            self._loads[sequences] = self._case.load(sequences)
        return self._case.cost_under(self._loads[sequences], count)


@functools.lru_cache(maxsize=1024)
def predict(question: Question) -> SpeedPrediction:
    """Predict tokens per step and speed-up; without the device's figures only the tokens."""
    fit = shipped_fit()
    case = case_of_question(question)
    speedups = _Speedups(question, case) if case else None
    band = _band(question, fit)
    count = question.num_speculative_tokens
    cost = case.relative_draft_cost(question.concurrency[0], count) if case else None
    turning = _break_even(question, speedups, band)
    rate = question.acceptance.rate(count)
    return SpeedPrediction(
        expected_tokens_per_step=question.acceptance.tokens_per_step(count),
        seed_formula=None if cost is None else seed_formula(rate, count, cost),
        draft_cost=cost,
        curve=tuple(
            _point(question, speedups, band, one) for one in question.concurrency
        ),
        best_num_speculative_tokens=_best(question, speedups, question.concurrency),
        break_even=turning,
        band=band,
        kind=_kind(question),
        source=_source(question, fit),
        measured_up_to=_reach(question),
        sentence=_sentence(question, case, turning),
        warnings=warnings(
            question.shape, question.serving, question.method, question.concurrency[-1]
        ),
    )


def _band(question: Question, fit: Fit) -> Band:
    if question.calibration is not None:
        return fit.bands["calibrated"]
    return fit.bands["mixture" if question.shape.mixture else "dense"]


def _reach(question: Question) -> int:
    """Up to which concurrency measurements resemble this case, those made here included."""
    reach = covered(question.shape, question.serving, question.method)
    here = question.calibration.concurrency if question.calibration else 0
    return max(reach, here)


def _point(
    question: Question, speedups: _Speedups | None, band: Band, concurrency: int
) -> SpeedPoint:
    if speedups is None:
        return SpeedPoint(
            concurrency=concurrency,
            speedup=None,
            low=None,
            high=None,
            bound=None,
            best_num_speculative_tokens=None,
        )
    count = question.num_speculative_tokens
    value = speedups.at(concurrency, count)
    reach = _reach(question)
    known = concurrency <= reach
    return SpeedPoint(
        concurrency=concurrency,
        speedup=value,
        low=value / (1 + band.ninety) if known else None,
        high=value / (1 - band.ninety) if known else None,
        bound=speedups.cost(concurrency, count).bound,
        best_num_speculative_tokens=_best(question, speedups, (concurrency,)),
    )


def _best(
    question: Question, speedups: _Speedups | None, concurrency: tuple[int, ...]
) -> int | None:
    """The count with the best geometric mean over these loads; 0 when plain decoding is faster."""
    if speedups is None:
        return None

    def merit(count: int) -> float:
        product = 1.0
        for sequences in concurrency:
            product *= speedups.at(sequences, count)
        return product

    best = max(_counts(question), key=merit)
    return best if merit(best) > 1 else 0


def benefit_by_count(question: Question, concurrency: int) -> tuple[CountBenefit, ...]:
    """Return what each num_speculative_tokens brings with so many sequences at once."""
    case = case_of_question(question)
    counts = _counts(question)
    return benefits(
        case, question.acceptance, counts, concurrency, question.calibration
    )


def case_of_question(question: Question) -> Case | None:
    """Return the case of a question, ``None`` where a figure of the device is unknown."""
    return case_of(
        question.shape,
        question.serving,
        drafting_of(question.method, question.drafter),
        shipped_fit().constants,
    )


def _counts(question: Question) -> range:
    platform = question.serving.accelerator.platform
    return counts_of(question.method, platform, question.num_speculative_tokens)


def _break_even(
    question: Question, speedups: _Speedups | None, band: Band
) -> BreakEven:
    if speedups is None:
        return BreakEven(concurrency=None, low=None, high=None)
    return BreakEven(
        concurrency=_last_paying(question, speedups, 1.0),
        low=_last_paying(question, speedups, 1 + band.median),
        high=_last_paying(question, speedups, 1 - band.median),
    )


def _last_paying(question: Question, speedups: _Speedups, needed: float) -> int | None:
    """The highest concurrency whose speed-up reaches ``needed``; ``None`` beyond 4096.

    Mixtures can dip while their experts are still being filled, so the search runs from above.
    """
    count = question.num_speculative_tokens
    above = LARGEST_CONCURRENCY
    if speedups.at(above, count) >= needed:
        return None
    below = above // 2
    while below and speedups.at(below, count) < needed:
        above, below = below, below // 2
    while above - below > max(1, below // 32):
        middle = (above + below) // 2
        if speedups.at(middle, count) >= needed:
            below = middle
        else:
            above = middle
    return below


def _kind(question: Question) -> str:
    if question.acceptance.origin.kind == "assumed":
        return "assumed"
    return "measured" if question.calibration is not None else "published"


_KINDS = {
    "measured": text("measured"),
    "published": text("published"),
    "assumed": text("assumed"),
    "given": text("given"),
}


def _source(question: Question, fit: Fit) -> Text:
    origin = question.acceptance.origin
    if question.calibration is not None:
        time = text("measured here ({source})", source=question.calibration.source)
    else:
        time = text(
            "published, other hardware and engines ({rows} measurements of {sources} sources)",
            rows=fit.rows,
            sources=fit.sources,
        )
    return text(
        "Time: {time}. Acceptance: {kind}, {source}.",
        time=time,
        kind=_KINDS.get(origin.kind, origin.kind),
        source=origin.source,
    )


def _sentence(question: Question, case: Case | None, turning: BreakEven) -> Text:
    if case is None:
        return text(
            "No speed is predicted: bandwidth or peak of the device is not known."
        )
    reach = _reach(question)
    until = turning.concurrency
    if until == 0:
        return text("Speculation is not expected to pay at any concurrency.")
    if until is not None and until <= reach:
        return text(
            "Pays up to about {until} concurrent sequences; measure first above {low}.",
            until=until,
            low=turning.low or 0,
        )
    if reach == 0:
        return text(
            "Is estimated to pay; nothing published is like this case, so measure first."
        )
    if until is None:
        return text(
            "Pays at {reach} concurrent sequences, the most that anyone measured; the computed no "
            "break-even below 4096 is unchecked, so measure first above {reach}.",
            reach=reach,
        )
    return text(
        "Pays at {reach} concurrent sequences, the most that anyone measured; the computed "
        "break-even near {until} is unchecked, so measure first above {reach}.",
        reach=reach,
        until=until,
    )
