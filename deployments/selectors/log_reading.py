"""The answer to a log that somebody pasted or sent: what it is, and everything it says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from deployments.planning.failures.known import KNOWN_FAILURES
from deployments.planning.plan import Severity
from deployments.selectors.advice_words import sentence
from deployments.selectors.diagnoses import ShownDiagnosis, shown_diagnoses
from deployments.telemetry.logs.acceptance import AcceptanceRecord
from deployments.telemetry.logs.reader import LogReading, read_log
from deployments.telemetry.logs.visible import visible_text
from deployments.telemetry.prometheus import MetricsReading, read_metrics

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MOST_ROWS = 100
MOST_POINTS = 240
_SCRAPE = re.compile(
    rb"^\s{0,8}(?:# (?:HELP|TYPE) )?(?:vllm|sglang|llamacpp):[a-z]\w{2,120}(?:[{ ]|$)"
    rb"|^[^#\"'{}\n]{0,200}?\b(?:vllm|sglang|llamacpp):[a-z]\w{2,120}\{"
    rb"|\"__name__\"\s?:\s?\"(?:vllm|sglang|llamacpp):",
    re.MULTILINE,
)
_BENCHMARK = re.compile(
    rb"Serving Benchmark Result|\"output_throughput\"\s?:|\"mean_tpot_ms\"\s?:"
)
_LOOKED_AT = 256 * 1024
_OF_ASCEND = frozenset(
    one.code for one in KNOWN_FAILURES if one.platforms == ("ascend",)
)
OTHER_BACKENDS = {"sglang": "SGLang", "llama.cpp": "llama.cpp"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One acceptance line, when it was printed as far as that is known, and by whom."""

    record: AcceptanceRecord
    time: str
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAnswer:
    """What a log says; ``kind`` is ``log``, ``metrics`` or ``benchmark``."""

    kind: str
    tone: str
    sentence: "StrOrPromise"
    reading: LogReading | None = None
    metrics: MetricsReading | None = None
    diagnoses: tuple[ShownDiagnosis, ...] = ()
    rows: tuple[RecordRow, ...] = ()
    left_out: int = 0
    points: tuple[float | None, ...] = ()
    advice: tuple[str, ...] = ()
    asks_for_time: bool = False
    notes: tuple[str, ...] = ()
    platform: str = ""


def log_answer(
    data: bytes,
    platform: str = "",
    year: int | None = None,
    zone: timezone | None = None,
) -> LogAnswer:
    """Recognise what was sent, and read it."""
    head = data[:_LOOKED_AT]
    if len(_SCRAPE.findall(head)) > 1:
        return _of_metrics(data)
    reading = read_log(data)
    if _BENCHMARK.search(head) and not reading.records:
        return LogAnswer(
            kind="benchmark",
            tone="idle",
            sentence=_("This is the output of a benchmark."),
        )
    return _of_log(reading, platform, year, zone)


def _of_metrics(data: bytes) -> LogAnswer:
    metrics = read_metrics(data.decode("utf-8", "replace"))
    engines = metrics.engines.values()
    rates = [metrics.totals, *engines]
    if not metrics.speculation:
        said, tone = _("A scrape of metrics: speculation is off."), "idle"
    elif any(one and one.acceptance_rate is not None for one in rates):
        said, tone = _("A scrape of metrics, counted since the engine started."), "good"
    elif any(one.drafted == 0 for one in engines):
        said, tone = _("A scrape of metrics: nothing was drafted so far."), "idle"
    else:
        said, tone = _("A scrape of metrics without figures that can be used."), "idle"
    return LogAnswer(
        kind="metrics",
        tone=tone,
        sentence=said,
        metrics=metrics,
        notes=tuple(visible_text(str(note)) for note in metrics.notes),
    )


def _of_log(
    reading: LogReading, platform: str, year: int | None, zone: timezone | None
) -> LogAnswer:
    shown = shown_diagnoses(reading.diagnoses)
    if platform and not platform.startswith("ascend"):
        shown = tuple(one for one in shown if one.code not in _OF_ASCEND)
    tone, said = _verdict(reading, shown)
    records = reading.records
    advice = reading.advice
    return LogAnswer(
        kind="log",
        tone=tone,
        sentence=said,
        reading=reading,
        diagnoses=shown,
        rows=tuple(_row(one, year, zone) for one in records[-MOST_ROWS:]),
        left_out=max(0, len(records) - MOST_ROWS),
        points=_points([one.acceptance_rate for one in records]),
        advice=tuple(map(sentence, advice.statements)) if advice else (),
        asks_for_time=(year is None or zone is None)
        and any(one.log_time and not one.outer_time for one in records),
        platform=platform,
    )


def _verdict(
    reading: LogReading, shown: Sequence[ShownDiagnosis]
) -> tuple[str, "StrOrPromise"]:
    other = OTHER_BACKENDS.get(reading.backend or "")
    if other:
        return "idle", _(
            "This is a log of %(engine)s. The panel reads logs of vLLM and vllm-ascend."
        ) % {"engine": other}
    if any(one.severity is Severity.ERROR for one in shown):
        return "bad", _("Something is wrong; read the first cause first.")
    if any(one.severity is Severity.WARNING for one in shown):
        return "attention", _("It runs, with something to look at.")
    if reading.records:
        return "good", _("Drafts are accepted, and no known failure stands in it.")
    return "idle", _quiet(reading)


def _quiet(reading: LogReading) -> "StrOrPromise":
    """What a log without records and failures is."""
    if reading.startup.speculation is False:
        return _("The engine starts without speculation.")
    if reading.startup.speculation:
        return _("Speculation is on; no acceptance line stands in it yet.")
    if reading.backend is None:
        return _("No line of an engine that this panel knows stands in it.")
    return _("No known failure and no acceptance line stand in it.")


def _row(
    record: AcceptanceRecord, year: int | None, zone: timezone | None
) -> RecordRow:
    engine = f"engine {record.engine}" if record.engine is not None else ""
    process = f"{record.process} {record.pid}" if record.process else ""
    words = (visible_text(record.source or ""), process, engine)
    return RecordRow(
        record=record,
        time=_time(record, year, zone),
        origin=", ".join(filter(None, words)),
    )


def _time(record: AcceptanceRecord, year: int | None, zone: timezone | None) -> str:
    """The most exact time that is known: the runtime's, else the engine's with what was said."""
    if record.outer_time:
        return record.outer_time
    if record.log_time and year is not None:
        try:
            moment = datetime.strptime(
                f"{year}-{record.log_time}", "%Y-%m-%d %H:%M:%S"
            ).replace(tzinfo=zone)
        except ValueError:
            return record.log_time
        return moment.isoformat(sep=" ")
    return record.log_time or ""


def _points(rates: Sequence[float | None]) -> tuple[float | None, ...]:
    """At most as many points as the drawing has room for; each the mean of its share."""
    if len(rates) <= MOST_POINTS:
        return tuple(rates)
    step = len(rates) / MOST_POINTS
    shares = (
        [
            one
            for one in rates[int(place * step) : int((place + 1) * step)]
            if one is not None
        ]
        for place in range(MOST_POINTS)
    )
    return tuple(sum(share) / len(share) if share else None for share in shares)
