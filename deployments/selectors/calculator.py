"""The calculator's answer in the words and drawings of its page, and as rows of a file."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from deployments.models import TargetModel, User
from deployments.planning.calculation import Calculation, Inquiry
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.speedup.accelerators import find_accelerator
from deployments.planning.speedup.acceptance import SEED_REASON
from deployments.selectors.gains import kind_word, paying_sentence
from deployments.selectors.memory_bars import MemoryBar, memory_bars
from deployments.selectors.planning_inputs import catalog_entry
from deployments.selectors.speed_curves import (
    CountLine,
    CurvePoint,
    SpeedCurve,
    count_lines,
    curve_of_prediction,
)
from deployments.selectors.texts import say

INF = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatorAnswer:
    """What the page shows; ``curve`` is ``None`` where the model's size is unknown.

    ``here`` is the point of the workload's concurrency. ``unchecked`` is true where the computed
    break-even lies beyond what anybody measured. ``seed_reason`` says why the common rule of
    thumb, ``seed``, misleads. ``notes`` are what the numbers rest on and where they end.
    """

    sentence: str
    kind: str
    kind_word: str
    source: str
    count: int
    quantisation: str
    layout: str
    tokens_per_step: float | None
    curve: SpeedCurve | None
    here: CurvePoint | None
    unchecked: bool
    seed: float | None
    seed_reason: str
    counts: tuple[CountLine, ...]
    best_count: int | None
    bars: tuple[MemoryBar, ...]
    memory_refusal: str
    proposals: tuple[str, ...]
    closed: str
    notes: tuple[str, ...]


def visible_models(user: User) -> dict[str, str]:
    """Name by key of the models that the person may choose; one query."""
    rows = TargetModel.objects.for_user(user).order_by("name", "key")
    return {str(key): str(name) for key, name in rows.values_list("key", "name")}


def visible_entry(user: User, key: str) -> CatalogEntry | None:
    """The entry of that key, a team's own before the shipped one; one query."""
    rows = list(TargetModel.objects.for_user(user).filter(key=key))
    own_first = sorted(rows, key=lambda row: row.team_id is None)
    return catalog_entry(own_first[0]) if own_first else None


def calculator_answer(inquiry: Inquiry, found: Calculation) -> CalculatorAnswer:
    """Put a calculation into words."""
    speed, asked = found.prediction, inquiry.workload.concurrency
    curve = curve_of_prediction(speed, found.count, asked) if speed else None
    memory = found.memory
    bars = tuple(memory_bars([memory])) if memory is not None else ()
    lines = count_lines(found.counts, found.count)
    here = curve.at(asked) if curve else None
    return CalculatorAnswer(
        sentence=_sentence(found),
        kind=speed.kind if speed else "",
        kind_word=kind_word(speed.kind) if speed else "",
        source=say(speed.source) if speed else "",
        count=found.count,
        quantisation=found.quantisation,
        layout=_layout(found),
        tokens_per_step=speed.expected_tokens_per_step if speed else None,
        curve=curve,
        here=here,
        unchecked=curve is not None and (curve.break_even_high or INF) > curve.reach,
        seed=speed.seed_formula if speed else None,
        seed_reason=say(SEED_REASON),
        counts=lines,
        best_count=here.best_count if here else None,
        bars=bars,
        memory_refusal=say(found.memory_refusal),
        proposals=tuple(say(one) for one in memory.proposals) if memory else (),
        closed=say(found.closed),
        notes=tuple(_notes(inquiry, found)),
    )


def curve_rows(answer: CalculatorAnswer) -> Iterator[list[object]]:
    """The curve as rows of a CSV file; an empty cell is unknown."""
    yield [
        "num_speculative_tokens",
        "concurrency",
        "speedup",
        "low",
        "high",
        "best_num_speculative_tokens",
        "bound",
        "evidence",
    ]
    for one in answer.curve.points if answer.curve else ():
        numbers = [
            "" if value is None else f"{value:.3f}"
            for value in (one.speedup, one.low, one.high)
        ]
        best = "" if one.best_count is None else one.best_count
        evidence = answer.kind if one.low is not None else "estimate"
        yield [answer.count, one.concurrency, *numbers, best, one.bound, evidence]


def _sentence(found: Calculation) -> str:
    speed = found.prediction
    if speed is None:
        return _(
            "No speed is predicted: the catalog does not say how large this model is. Add its parameters to the entry."
        )
    return paying_sentence(
        speed.sentence,
        reach=speed.measured_up_to,
        until=speed.break_even.concurrency,
        known=any(one.speedup is not None for one in speed.curve),
    )


def _layout(found: Calculation) -> str:
    return _("tensor parallel %(tensor)s, data parallel %(data)s") % {
        "tensor": found.devices // found.data_parallel_size,
        "data": found.data_parallel_size,
    }


def _notes(inquiry: Inquiry, found: Calculation) -> Iterator[str]:
    speed, memory = found.prediction, found.memory
    if memory is not None and memory.sequences is not None:
        running = memory.sequences * memory.data_parallel_size
        if running < inquiry.workload.concurrency:
            yield _(
                "By memory and max_num_seqs %(running)s of %(asked)s requests run at once and the others wait, so read the curve at %(running)s."
            ) % {"running": running, "asked": inquiry.workload.concurrency}
    if speed is None:
        return
    yield from (say(one) for one in speed.warnings)
    if any(one.low is not None for one in speed.curve):
        yield _(
            "The band holds nine of ten measurements of %(rows)s published rows: %(ninety)s %% to each side, half of them within %(median)s %%."
        ) % {
            "rows": speed.band.rows,
            "ninety": round(100 * speed.band.ninety),
            "median": round(100 * speed.band.median),
        }
    if inquiry.device is not None:
        device = find_accelerator(inquiry.device)
        yield _("Figures of %(device)s: %(source)s.") % {
            "device": say(device.title),
            "source": say(device.source),
        }
