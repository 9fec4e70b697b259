"""Reader: a whole log to records, totals, the offline summary, start-up facts and diagnoses."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from deployments.telemetry.acceptance_history import counts_of_record, total
from deployments.telemetry.advice import Advice, advise
from deployments.telemetry.diagnosis import Diagnoser, Diagnosis
from deployments.telemetry.diagnosis.acceptance_signs import diagnose_records
from deployments.telemetry.diagnosis.matching import ALL_CODES, anchors_of
from deployments.telemetry.logs.acceptance import (
    AcceptanceRecord,
    acceptance_of,
    usual_record,
)
from deployments.telemetry.logs.lines import (
    LONGEST_LINE_BYTES,
    LogLine,
    lines_of_blocks,
)
from deployments.telemetry.logs.scanning import (
    BLOCK_BYTES,
    LARGE_BYTES,
    ORDINARY,
    blocks_of,
    is_plain,
    scan,
)
from deployments.telemetry.logs.searching import (
    AT_ONCE,
    Search,
    any_of,
    any_of_few,
    fragments_beside,
    fragments_of,
)
from deployments.telemetry.logs.startup import StartupFacts, StartupReader
from deployments.telemetry.logs.summary import OfflineSummary, SummaryReader
from deployments.telemetry.logs.wrapping import is_metric, joined_with

MOST_WRAPPED_LINES = 10
MOST_FRAGMENTS = 2 * AT_ONCE
"""More are found in more than two passes."""
MOST_VAIN = 8
"""Lines that come often and say nothing are passed over; so many different ones."""

_ENGINE = re.compile(r"\bEngine (?P<index>\d{1,6}): ")
_ENGINE_LINE = re.compile(
    rb"(?:\((?P<process>[A-Za-z][\w-]{0,63}) pid=(?P<pid>\d{1,10})\) )?INFO "
    rb"\d\d-\d\d \d\d:\d\d:\d\d \[[\w./-]{1,128}:\d{1,6}\] Engine (?P<index>\d{1,6}): [ -~]*$"
)
_AGGREGATED = re.compile(r"\d{1,6} Engines Aggregated: ")
_LAST = "Draft acceptance rate: "
_COMPLETE = re.compile(rf"{_LAST}(?:\d{{1,3}}(?:\.\d{{1,3}})?|nan)%\s*$")
_WHOLE = re.compile(_COMPLETE.pattern.encode())
_BACKENDS = (
    (
        "sglang",
        re.compile(
            r"Decode batch[,.] #running-req|Prefill batch[,.] #new-seq"
            r"|server_args=ServerArgs\(|\bsglang\b"
        ),
    ),
    (
        "llama.cpp",
        re.compile(r"llama_|slot print_timing|llamacpp:|draft acceptance (?:rate )?= "),
    ),
    ("vllm", re.compile(r"\bvllm\b|\bvLLM\b|metrics\.py:\d|loggers\.py:\d")),
)
_BACKEND_WORDS = {
    "sglang": (
        "Decode batch, #running-req",
        "Decode batch. #running-req",
        "Prefill batch, #new-seq",
        "Prefill batch. #new-seq",
        "server_args=ServerArgs(",
        "sglang",
    ),
    "llama.cpp": (
        "llama_",
        "slot print_timing",
        "llamacpp:",
        "draft acceptance = ",
        "draft acceptance rate = ",
    ),
    "vllm": ("vllm", "vLLM", "metrics.py:", "loggers.py:"),
}
_FIGURES = ("metrics:", "Engine ")
"""Words of the lines that come again and again."""
_SAID = (
    "Engines Aggregated: ",
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
        self.is_open = False
        self.vain: Sequence[bytes] = ()
        self._engines: dict[tuple[str | None, str | None, int | None], int | None] = {}
        self._open: LogLine | None = None
        self._wrapped = 0
        self._is_vllm = False
        self._state = self._now()
        self._fragments = _fragments()
        self.figures: Sequence[bytes] = tuple(word.encode() for word in _FIGURES)
        self.has_figures = any_of(_FIGURES)
        self._look_for()

    def _now(self) -> tuple[frozenset[str], frozenset[str], tuple[str, ...]]:
        """What is looked for: failures, backends but those that are known, other words."""
        known = frozenset(_BACKEND_WORDS) if self._is_vllm else frozenset(self.backends)
        more = () if self.startup.facts.engine_version else (_BANNER,)
        return self.diagnoser.open, known, more

    def _look_for(self) -> None:
        said = _words_of(*self._state)
        self.matters, self._speaks = _searches_of(said)
        self.may_speak = any_of_few({self._fragments[word] for word in said})

    def may_go_on(self, line: bytes) -> bool:
        """Whether lines after this one may belong to it."""
        if b"metrics:" not in line:
            return False
        place = line.rfind(_LAST.encode())
        return place < 0 or b"\r" in line[:place] or not _WHOLE.match(line, place)

    def read_figures(self, line: bytes, number: int) -> bool:
        """Take a line in its usual form: a window, or an engine's, which says whose come next."""
        if self.is_open or not self._is_vllm:
            return False
        engine = _ENGINE_LINE.match(line)
        if engine is None:
            record = usual_record(line, number, self._engines)
            if record is not None:
                self.records.append(record)
            return record is not None
        process, pid, index = engine.groups()
        key = (None, process.decode(), int(pid)) if process else (None, None, None)
        self._engines[key] = int(index)
        return True

    def learn(self, lines: Sequence[bytes]) -> None:
        """Look for other pieces of the words that these lines hold pieces of."""
        text = b"\n".join(lines).decode("utf-8", "replace")
        fragments = fragments_beside(self._fragments, text, ORDINARY)
        if len(set(fragments.values())) <= MOST_FRAGMENTS:
            self._fragments = fragments
            self._look_for()

    def skipped(self, message: str) -> None:
        """Be told the line before the next one; a validation error names its field there."""
        self.diagnoser.after(message)

    def read(self, line: LogLine) -> None:
        """Take one line."""
        if self._continues(line):
            return
        self.finish()
        if is_metric(line):
            if _is_complete(line.message):
                self._add(line)
            else:
                self._open, self._wrapped, self.is_open = line, 0, True
            return
        self._engine(line)
        if not self._is_vllm:
            self._backend(line)
        if not self._speaks(line.message):
            self.diagnoser.after(line.message)
            return
        self.startup.read(line)
        self.summary.read(line.message)
        often = len(self.diagnoser.often)
        self.diagnoser.read(line)
        if len(self.diagnoser.often) > often:
            self._pass_over(line)
        self._add(line)
        state = self._now()
        if state != self._state:
            self._state = state
            self._look_for()

    def _pass_over(self, line: LogLine) -> None:
        """Look no more at a line that says nothing, wherever it says the same in the same place."""
        other = (*_SAID, *_FIGURES, _BANNER)
        if line.place and not any(word in line.message for word in other):
            said = f"[{line.place}] {line.message}\n".encode()
            self.vain = (*self.vain, said)[:MOST_VAIN]

    def finish(self) -> None:
        """Turn the metric line that is still open into a record."""
        if self._open is not None:
            line, self._open, self.is_open = self._open, None, False
            self._add(line)

    def _continues(self, line: LogLine) -> bool:
        """Join a line that a terminal or an author wrapped to the metric line before it."""
        begun = self._open
        if begun is None or line.has_header or self._wrapped >= MOST_WRAPPED_LINES:
            return False
        if _is_complete(begun.message):
            return False
        joined = joined_with(begun.message, line.message)
        if joined is None:
            return False
        self._open = replace(begun, message=joined[:LONGEST_LINE_BYTES])
        self._wrapped += 1
        return True

    def _add(self, line: LogLine) -> None:
        engine = self._engines.get((line.source, line.process, line.pid))
        record = acceptance_of(line, engine)
        if record is not None:
            self.records.append(record)

    def _engine(self, line: LogLine) -> None:
        key = (line.source, line.process, line.pid)
        engine = _ENGINE.match(line.message)
        if engine:
            self._engines[key] = int(engine["index"])
        elif _AGGREGATED.match(line.message):
            self._engines[key] = None

    def _backend(self, line: LogLine) -> None:
        """Collect signs of a backend; vLLM's own prefix settles it."""
        if line.place and line.process:
            self._is_vllm = True
            self.backends.add("vllm")
            return
        self.backends |= {name for name, sign in _BACKENDS if sign.search(line.message)}


def _is_complete(message: str) -> bool:
    """Whether a metric line ends with its last field, so that nothing of it can follow."""
    place = message.rfind(_LAST)
    return place >= 0 and _COMPLETE.match(message, place) is not None


def read_log(data: bytes) -> LogReading:
    """Read a whole log; any bytes are allowed, the time taken grows with their number only."""
    return read_blocks(blocks_of(data))


def read_blocks(blocks: Iterable[bytes], *, scanned: bool | None = None) -> LogReading:
    """Read a log that comes in pieces of any size, in constant memory apart from its records.

    A large log whose beginning is plain is ``scanned``; of any other one every line is read.
    """
    source = iter(blocks)
    head = b""
    while len(head) < BLOCK_BYTES and (block := next(source, None)) is not None:
        head += block
    if scanned is None:
        scanned = len(head) > LARGE_BYTES and is_plain(head)
    reader, whole = _Reader(), chain((head,), source)
    if scanned:
        scan(reader, whole)
    else:
        for line in lines_of_blocks(whole):
            reader.read(line)
    return _reading(reader)


def _words_of(
    codes: frozenset[str], known_backends: frozenset[str], more: tuple[str, ...]
) -> tuple[str, ...]:
    """Words that matter, but those of figures."""
    said = [*_SAID, *anchors_of(codes)]
    for name, signs in _BACKEND_WORDS.items():
        if name not in known_backends:
            said += signs
    return (*said, *more)


@lru_cache(maxsize=256)
def _searches_of(said: tuple[str, ...]) -> tuple[Search, Search]:
    """Whether a text holds figures or one of the words; whether it holds one of the words."""
    return any_of([*_FIGURES, *said]), any_of(said)


@lru_cache(maxsize=1)
def _fragments() -> dict[str, str]:
    """A piece of every word that is ever looked for, but of figures."""
    backends = (word for signs in _BACKEND_WORDS.values() for word in signs)
    words = {*_SAID, *anchors_of(ALL_CODES), *backends, _BANNER}
    return fragments_of(words, ORDINARY)


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
    if facts.method is None:
        return None
    windows = [counts for record in records if (counts := counts_of_record(record))]
    if not windows:
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
