"""Reader: a whole log to records, totals, the offline summary, start-up facts and diagnoses."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from deployments.telemetry.acceptance_history import counts_of_record, total
from deployments.telemetry.advice import Advice, advise
from deployments.telemetry.diagnosis import Diagnoser, Diagnosis
from deployments.telemetry.diagnosis.acceptance_signs import diagnose_records
from deployments.telemetry.diagnosis.matching import anchors_of
from deployments.telemetry.logs.acceptance import AcceptanceRecord, acceptance_of
from deployments.telemetry.logs.lines import LONGEST_LINE_BYTES, LogLine, read_lines
from deployments.telemetry.logs.scanning import (
    LARGE_BYTES,
    blocks_of,
    is_plain,
    scan,
)
from deployments.telemetry.logs.searching import any_of
from deployments.telemetry.logs.startup import StartupFacts, StartupReader
from deployments.telemetry.logs.summary import OfflineSummary, SummaryReader

MOST_WRAPPED_LINES = 6

_ENGINE = re.compile(r"\bEngine (?P<index>\d{1,6}): ")
_AGGREGATED = re.compile(r"\d{1,6} Engines Aggregated: ")
_METRIC = re.compile(r"(?:SpecDecoding|Speculative) metrics:")
_WRAPPED = re.compile(
    r"\s{0,64}(?:Mean acceptance length|Accepted|Drafted|Per-position|Avg Draft|Draft acceptance"
    r"|System efficiency|Number of|Current speculative depth|tokens|throughput|acceptance|length"
    r"|rate|position|\d{1,12}(?:\.\d{1,6})?(?:%|,| tokens|$))"
)
_COMPLETE = re.compile(r"Draft acceptance rate: (?:\d{1,3}(?:\.\d{1,3})?|nan)%\s*$")
_BACKENDS = (
    ("sglang", re.compile(r"Decode batch, #running-req|\bsglang\b")),
    (
        "llama.cpp",
        re.compile(r"llama_|slot print_timing|llamacpp:|draft acceptance = "),
    ),
    ("vllm", re.compile(r"\bvllm\b|\bvLLM\b|metrics\.py:\d|loggers\.py:\d")),
)
_BACKEND_WORDS = {
    "sglang": ("Decode batch, #running-req", "sglang"),
    "llama.cpp": ("llama_", "slot print_timing", "llamacpp:", "draft acceptance = "),
    "vllm": ("vllm", "vLLM", "metrics.py:", "loggers.py:"),
}
_ALWAYS = (
    "metrics:",
    "Engine ",
    "Engines Aggregated",
    "LLM engine (v",
    "speculative decoding with method",
    " / drafted ",
    "num_drafts",
    "num_draft_tokens",
    "num_accepted_tokens",
    "mean acceptance length",
    "acceptance at token",
)
_BANNER = "version "
_PRECEDENCE = tuple(name for name, _ in _BACKENDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTotals:
    """The sum over all windows; everything is ``None`` without windows (V0 only, no records)."""

    accepted: int | None = None
    drafted: int | None = None
    acceptance_rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """Everything that a log says about speculation."""

    backend: str | None
    startup: StartupFacts
    records: tuple[AcceptanceRecord, ...]
    summary: OfflineSummary | None
    totals: LogTotals
    diagnoses: tuple[Diagnosis, ...]
    advice: Advice | None


class _Reader:
    def __init__(self) -> None:
        self.records: list[AcceptanceRecord] = []
        self.startup = StartupReader()
        self.summary = SummaryReader()
        self.diagnoser = Diagnoser()
        self.backends: set[str] = set()
        self._engines: dict[tuple[str | None, str | None, int | None], int | None] = {}
        self._open: LogLine | None = None
        self._wrapped = 0
        self._is_vllm = False
        self._state: tuple[frozenset[str], frozenset[str], tuple[str, ...]] | None = (
            None
        )
        self._matters: Callable[[str], bool] = bool

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to the last one."""
        return self._open is not None

    @property
    def matters(self) -> Callable[[str], bool]:
        """Whether a text may hold something that is not known yet."""
        known = frozenset(_BACKEND_WORDS) if self._is_vllm else frozenset(self.backends)
        versions = () if self.startup.facts.engine_version else (_BANNER,)
        state = (self.diagnoser.open, known, versions)
        if state != self._state:
            self._state, self._matters = state, _words_of(*state)
        return self._matters

    def skipped(self, message: str) -> None:
        """Be told the line before the next one; a validation error names its field there."""
        self.diagnoser.after(message)

    def read(self, line: LogLine) -> None:
        """Take one line."""
        if self._continues(line):
            return
        self.finish()
        if _METRIC.search(line.message):
            self._open, self._wrapped = line, 0
            return
        self._engine(line)
        self.startup.read(line)
        self.summary.read(line.message)
        self.diagnoser.read(line)
        self._backend(line)
        self._add(line)

    def finish(self) -> None:
        """Turn the metric line that is still open into a record."""
        if self._open is not None:
            line, self._open = self._open, None
            self._add(line)

    def _continues(self, line: LogLine) -> bool:
        """Join a line that a terminal or an author wrapped to the metric line before it."""
        begun = self._open
        if begun is None or line.has_header or self._wrapped >= MOST_WRAPPED_LINES:
            return False
        if _COMPLETE.search(begun.message) or not _WRAPPED.match(line.message):
            return False
        joined = f"{begun.message.rstrip()} {line.message.strip()}"
        self._open = replace(begun, message=joined[:LONGEST_LINE_BYTES])
        self._wrapped += 1
        return True

    def _add(self, line: LogLine) -> None:
        record = acceptance_of(line)
        if record is not None:
            engine = self._engines.get((line.source, line.process, line.pid))
            self.records.append(replace(record, engine=engine))

    def _engine(self, line: LogLine) -> None:
        key = (line.source, line.process, line.pid)
        engine = _ENGINE.match(line.message)
        if engine:
            self._engines[key] = int(engine["index"])
        elif _AGGREGATED.match(line.message):
            self._engines[key] = None

    def _backend(self, line: LogLine) -> None:
        """Collect signs of a backend; vLLM's own prefix settles it."""
        if self._is_vllm:
            return
        if line.place and line.process:
            self._is_vllm = True
            self.backends.add("vllm")
            return
        self.backends |= {name for name, sign in _BACKENDS if sign.search(line.message)}


def read_log(data: bytes) -> LogReading:
    """Read a whole log; any bytes are allowed, the time taken grows with their number only."""
    if len(data) > LARGE_BYTES and is_plain(data):
        return read_blocks(blocks_of(data))
    reader = _Reader()
    for line in read_lines(data):
        reader.read(line)
    return _reading(reader)


def read_blocks(blocks: Iterable[bytes]) -> LogReading:
    """Read a log that comes in pieces and is plain, in constant memory apart from its records."""
    reader = _Reader()
    scan(reader, blocks)
    return _reading(reader)


@lru_cache(maxsize=256)
def _words_of(
    codes: frozenset[str], known_backends: frozenset[str], more: tuple[str, ...]
) -> Callable[[str], bool]:
    """Whether a text holds a word that matters while these are looked for."""
    words = [*_ALWAYS, *anchors_of(codes)]
    for name, signs in _BACKEND_WORDS.items():
        if name not in known_backends:
            words += signs
    return any_of([*words, *more])


def _reading(reader: _Reader) -> LogReading:
    """What was read, put together."""
    reader.finish()
    records = tuple(reader.records)
    diagnoses = reader.diagnoser.diagnoses + diagnose_records(
        records, reader.startup.facts.method
    )
    return LogReading(
        backend=_backend(reader, records),
        startup=reader.startup.facts,
        records=records,
        summary=reader.summary.summary,
        totals=_totals(records),
        diagnoses=diagnoses,
        advice=_advice(reader.startup.facts, records),
    )


def _advice(facts: StartupFacts, records: Sequence[AcceptanceRecord]) -> Advice | None:
    """Judge all windows together, if the log names the method."""
    windows = [counts for record in records if (counts := counts_of_record(record))]
    if not windows or facts.method is None:
        return None
    return advise(facts.method, facts.num_speculative_tokens, total(windows))


def _backend(reader: _Reader, records: Sequence[AcceptanceRecord]) -> str | None:
    if records or reader.startup.facts.line is not None:
        return "vllm"
    return next((name for name in _PRECEDENCE if name in reader.backends), None)


def _totals(records: Sequence[AcceptanceRecord]) -> LogTotals:
    windows = [record for record in records if not record.cumulative]
    accepted = [record.accepted for record in windows if record.accepted is not None]
    drafted = [record.drafted for record in windows if record.drafted is not None]
    both = [
        (record.accepted, record.drafted)
        for record in windows
        if record.accepted is not None and record.drafted is not None
    ]
    known_drafted = sum(amount for _, amount in both)
    return LogTotals(
        accepted=sum(accepted) if accepted else None,
        drafted=sum(drafted) if drafted else None,
        acceptance_rate=sum(amount for amount, _ in both) / known_drafted
        if known_drafted
        else None,
    )
