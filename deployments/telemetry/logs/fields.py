"""Fields: the named values of a metric line, and whether the line was cut inside one of them."""

import math
import re
from dataclasses import dataclass

LARGEST_NUMBER = 1e15
MOST_POSITIONS = 1024

_NAMES = {
    "Mean acceptance length": "length",
    "Accepted throughput": "accepted_tps",
    "Drafted throughput": "drafted_tps",
    "Accepted": "accepted",
    "Drafted": "drafted",
    "Number of accepted tokens": "accepted",
    "Number of draft tokens": "drafted",
    "Number of emitted tokens": "emitted",
    "Number of speculative tokens": "count",
    "Current speculative depth": "depth",
    "System efficiency": "efficiency",
    "Per-position acceptance rate": "positions",
    "Avg Draft acceptance rate": "rate",
    "Draft acceptance rate": "rate",
}
_LABEL = re.compile(
    r"(?<![\w-])(?P<label>"
    + "|".join(sorted((re.escape(name) for name in _NAMES), key=len, reverse=True))
    + r")(?: tokens)?:\s{0,8}"
)
_NUMBER = r"[+-]?(?:\d{1,18}(?:\.\d{0,9})?|\.\d{1,9}|nan|NaN|inf)"
_COUNT = r"\d{1,3}(?:,\d{3}){1,4}(?![\d.])|\d{1,15}"
"""Whoever passes a log on may have written 12,345."""
_VALUES = {
    "length": re.compile(rf"(?P<value>{_NUMBER})"),
    "efficiency": re.compile(rf"(?P<value>{_NUMBER})"),
    "accepted_tps": re.compile(rf"(?P<value>{_NUMBER})(?P<unit> (?:tokens|toks)/s)?"),
    "drafted_tps": re.compile(rf"(?P<value>{_NUMBER})(?P<unit> (?:tokens|toks)/s)?"),
    "accepted": re.compile(rf"(?P<value>{_COUNT})(?P<unit> tokens)?"),
    "drafted": re.compile(rf"(?P<value>{_COUNT})(?P<unit> tokens)?"),
    "emitted": re.compile(rf"(?P<value>{_COUNT})"),
    "count": re.compile(r"(?P<value>\d{1,15})"),
    "depth": re.compile(r"(?P<value>\d{1,15})"),
    "rate": re.compile(rf"(?P<value>{_NUMBER})(?P<unit>%)?"),
}
_POSITION = re.compile(r"(?P<value>\d(?:\.\d{0,6})?|nan)")
_NEXT_POSITION = re.compile(r",\s{0,4}(?=\d|nan)")
_ENDS = re.compile(r"(?=[,\s;)|\]\"'`\\}<]|\.(?:\s|$)|$)")
_DECIMALS = {"length": 2, "accepted_tps": 2, "drafted_tps": 2}
_LENGTH_SLACK = 0.02
USUAL_FIELDS = (
    r" Mean acceptance length: (\d{1,9}\.\d\d), Accepted throughput: (\d{1,9}\.\d\d) tokens/s, "
    r"Drafted throughput: (\d{1,9}\.\d\d) tokens/s, Accepted: (\d{1,14}) tokens, "
    r"Drafted: (\d{1,14}) tokens, "
    r"Per-position acceptance rate: (\d\.\d{3}(?:, \d\.\d{3}){0,63}), "
    r"Avg Draft acceptance rate: (\d{1,3}\.\d)%"
)
"""The whole of what most engines print, of which nothing is missing, ``nan`` or cut off."""
_USUAL = re.compile(USUAL_FIELDS)
_USUAL_VALUES = ("length", "accepted_tps", "drafted_tps", "accepted", "drafted")
_USUAL_NAMES = frozenset((*_USUAL_VALUES, "positions", "rate"))


@dataclass(frozen=True, slots=True)
class Fields:
    """The values that were found; a number beyond all reason counts as not there."""

    values: dict[str, float]
    names: frozenset[str]
    positions: tuple[float, ...] | None
    truncated: bool

    @property
    def any_value(self) -> bool:
        """Whether the text is a record at all: it has at least one known field."""
        return bool(self.names)

    def has(self, name: str) -> bool:
        """Whether the field is named in the text, even if its value is cut off or ``nan``."""
        return name in self.names

    def number(self, name: str) -> float | None:
        """Return a decimal value, ``None`` for absent and ``nan``."""
        return self.values.get(name)

    def count(self, name: str) -> int | None:
        """Return a whole number, ``None`` when absent."""
        value = self.values.get(name)
        return None if value is None else int(value)


def read_fields(text: str) -> Fields:
    """Read every known ``Name: value`` of the text behind the marker, in any order."""
    usual = _USUAL.fullmatch(text)
    return _read_usual(usual) if usual else _read_any(text)


def _read_usual(usual: re.Match[str]) -> Fields:
    """The same as ``_read_any`` of that text, in a fifth of the time."""
    *numbers, positions, rate = usual.groups()
    values = dict(zip(_USUAL_VALUES, map(float, numbers), strict=True))
    values["rate"] = float(rate)
    rates = tuple(map(float, positions.split(", ")))
    return Fields(values, _USUAL_NAMES, rates, truncated=False)


def _read_any(text: str) -> Fields:
    labels = list(_LABEL.finditer(text))
    values: dict[str, float] = {}
    positions: tuple[float, ...] | None = None
    cut = not labels and _is_cut_label(text)
    for index, label in enumerate(labels):
        name = _NAMES[label["label"]]
        end = labels[index + 1].start() if index + 1 < len(labels) else len(text)
        body = text[label.end() : end]
        last = end == len(text)
        if name == "positions":
            positions, cut_here = _positions(body, last=last)
        else:
            cut_here = _value(name, body, values, last=last)
        cut = cut or (last and cut_here)
    if positions and _is_short(positions, values.get("length"), labels, text):
        positions, cut = None, True
    names = frozenset(_NAMES[label["label"]] for label in labels)
    return Fields(values, names, positions, cut)


def _value(name: str, body: str, values: dict[str, float], *, last: bool) -> bool:
    """Store one value; tell whether the text ends inside it."""
    match = _VALUES[name].match(body)
    if match is None:
        return last and not body.strip()
    rest = body[match.end() :]
    if not _ENDS.match(rest):
        return last
    cut = last and not rest.strip() and _is_cut_value(name, match)
    broken_unit = last and _is_broken_unit(rest, match)
    if not broken_unit and not (cut and not _keeps(name, match)):
        number = float(match["value"].replace(",", ""))
        if math.isfinite(number) and abs(number) < LARGEST_NUMBER:
            values[name] = number
    return cut or broken_unit or (last and _is_cut_label(rest))


def _is_cut_value(name: str, match: re.Match[str]) -> bool:
    """Whether a value at the very end lacks its unit or its decimals."""
    if "unit" in match.groupdict():
        return match["unit"] is None and not _is_v0(name, match)
    decimals = _DECIMALS.get(name)
    return (
        decimals is not None
        and match["value"] != "nan"
        and len(match["value"].partition(".")[2]) < decimals
    )


def _is_v0(name: str, match: re.Match[str]) -> bool:
    """V0 and the first V1 form print counts and the rate (a fraction) without a unit."""
    return name == "rate" and float(match["value"]) <= 1 and "." in match["value"]


def _keeps(name: str, match: re.Match[str]) -> bool:
    """Whether the digits at the end are surely all there: a speed with both its decimals."""
    return name in _DECIMALS and len(match["value"].partition(".")[2]) == 2


def _is_broken_unit(rest: str, match: re.Match[str]) -> bool:
    tail = rest.strip()
    if not tail or match.groupdict().get("unit"):
        return False
    return any(unit.startswith(tail) for unit in ("tokens/s", "toks/s", "tokens"))


def _is_cut_label(rest: str) -> bool:
    tail = rest.lstrip(" \t,.")
    return bool(tail) and any(name.startswith(tail) for name in (*_NAMES, "Avg"))


def _positions(body: str, *, last: bool) -> tuple[tuple[float, ...] | None, bool]:
    """Read a list of rates; a list that the text ends inside of is not a list."""
    found: list[str] = []
    position = 0
    while len(found) < MOST_POSITIONS:
        match = _POSITION.match(body, position)
        if match is None:
            break
        found.append(match["value"])
        position = match.end()
        separator = _NEXT_POSITION.match(body, position)
        if separator is None:
            break
        position = separator.end()
    rest = body[position:]
    if not found:
        return None, last and not rest.strip()
    if last and (_is_ragged(found) or rest.strip() == "," or _is_cut_label(rest)):
        complete = not _is_ragged(found) and rest.strip() != ","
        return (_rates(found) if complete else None), True
    return _rates(found), False


def _is_ragged(found: list[str]) -> bool:
    """Whether the last rate has fewer decimals than the first: its digits are cut off."""
    first, final = (item.partition(".")[2] for item in (found[0], found[-1]))
    return len(final) < len(first)


def _rates(found: list[str]) -> tuple[float, ...] | None:
    if "nan" in found:
        return None
    return tuple(float(item) for item in found)


def _is_short(
    positions: tuple[float, ...],
    length: float | None,
    labels: list[re.Match[str]],
    text: str,
) -> bool:
    """Whether a list at the end of the text lost whole rates: it explains too little length."""
    last = labels[-1]
    if _NAMES[last["label"]] != "positions" or not length:
        return False
    if text[last.end() :].rstrip().endswith("%"):
        return False
    total = sum(positions)
    return min(abs(1 + total - length), abs(total - length)) > _LENGTH_SLACK
