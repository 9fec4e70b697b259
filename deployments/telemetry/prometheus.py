"""Prometheus: a scrape of an engine's metrics to speculative counters."""

from collections.abc import Iterable
from dataclasses import dataclass

from deployments.planning.text import Text, text
from deployments.telemetry.exposition import Exposition, Point, read_exposition

NO_ENGINE = "-"

_BACKEND_NAMES = {"vllm": "vllm", "llamacpp": "llama.cpp", "sglang": "sglang"}
_COUNTERS = {
    "spec_decode_num_drafts": "num_drafts",
    "spec_decode_num_draft_tokens": "drafted",
    "spec_decode_num_accepted_tokens": "accepted",
    "spec_decode_num_accepted_tokens_per_pos": "per_position",
    "spec_decode_draft_acceptance_rate": "rate_gauge",
}


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

    def forget(self) -> None:
        """Keep nothing: what was added cannot be told apart."""
        self.sums.clear()
        self.positions.clear()
        self.labelled.clear()

    def count(self, kind: str) -> int | None:
        value = self.sums.get(kind)
        return None if value is None else int(value)


def read_metrics(exposition: str) -> MetricsReading:
    """Read Prometheus text, a table pasted from a query page, or what a query answers as JSON.

    ``*_created`` series are times and are never counted. Sums run over every label but engine
    and model. Values beyond 2**53, ``NaN`` and infinities are left out and noted. A series that is
    there twice with one value counts once; with two values its engine has no figures, for nobody
    can tell two scrapes of it from two engines that look alike.
    """
    read = read_exposition(exposition)
    notes = _noted(read)
    backends = {point.backend for point in read.points}
    relevant, unlike = _once(read.points)
    engines = _engines(relevant)
    for key in _engines([("", point) for point in unlike]):
        engines[key].forget()
    counters = {key: _counters(engine) for key, engine in engines.items()}
    several = len({engine.model for engine in engines.values()}) > 1
    consistent = _is_consistent(engines.values(), notes)
    if unlike:
        notes.append(
            text(
                "The same series is there more than once with different figures: two scrapes, or "
                "two servers that look alike. Read one scrape at a time."
            )
        )
    if several:
        notes.append(
            text("Several models share this endpoint: their counters are not added up.")
        )
    return MetricsReading(
        backend=_BACKEND_NAMES[min(backends)] if len(backends) == 1 else None,
        speculation=bool(relevant),
        engines=counters,
        totals=None if several or not counters else _totals(engines, counters),
        consistent=False if unlike else consistent,
        notes=tuple(notes),
    )


def points_of(exposition: str) -> list[Point]:
    """Every readable series of an engine; times of creation, ``NaN`` and infinities left out."""
    return list(read_exposition(exposition).points)


def _noted(read: Exposition) -> list[Text]:
    """What the reader of the scrape should know about its series."""
    notes = []
    unreadable = sum(
        name.removesuffix("_total") in _COUNTERS for name in read.unreadable
    )
    if unreadable:
        notes.append(
            text("{count} speculative series have no usable value.", count=unreadable)
        )
    if read.nameless:
        notes.append(
            text(
                "The query left out the names of the series: ask for the counters themselves, "
                "without sum or rate."
            )
        )
    elif not read.points and not read.unreadable:
        notes.append(
            text(
                "No series of vLLM, SGLang or llama.cpp is in it: this is no scrape of an engine."
            )
        )
    return notes


def _once(points: Iterable[Point]) -> tuple[list[tuple[str, Point]], list[Point]]:
    """Every speculative series once with its kind, and those that are there with another value too."""
    first: dict[tuple[str, frozenset[tuple[str, str]]], tuple[str, Point]] = {}
    unlike: list[Point] = []
    for point in points:
        kind = _COUNTERS.get(point.name.removesuffix("_total"))
        if kind is None:
            continue
        same = first.setdefault((kind, frozenset(point.labels.items())), (kind, point))
        if same[1].value != point.value:
            unlike.append(point)
    return list(first.values()), unlike


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
