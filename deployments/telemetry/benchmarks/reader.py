"""Reader: the bytes of a file, an upload or a paste to the runs in it."""

import re
from collections.abc import Iterator

from deployments.planning.text import Text, text
from deployments.telemetry.benchmarks.errors import BenchmarkError
from deployments.telemetry.benchmarks.json_results import (
    cut_result,
    first_value,
    parsed,
    results,
)
from deployments.telemetry.benchmarks.table import MOST_RUNS, tables
from deployments.telemetry.benchmarks.values import (
    BenchmarkRun,
    Found,
    built,
    number,
)
from deployments.telemetry.logs.lines import (
    LONGEST_LINE_BYTES,
    read_lines,
    without_escapes,
)

LARGEST_BYTES = 64 * 1024 * 1024
"""A file of ``--save-detailed`` with 1,000 prompts of 1,000 tokens is about 25 MB."""

MOST_LINES = 500_000
"""A server's log of the same size has fewer; a paste of bare line ends must not cost seconds."""

_LONGEST_PASTE = 5_000
_MOST_JSON_LINES = 50_000
_MOST_JSON_STARTS = 50
_OLD_SCRIPT = b"benchmark_serving.py"
_MARK = re.compile(rb"[:#]|==|Namespace\(")
"""Stands in every line that a table is made of."""

_JSON_MARK = re.compile(rb'"log"|throughput|_ms')


def read_benchmark(data: bytes) -> tuple[BenchmarkRun, ...]:
    """Read every result in a file: printed tables, a JSON file, JSON lines, or a log with them.

    Raises:
        BenchmarkError: there is none, or the file is too large or has too many lines.
    """
    if len(data) > LARGEST_BYTES:
        raise BenchmarkError(
            text(
                "The result is larger than {limit} MiB: run the benchmark without --save-detailed, or keep only the result block.",
                limit=LARGEST_BYTES // 1024**2,
            )
        )
    data = _utf8(data)
    found = _whole_file(data)
    if not found and data.count(b"\n") > MOST_LINES and data.strip():
        raise BenchmarkError(
            text(
                "The result has more than {limit} lines: keep only the result block, or give the JSON file that --save-result writes.",
                limit=f"{MOST_LINES:,}",
            )
        )
    if not found and data.strip():
        found = _mixed(data)
    if not found:
        raise BenchmarkError(_nothing(data))
    if len(found) > MOST_RUNS:
        raise BenchmarkError(
            text(
                "There are more than {limit} results in the file: compare fewer at a time.",
                limit=MOST_RUNS,
            )
        )
    return tuple(built(fields) for fields in _without_repeats(found))


def _utf8(data: bytes) -> bytes:
    """PowerShell writes redirected output as UTF-16 with a byte order mark."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(b"\xef\xbb\xbf")


def _whole_file(data: bytes) -> list[dict[str, Found]]:
    """The results of a file that is JSON and nothing else."""
    if data[:4096].lstrip()[:1] not in {b"{", b"["}:
        return []
    value = parsed(data.decode("utf-8", "replace"))
    return results(value) if value is not None else []


def _mixed(data: bytes) -> list[dict[str, Found]]:
    """Tables and JSON lines among other output, then JSON that was pasted or cut."""
    kept: list[bytes] = []
    pieces: list[bytes] = []
    found: list[dict[str, Found]] = []
    for raw in data.split(b"\n"):
        value = _json_line(raw)
        said = value.get("log") if isinstance(value, dict) else None
        if isinstance(said, str):
            # Docker's json-file driver: a line under this key, or 16 KiB of one.
            pieces.append(said.encode("utf-8", "replace"))
            if said.endswith("\n"):
                kept.append(_line_of(pieces))
        elif value is not None and (several := results(value)):
            found += several
        else:
            if pieces:
                kept.append(_line_of(pieces))
            kept.append(raw)
    if pieces:
        kept.append(_line_of(pieces))
    tables_found = tables(_pieces(kept))
    messages = [line.message for line in read_lines(_from_json(kept))]
    return tables_found + found + _pasted(messages, cut=not (tables_found or found))


def _pieces(lines: list[bytes]) -> Iterator[str]:
    """Lines as a terminal would show them; a progress bar ends each of its states with CR.

    Prefixes stay: to the log reader ``Mean TTFT (`` is a pod and its container.
    """
    for raw in lines:
        if not _MARK.search(raw):
            continue
        shown = raw[:LONGEST_LINE_BYTES].decode("utf-8", "replace")
        for piece in shown.split("\r"):
            yield without_escapes(piece)


def _from_json(lines: list[bytes]) -> bytes:
    """The lines from the first one that may begin JSON; no more than one result can need."""
    starts = (place for place, raw in enumerate(lines) if b"{" in raw or b"[" in raw)
    start = next(starts, len(lines))
    return b"\n".join(lines[start : start + _MOST_JSON_LINES])


def _json_line(raw: bytes) -> object | None:
    """The value of a line of JSON; ``None`` for every other line."""
    line = raw.strip()
    if line[:1] != b"{" or line[-1:] != b"}":
        return None
    if not _JSON_MARK.search(line):
        return None
    return parsed(line.decode("utf-8", "replace"))


def _line_of(pieces: list[bytes]) -> bytes:
    """The line that these pieces are, which are used up."""
    line = b"".join(pieces).removesuffix(b"\n")
    pieces.clear()
    return line


def _pasted(messages: list[str], *, cut: bool) -> list[dict[str, Found]]:
    """JSON that begins at a line of its own, behind whatever prefix the line has."""
    starts = [
        place
        for place, message in enumerate(messages)
        if message.lstrip()[:1] in {"{", "["}
    ]
    found: list[dict[str, Found]] = []
    end = 0
    for start in starts[:_MOST_JSON_STARTS]:
        if start < end:
            continue
        value, lines = first_value(messages[start : start + _LONGEST_PASTE])
        if value is not None and (several := results(value)):
            found += several
            end = start + lines
    if not found and cut and starts:
        rest = cut_result("\n".join(messages[starts[0] :]))
        found = [rest] if rest else []
    return found


def _without_repeats(found: list[dict[str, Found]]) -> list[dict[str, Found]]:
    """A log may hold the table and the JSON of one run: JSON has more digits, so it stays."""
    written = {_mark(fields) for fields in found if fields.get("source") == "json"}
    return [
        fields
        for fields in found
        if fields.get("source") == "json" or _mark(fields) not in written
    ]


def _mark(fields: dict[str, Found]) -> tuple[float | None, ...]:
    """What tells runs apart, in the digits of the table; a run without a duration is its own."""
    duration = number(fields, "duration_s")
    if duration is None:
        return (float(id(fields)),)
    return (
        round(duration, 2),
        number(fields, "generated_tokens"),
        round(number(fields, "output_tokens_per_s") or 0, 2),
    )


def _nothing(data: bytes) -> Text:
    if (
        _OLD_SCRIPT in data[: 1024 * 1024]
        and b"vllm bench serve" in data[: 1024 * 1024]
    ):
        return text(
            "The script {script} of this version only says that it has moved: run “vllm bench serve” with the same arguments.",
            script="benchmark_serving.py",
        )
    if not data.strip():
        return text(
            "The result is empty: paste what “vllm bench serve” printed or its JSON file."
        )
    return text(
        "No benchmark result was found: it takes the block that begins with “Serving Benchmark Result”, or the JSON file that --save-result writes."
    )
