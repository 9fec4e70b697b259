"""Acceptance: one metric line of any vLLM version to a record, fields by name, not by position."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from deployments.telemetry.logs.fields import USUAL_FIELDS, Fields, read_fields
from deployments.telemetry.logs.lines import LogLine, parse_line

_MARKER = re.compile(r"(?P<name>SpecDecoding|Speculative) metrics:")
_AMOUNT = r"\d{1,3}(?:,\d{3}){1,4}|\d{1,15}"
"""An amount, with commas between thousands or without."""
_SEED = re.compile(
    rf"\baccepted (?P<accepted>{_AMOUNT}) / drafted (?P<drafted>{_AMOUNT})(?!\d|,\d)"
    r"(?: (?:=|\() ?(?P<rate>\d{1,3}(?:\.\d{1,6})?) ?%)?"
)
_QUOTED = re.compile("[\"'`]")
_USUAL = re.compile(
    rb"(?:\(([A-Za-z][\w-]{0,63}) pid=(\d{1,10})\) )?INFO (\d\d-\d\d \d\d:\d\d:\d\d) "
    rb"\[[\w-]{1,64}\.py:\d{1,6}\] SpecDecoding metrics:"
    + USUAL_FIELDS.encode()
    + rb"$"
)
"""The line that most engines print, in which nothing is missing, ``nan`` or cut off."""
COUNT_TOLERANCE = 0.03
LENGTH_TOLERANCE = 0.0051
LARGEST_COUNT = 1024


class RecordFormat(StrEnum):
    """Which program printed the line."""

    V0 = "v0"
    V1 = "v1"
    RUST = "rust"
    SEED = "seed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceRecord:
    """What one line says about accepted and drafted tokens; ``None`` is unknown, never 0.

    Rates are fractions. ``mean_acceptance_length`` comes from the counts and is ``None`` without
    them, ``acceptance_rate`` falls back to what is printed; the ``_printed`` values are as they
    stand in the line. A V0 record
    (``cumulative``) counts since the server started, all others count one window. ``window_s``
    is what the line itself implies: tokens over tokens per second.
    """

    line: int
    log_time: str | None
    outer_time: str | None
    source: str | None
    process: str | None
    pid: int | None
    format: RecordFormat
    accepted: int | None
    drafted: int | None
    emitted: int | None
    num_drafts: int | None
    acceptance_rate: float | None
    mean_acceptance_length: float | None
    acceptance_rate_printed: float | None
    mean_acceptance_length_printed: float | None
    per_position: tuple[float, ...] | None
    num_speculative_tokens: int | None
    accepted_tokens_per_s: float | None
    drafted_tokens_per_s: float | None
    window_s: float | None
    cumulative: bool
    truncated: bool
    engine: int | None = None


def parse_acceptance(text: str) -> AcceptanceRecord | None:
    """Read one line, with or without its prefixes.

    Knows V0 (to 0.9.2), every V1 shape (0.8.3 to 0.33), the Rust front end, and the seed
    document's ``accepted 2340 / drafted 3000 = 78.0%``, which no vLLM prints.
    """
    return acceptance_of(parse_line(text))


def acceptance_of(line: LogLine, engine: int | None = None) -> AcceptanceRecord | None:
    """Read a line that is already split into prefixes and message, as a line of this engine."""
    marker = "metrics:" in line.message and _MARKER.search(line.message)
    if marker and is_said(line, marker.start()):
        fields = read_fields(line.message[marker.end() :])
        if not fields.any_value:
            return None
        return _record(line, fields, marker["name"], engine)
    seed = " / drafted " in line.message and _SEED.search(line.message)
    if seed and is_said(line, seed.start()):
        return _seed_record(line, seed, engine)
    return None


def is_said(line: LogLine, place: int) -> bool:
    """Whether the engine itself says what stands there, and does not quote what somebody sent.

    An engine that logs its requests prints their text within quotes, and that can be a line of a log.
    """
    return line.level is None or not _QUOTED.search(line.message, 0, place)


def usual_record(
    raw: bytes,
    number: int,
    engines: Mapping[tuple[str | None, str | None, int | None], int | None],
) -> AcceptanceRecord | None:
    """The same for a raw line without any wrapper, in a quarter of the time.

    ``None`` for every line that is not of the usual form, which may be a record all the same.
    ``engines`` tells the engine by source, process and process id.
    """
    usual = _USUAL.match(raw)
    if usual is None:
        return None
    name, pid, time, length, accepted_tps, drafted_tps, taken, made, shares, rate = (
        usual.groups()
    )
    per_position = tuple(map(float, shares.split(b", ")))
    accepted, drafted, speed = int(taken), int(made), float(drafted_tps)
    drafts, rest = divmod(drafted, len(per_position))
    if rest or not drafts or not speed or name == b"RustFrontend":
        return None
    printed_length = float(length)
    if not _agrees(accepted / drafts, printed_length):
        return None
    process = name.decode() if name else None
    process_id = int(pid) if pid else None
    return AcceptanceRecord(
        line=number,
        log_time=time.decode(),
        outer_time=None,
        source=None,
        process=process,
        pid=process_id,
        format=RecordFormat.V1,
        accepted=accepted,
        drafted=drafted,
        emitted=None,
        num_drafts=drafts,
        acceptance_rate=accepted / drafted,
        mean_acceptance_length=1 + accepted / drafts,
        acceptance_rate_printed=float(rate) / 100,
        mean_acceptance_length_printed=printed_length,
        per_position=per_position,
        num_speculative_tokens=len(per_position),
        accepted_tokens_per_s=float(accepted_tps),
        drafted_tokens_per_s=speed,
        window_s=drafted / speed,
        cumulative=False,
        truncated=False,
        engine=engines.get((None, process, process_id)),
    )


def _record(
    line: LogLine, fields: Fields, name: str, engine: int | None
) -> AcceptanceRecord:
    kind = _format(line, fields, name)
    percent = name == "SpecDecoding"
    rate = fields.number("rate")
    rate = rate / 100 if rate is not None and percent else rate
    length = fields.number("length")
    accepted, drafted = fields.count("accepted"), fields.count("drafted")
    count = (
        None if fields.truncated else _count(fields, length, accepted, drafted, rate)
    )
    v0 = kind is RecordFormat.V0
    drafts = (
        _num_drafts(fields, accepted, drafted, count, None if v0 else length)
        if drafted and count
        else None
    )
    emitted = fields.count("emitted")
    if v0:
        exact_length = emitted / drafts if emitted is not None and drafts else None
    elif accepted is not None and drafts:
        exact_length = 1 + accepted / drafts
    else:
        exact_length = length if drafted else None
    exact_rate = accepted / drafted if accepted is not None and drafted else None
    if drafted == 0:
        rate = None
    return AcceptanceRecord(
        line=line.number,
        log_time=line.log_time,
        outer_time=line.outer_time,
        source=line.source,
        process=line.process,
        pid=line.pid,
        format=kind,
        accepted=accepted,
        drafted=drafted,
        emitted=emitted,
        num_drafts=drafts,
        acceptance_rate=rate if exact_rate is None else exact_rate,
        mean_acceptance_length=exact_length,
        acceptance_rate_printed=rate,
        mean_acceptance_length_printed=length,
        per_position=fields.positions,
        num_speculative_tokens=count,
        accepted_tokens_per_s=fields.number("accepted_tps"),
        drafted_tokens_per_s=fields.number("drafted_tps"),
        window_s=_window(fields, accepted, drafted),
        cumulative=v0,
        truncated=fields.truncated,
        engine=engine,
    )


def _format(line: LogLine, fields: Fields, name: str) -> RecordFormat:
    if name == "Speculative":
        v0 = fields.has("efficiency") or fields.has("emitted") or fields.has("count")
        return RecordFormat.V0 if v0 or fields.truncated else RecordFormat.V1
    rust = line.process == "RustFrontend" or ".rs:" in (line.place or "")
    return RecordFormat.RUST if rust else RecordFormat.V1


def _count(
    fields: Fields,
    length: float | None,
    accepted: int | None,
    drafted: int | None,
    rate: float | None,
) -> int | None:
    """Return num_speculative_tokens: printed, else positions, else from length and rate."""
    printed = fields.count("count") or fields.count("depth")
    if printed:
        return printed
    if fields.positions:
        return len(fields.positions)
    if accepted is not None and drafted:
        rate = accepted / drafted
    if length is None or not rate:
        return None
    value = (length - 1) / rate
    nearest = round(value)
    near = abs(value - nearest) <= COUNT_TOLERANCE
    return nearest if near and 1 <= nearest <= LARGEST_COUNT else None


def _num_drafts(
    fields: Fields,
    accepted: int | None,
    drafted: int,
    count: int,
    length: float | None,
) -> int | None:
    """Return drafted / count, or what the per-position rates say where drafts were short.

    n-gram and suffix drafts may be shorter than the count. Then drafted / count is no integer
    or disagrees with the printed length, and accepted / sum of the position rates is right.
    """
    if drafted % count == 0:
        drafts = drafted // count
        if accepted is None or _agrees(accepted / drafts, length):
            return drafts
    total = sum(fields.positions or ())
    return round(accepted / total) if accepted and total else None


def _agrees(extra: float, length: float | None) -> bool:
    """Whether a printed length fits: with the bonus token, or without it as in 0.8.5."""
    if length is None:
        return True
    return min(abs(1 + extra - length), abs(extra - length)) <= LENGTH_TOLERANCE


def _window(fields: Fields, accepted: int | None, drafted: int | None) -> float | None:
    for amount, speed in ((drafted, "drafted_tps"), (accepted, "accepted_tps")):
        per_second = fields.number(speed)
        if amount and per_second:
            return amount / per_second
    return None


def _seed_record(
    line: LogLine, seed: re.Match[str], engine: int | None
) -> AcceptanceRecord:
    accepted, drafted = (
        int(seed[name].replace(",", "")) for name in ("accepted", "drafted")
    )
    return AcceptanceRecord(
        line=line.number,
        log_time=line.log_time,
        outer_time=line.outer_time,
        source=line.source,
        process=line.process,
        pid=line.pid,
        format=RecordFormat.SEED,
        accepted=accepted,
        drafted=drafted,
        emitted=None,
        num_drafts=None,
        acceptance_rate=accepted / drafted if drafted else None,
        mean_acceptance_length=None,
        acceptance_rate_printed=float(seed["rate"]) / 100 if seed["rate"] else None,
        mean_acceptance_length_printed=None,
        per_position=None,
        num_speculative_tokens=None,
        accepted_tokens_per_s=None,
        drafted_tokens_per_s=None,
        window_s=None,
        cumulative=False,
        truncated=False,
        engine=engine,
    )
