"""Prometheus: a scrape of an engine's metrics to speculative counters."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from deployments.planning.text import Text, text

LONGEST_LINE = 64 * 1024
NO_ENGINE = "-"

_SERIES = re.compile(
    r"\s{0,64}(?P<backend>vllm|llamacpp|sglang):(?P<name>[A-Za-z0-9_:]{1,200})"
    r"(?P<labels>\{)?"
)
_LABEL = re.compile(
    r"\s{0,8}(?P<name>[A-Za-z_]\w{0,200})\s{0,8}=\s{0,8}"
    r"\"(?P<value>(?:[^\"\\]|\\.)*)\"\s{0,8},?"
)
_VALUE = re.compile(r"\s{0,8}\|?\s{1,8}(?P<value>[+-]?[\d.]+(?:[eE][+-]?\d+)?)(?:\s|$)")
_ESCAPED = re.compile(r"\\(.)")
_BACKEND_NAMES = {"vllm": "vllm", "llamacpp": "llama.cpp", "sglang": "sglang"}
_COUNTERS = {
    "spec_decode_num_drafts": "num_drafts",
    "spec_decode_num_draft_tokens": "drafted",
    "spec_decode_num_accepted_tokens": "accepted",
    "spec_decode_num_accepted_tokens_per_pos": "per_position",
    "spec_decode_draft_acceptance_rate": "rate_gauge",
}
_LARGEST = 2.0**53


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCounters:
    """The counters of one engine since it started; ``None`` is not exported, never 0.

    ``per_position`` maps the zero-based draft position to its acceptance rate, or is empty.
    """

    model: str | None
    num_drafts: int | None
    drafted: int | None
    accepted: int | None
    acceptance_rate: float | None
    mean_acceptance_length: float | None
    num_speculative_tokens: int | None
    per_position: dict[str, float]
    accepted_per_position: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsTotals:
    """The sum over the engines of one model."""

    num_drafts: int | None
    drafted: int | None
    accepted: int | None
    acceptance_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsReading:
    """What a scrape says about speculation.

    ``speculation`` is ``False`` when the engine exports no speculative series: vLLM registers
    them at start when speculation is on. With several models ``totals`` is ``None``: their sum
    would be wrong for each of them. ``consistent`` is ``None`` when there is nothing to compare.
    """

    backend: str | None
    speculation: bool
    engines: dict[str, EngineCounters]
    totals: MetricsTotals | None
    consistent: bool | None
    notes: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One series of a scrape with its value."""

    backend: str
    name: str
    labels: dict[str, str]
    value: float


class _Engine:
    """Sums the series of one engine."""

    def __init__(self, model: str | None) -> None:
        self.model = model
        self.sums: dict[str, float] = {}
        self.positions: dict[int, float] = {}
        self.labelled: dict[int, float] = {}

    def add(self, kind: str, point: Point) -> None:
        position = point.labels.get("position", "")
        if kind == "per_position":
            if position.isdecimal():
                index = int(position[:6])
                self.positions[index] = self.positions.get(index, 0.0) + point.value
            return
        if kind == "accepted" and position.isdecimal():
            self.labelled[int(position[:6])] = point.value
        self.sums[kind] = self.sums.get(kind, 0.0) + point.value

    def count(self, kind: str) -> int | None:
        value = self.sums.get(kind)
        return None if value is None else int(value)


def read_metrics(exposition: str) -> MetricsReading:
    """Read Prometheus text, or a table of labels and values pasted from a query page.

    ``*_created`` series are times and are never counted. Sums run over every label but engine
    and model. Values beyond 2**53, ``NaN`` and infinities are left out and noted.
    """
    points, notes = _points(exposition)
    backends = {point.backend for point in points}
    relevant = [
        (kind, point)
        for point in points
        if (kind := _COUNTERS.get(point.name.removesuffix("_total"))) is not None
    ]
    engines = _engines(relevant)
    counters = {key: _counters(engine) for key, engine in engines.items()}
    several = len({engine.model for engine in engines.values()}) > 1
    consistent = _is_consistent(engines.values(), notes)
    if several:
        notes.append(
            text("Several models share this endpoint: their counters are not added up.")
        )
    return MetricsReading(
        backend=_BACKEND_NAMES[min(backends)] if len(backends) == 1 else None,
        speculation=bool(relevant),
        engines=counters,
        totals=None if several or not counters else _totals(engines, counters),
        consistent=consistent,
        notes=tuple(notes),
    )


def points_of(exposition: str) -> list[Point]:
    """Every readable series of an engine; times of creation, ``NaN`` and infinities left out."""
    return _points(exposition)[0]


def _points(exposition: str) -> tuple[list[Point], list[Text]]:
    points: list[Point] = []
    unreadable = 0
    for line in exposition.split("\n"):
        if "spec_decode" not in line and ":" not in line:
            continue
        series = _SERIES.match(line[:LONGEST_LINE])
        if series is None or series["name"].endswith("_created"):
            continue
        point = _point(series, line[:LONGEST_LINE])
        if point is not None:
            points.append(point)
        elif series["name"].removesuffix("_total") in _COUNTERS:
            unreadable += 1
    notes = (
        [text("{count} speculative series have no usable value.", count=unreadable)]
        if unreadable
        else []
    )
    return points, notes


def _point(series: re.Match[str], line: str) -> Point | None:
    labels: dict[str, str] = {}
    position = series.end()
    if series["labels"]:
        while label := _LABEL.match(line, position):
            labels[label["name"]] = _ESCAPED.sub(_unescaped, label["value"])
            position = label.end()
        if line[position : position + 1] != "}":
            return None
        position += 1
    value = _VALUE.match(line, position)
    try:
        number = float(value["value"]) if value else math.nan
    except ValueError:
        number = math.nan
    if not 0 <= number <= _LARGEST:
        return None
    return Point(series["backend"], series["name"], labels, number)


def _unescaped(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]


def _engines(relevant: list[tuple[str, Point]]) -> dict[str, _Engine]:
    models = {point.labels.get("model_name") for _, point in relevant}
    engines: dict[str, _Engine] = {}
    for kind, point in relevant:
        model = point.labels.get("model_name")
        index = point.labels.get("engine", NO_ENGINE)
        key = f"{model}/{index}" if len(models) > 1 else index
        engines.setdefault(key, _Engine(model)).add(kind, point)
    return engines


def _counters(engine: _Engine) -> EngineCounters:
    drafts, drafted = engine.count("num_drafts"), engine.count("drafted")
    accepted = engine.count("accepted")
    positions = engine.positions or engine.labelled
    complete = sorted(positions) == list(range(len(positions)))
    counts = [len(positions)] if complete and positions else []
    if drafts and drafted and drafted % drafts == 0:
        counts.append(drafted // drafts)
    return EngineCounters(
        model=engine.model,
        num_drafts=drafts,
        drafted=drafted,
        accepted=accepted,
        acceptance_rate=accepted / drafted
        if accepted is not None and drafted
        else engine.sums.get("rate_gauge"),
        mean_acceptance_length=1 + accepted / drafts
        if accepted is not None and drafts
        else None,
        num_speculative_tokens=max(counts, default=None),
        per_position={
            str(position): value / drafts
            for position, value in sorted(positions.items())
        }
        if drafts
        else {},
        accepted_per_position=tuple(
            int(value) for _, value in sorted(positions.items())
        )
        if complete
        else (),
    )


def _totals(
    engines: dict[str, _Engine], counters: dict[str, EngineCounters]
) -> MetricsTotals:
    drafts = _sum(value.num_drafts for value in counters.values())
    drafted = _sum(value.drafted for value in counters.values())
    accepted = _sum(value.accepted for value in counters.values())
    gauges = [
        engine.sums["rate_gauge"]
        for engine in engines.values()
        if "rate_gauge" in engine.sums
    ]
    rate = gauges[0] if len(gauges) == 1 else None
    if accepted is not None and drafted:
        rate = accepted / drafted
    return MetricsTotals(
        num_drafts=drafts, drafted=drafted, accepted=accepted, acceptance_rate=rate
    )


def _sum(values: Iterable[int | None]) -> int | None:
    """Return the sum of what every engine exports; ``None`` when one of them does not."""
    known = list(values)
    amounts = [value for value in known if value is not None]
    return sum(amounts) if amounts and len(amounts) == len(known) else None


def _is_consistent(engines: Iterable[_Engine], notes: list[Text]) -> bool | None:
    """Compare the counters with each other, as far as they are exported."""
    checks: list[bool] = []
    for engine in engines:
        accepted, drafted = engine.count("accepted"), engine.count("drafted")
        if accepted is not None and drafted is not None:
            checks.append(accepted <= drafted)
        complete = sorted(engine.positions) == list(range(len(engine.positions)))
        if accepted is not None and engine.positions and complete:
            checks.append(int(sum(engine.positions.values())) == accepted)
    if not checks:
        return None
    if not all(checks):
        notes.append(text("The speculative counters contradict each other."))
    return all(checks)
