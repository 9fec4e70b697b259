"""Exposition: what a scrape, an excerpt of one, or the answer of a Prometheus query says, series by series."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST_LINE = 64 * 1024
_SERIES = re.compile(
    # What grep, kubectl or a quotation put before it; a comment is none, and neither is an address.
    r"[^#\"'{}]{0,200}?(?<![\w/])"
    r"(?:(?P<backend>vllm|llamacpp|sglang):|(?P<renamed>vllm)_(?=spec_decode_))"
    r"(?P<name>[A-Za-z_][A-Za-z0-9_:]{0,200})"
    r"(?P<labels>\{)?"
)
_LABEL = re.compile(
    r"\s{0,8}(?P<name>[A-Za-z_]\w{0,200})\s{0,8}=\s{0,8}"
    r"\"(?P<value>(?:[^\"\\]|\\.)*)\"\s{0,8},?"
)
_VALUE = re.compile(r"\s{0,8}\|?\s{1,8}(?P<value>[+-]?[\d.]+(?:[eE][+-]?\d+)?)(?:\s|$)")
_ESCAPED = re.compile(r"\\(.)")
_QUOTES = {"&quot;": '"', "&#34;": '"', "“": '"', "”": '"'}
_LARGEST = 2.0**53


@dataclass(frozen=True, slots=True)
class Point:
    """One series of a scrape with its value."""

    backend: str
    name: str
    labels: dict[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Exposition:
    """The readable series, the names of those without a usable value, and how many had no name."""

    points: tuple[Point, ...]
    unreadable: tuple[str, ...] = ()
    nameless: int = 0


def read_exposition(exposition: str) -> Exposition:
    """Read Prometheus text, whatever was pasted around it, or the JSON that a query answers.

    ``*_created`` series are times and are left out, and so are values beyond 2**53, negative ones,
    ``NaN`` and infinities.
    """
    for quote, plain in _QUOTES.items():
        exposition = exposition.replace(quote, plain)
    points: list[Point] = []
    unreadable: list[str] = []
    for line in exposition.split("\n"):
        if ":" not in line and "spec_decode" not in line:
            continue
        for found in _of_line(line[:LONGEST_LINE]):
            if isinstance(found, Point):
                points.append(found)
            else:
                unreadable.append(found)
    if points or unreadable or '"metric"' not in exposition:
        return Exposition(tuple(points), tuple(unreadable))
    return _of_query(exposition)


def _of_line(line: str) -> Iterator[Point | str]:
    """The series of a line, nearly always one: its value, or the name of one without."""
    position = 0
    while series := _SERIES.match(line, position):
        backend = series["backend"] or series["renamed"]
        labels, position = _labels(line, series)
        value = None if labels is None else _VALUE.match(line, position)
        if not series["name"].endswith("_created"):
            if value is not None and _is_usable(float_of(value["value"])):
                number = float_of(value["value"])
                yield Point(backend, series["name"], labels or {}, number)
            elif series["labels"] or line[position:].strip():
                yield series["name"]
        if value is None:
            return
        position = value.end()


def _labels(line: str, series: re.Match[str]) -> tuple[dict[str, str] | None, int]:
    """The labels and where they end; ``None`` where they do not."""
    labels: dict[str, str] = {}
    position = series.end()
    if not series["labels"]:
        return labels, position
    while label := _LABEL.match(line, position):
        labels[label["name"]] = _ESCAPED.sub(_unescaped, label["value"])
        position = label.end()
    closed = line[position : position + 1] == "}"
    return (labels if closed else None), position + 1


def _unescaped(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]


def float_of(said: object) -> float:
    """The number that a text says; ``NaN`` for anything else."""
    try:
        return float(said) if isinstance(said, str | int | float) else math.nan
    except ValueError:
        return math.nan


def _is_usable(number: float) -> bool:
    return 0 <= number <= _LARGEST


def _of_query(answer: str) -> Exposition:
    """The newest value of every series in what the query interface of Prometheus answered."""
    points: list[Point] = []
    unreadable: list[str] = []
    nameless = 0
    for metric, number in _results(answer):
        labels = {str(key): str(value) for key, value in metric.items()}
        name = labels.pop("__name__", "")
        series = _SERIES.match(name)
        if series is None:
            nameless += not name
        elif series["name"].endswith("_created"):
            continue
        elif _is_usable(number):
            backend = series["backend"] or series["renamed"]
            points.append(Point(backend, series["name"], labels, number))
        else:
            unreadable.append(series["name"])
    return Exposition(tuple(points), tuple(unreadable), nameless)


def _results(answer: str) -> Iterator[tuple[Mapping[str, Any], float]]:
    """Labels and newest value of each result of the JSON documents in a text."""
    decoder, place = json.JSONDecoder(), answer.find("{")
    while place >= 0:
        try:
            document, end = decoder.raw_decode(answer, place)
        except (ValueError, RecursionError):
            return
        data = document.get("data", document)
        results = data.get("result") if isinstance(data, dict) else None
        for one in results if isinstance(results, list) else [document]:
            metric = one.get("metric") if isinstance(one, dict) else None
            if isinstance(metric, dict):
                yield metric, _newest(one)
        place = answer.find("{", end)


def _newest(result: Mapping[str, Any]) -> float:
    """The value of a result, or the last one of a range."""
    values = result.get("values")
    value = values[-1] if isinstance(values, list) and values else result.get("value")
    if not isinstance(value, list) or len(value) != 2:
        return math.nan
    return float_of(value[1])
