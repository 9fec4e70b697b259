"""JSON values that shells damaged: says what happened and what was probably meant."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.canonical import Json

LONGEST_VALUE = 20_000
_SMART = str.maketrans(
    {
        "\u201c": '"',
        "\u201d": '"',
        "\u2018": "'",
        "\u2019": "'",
        "\uff1a": ":",
        "\uff0c": ",",
    }
)
_TOKEN = re.compile(
    r"""\s*(?:(?P<punct>[{}\[\],:])|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^\s{}\[\],:"']+))"""
)
_WORDS: dict[str, Json] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
}


class Damage(StrEnum):
    """How a value stopped being JSON."""

    QUOTES_INSIDE = "quotes-inside"
    BACKSLASHES = "backslashes"
    QUOTES_EATEN = "quotes-eaten"
    SINGLE_QUOTES = "single-quotes"
    SMART_QUOTES = "smart-quotes"
    PYTHON_WORDS = "python-words"
    TRAILING_COMMA = "trailing-comma"
    BRACE_MISSING = "brace-missing"
    TEXT_BEHIND = "text-behind"
    SPLIT = "split"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class JsonValue:
    """What a text holds: ``value`` as read or repaired, and the damage, ``None`` for sound JSON."""

    value: Json
    damage: Damage | None = None


def read_json(text: str) -> JsonValue:
    """Read JSON; read damaged JSON as far as its meaning is clear.

    The value of a text beyond repair is ``None`` with ``Damage.OTHER``.
    """
    if len(text) > LONGEST_VALUE:
        return JsonValue(None, Damage.OTHER)
    sound, value = _strict(text)
    if sound:
        return JsonValue(value)
    plain = text.translate(_SMART).strip()
    for damage, repaired in _attempts(text, plain):
        sound, value = _strict(repaired)
        if sound:
            return JsonValue(value, damage)
    value = _Lenient(plain.strip("'\"").replace('\\"', '"')).read()
    return JsonValue(value, Damage.OTHER if value is None else _kind(text))


def _strict(text: str) -> tuple[bool, Json]:
    try:
        return True, json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False, None


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _attempts(text: str, plain: str) -> list[tuple[Damage, str]]:
    attempts = []
    if plain[:1] in "'\"" and plain[-1:] == plain[:1] and len(plain) > 2:
        inner = plain[1:-1]
        attempts += [
            (Damage.QUOTES_INSIDE, inner),
            (Damage.QUOTES_INSIDE, inner.replace('\\"', '"')),
        ]
    if "\\" in plain:
        attempts.append(
            (Damage.BACKSLASHES, plain.replace('\\"', '"').replace("\\\\", "\\"))
        )
    if plain != text.strip():
        attempts.append((Damage.SMART_QUOTES, plain))
    end = _object_end(plain)
    if end is not None:
        attempts.append((Damage.TEXT_BEHIND, plain[:end]))
    missing = plain.count("{") - plain.count("}")
    if 0 < missing < 4:
        attempts.append((Damage.BRACE_MISSING, plain + "}" * missing))
    attempts.append((Damage.TRAILING_COMMA, re.sub(r",(\s*[}\]])", r"\1", plain)))
    attempts.append(
        (Damage.PYTHON_WORDS, re.sub(r"\b(True|False|None)\b", _python_word, plain))
    )
    return attempts


def _object_end(text: str) -> int | None:
    """Return where a sound object ends that other text follows."""
    try:
        _value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return end if text.startswith("{") and end < len(text) else None


def _python_word(match: re.Match[str]) -> str:
    return {"True": "true", "False": "false", "None": "null"}[match[0]]


def _kind(text: str) -> Damage:
    if "'" in text and '"' not in text:
        return Damage.SINGLE_QUOTES
    if '"' not in text:
        return Damage.QUOTES_EATEN
    return Damage.OTHER


class _Lenient:
    """Reads objects whose quotes are gone: ``{method:mtp,num_speculative_tokens:3}``."""

    def __init__(self, text: str) -> None:
        self.tokens = [match for match in _TOKEN.finditer(text) if match[0].strip()]
        self.at = 0

    def read(self) -> Json:
        if not self.tokens or self.tokens[0]["punct"] != "{":
            return None
        try:
            return self._value(0)
        except (IndexError, ValueError):
            return None

    def _value(self, depth: int) -> Json:
        if depth > 8:
            raise ValueError("too deep")
        token = self.tokens[self.at]
        self.at += 1
        if token["punct"] == "{":
            return self._object(depth)
        if token["punct"] == "[":
            return self._list(depth)
        if token["punct"]:
            raise ValueError("no value")
        return self._scalar(token)

    def _object(self, depth: int) -> Json:
        found: dict[str, Json] = {}
        while self.tokens[self.at]["punct"] != "}":
            key = self._text(self.tokens[self.at])
            self.at += 1
            if self.tokens[self.at]["punct"] != ":":
                raise ValueError("no colon")
            self.at += 1
            found[key] = self._value(depth + 1)
            self._comma("}")
        self.at += 1
        return found

    def _list(self, depth: int) -> Json:
        found: list[Json] = []
        while self.tokens[self.at]["punct"] != "]":
            found.append(self._value(depth + 1))
            self._comma("]")
        self.at += 1
        return found

    def _comma(self, closer: str) -> None:
        punct = self.tokens[self.at]["punct"]
        if punct == ",":
            self.at += 1
        elif punct != closer:
            raise ValueError("no comma")

    def _text(self, token: re.Match[str]) -> str:
        for group in ("double", "single", "bare"):
            if token[group] is not None:
                return str(token[group])
        raise ValueError("no text")

    def _scalar(self, token: re.Match[str]) -> Json:
        if token["bare"] is None:
            return self._text(token)
        bare = str(token["bare"])
        if bare in _WORDS:
            return _WORDS[bare]
        if re.fullmatch(r"-?\d{1,15}", bare):
            return int(bare)
        if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", bare):
            return float(bare)
        return bare
