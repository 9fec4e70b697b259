"""Keys and values of the objects behind JSON flags: unknown, of other versions, of the wrong kind."""

import difflib
import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

from deployments.planning.canonical import Json
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.importing.arguments import Argument
from deployments.planning.importing.json_repair import read_json
from deployments.planning.importing.launch import PYTHON_CALL
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.flag_values import is_open
from deployments.planning.rules.launch.rule import (
    Edit,
    Hit,
    LaunchRule,
    RuleCard,
    replace_text,
    set_flag,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import Text, text
from deployments.planning.versions import Version, parse_version

SOURCE = "vLLM sources, config classes, 0.8.5 to 0.33.0; run with such values on 0.32.0"
ASCEND_FLAG = "--additional-config"
ASCEND_REFUSES = Version((0, 27, 1), (0, 1))
"""The first release of vllm-ascend that refuses keys of ``--additional-config``."""
JUDGED_ELSEWHERE = frozenset(
    (
        "kv_role",
        "kv_rank",
        "kv_parallel_size",
        "kv_ip",
        "kv_buffer_size",
        "kv_load_failure_policy",
    )
)
ALIKE = 0.8
_MODES = frozenset(("cudagraph_mode", "mode"))
"""Keys that take a word in any case, or its number."""
_TRUTH = frozenset(("true", "false", "1", "0", "yes", "no", "on", "off", "t", "f"))
_WANTED = {
    "boolean": text("true or false"),
    "integer": text("a whole number"),
    "number": text("a number"),
    "text": text("text"),
    "list": text("a list"),
    "integers": text("a list of whole numbers"),
    "object": text("an object"),
}


@dataclass(frozen=True, slots=True)
class _Span:
    """``kind`` is a word of ``_WANTED`` or ``any``; ``words`` are the only values, where there are such."""

    since: Version
    before: Version | None
    kind: str
    words: tuple[str, ...] = ()

    def holds(self, version: Version) -> bool:
        return version >= self.since and (self.before is None or version < self.before)


@dataclass(frozen=True, slots=True)
class ObjectKeys:
    """What the object behind a flag may hold, by the vLLM release underneath.

    ``refuses_since`` is the first release that refuses unknown keys; before it, they are ignored.
    """

    refuses_since: Version | None
    keys: Mapping[str, tuple[_Span, ...]]

    def span(self, key: str, version: Version) -> _Span | None:
        """The entry of a key in a release, ``None`` where the release has no such key."""
        return next((one for one in self.keys.get(key, ()) if one.holds(version)), None)

    def refuses_key(self, profile: EngineProfile, key: str) -> bool:
        """Whether a release ends at the key."""
        since = self.refuses_since
        return (
            since is not None
            and profile.vllm >= since
            and self.span(key, profile.vllm) is None
        )

    def refuses_value(self, profile: EngineProfile, key: str, value: Json) -> bool:
        """Whether a release ends at the value."""
        span = self.span(key, profile.vllm)
        return span is not None and not _fits(span, key, value)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key with its value; ``flag`` names its object, ``nested`` tells of one inside another."""

    flag: str
    key: str
    value: Json
    argument: Argument
    nested: bool = False


@functools.cache
def object_keys() -> Mapping[str, ObjectKeys]:
    """What the objects behind flags may hold; constant data of this package."""
    folder = resources.files("deployments.planning.rules.launch") / "data"
    document = json.loads((folder / "objects.json").read_text(encoding="utf-8"))
    return {
        flag: ObjectKeys(
            refuses_since=_version(one["refuses_since"]),
            keys={
                key: tuple(_span(*row) for row in rows)
                for key, rows in one["keys"].items()
            },
        )
        for flag, one in document.items()
    }


def _version(written: str | None) -> Version | None:
    return None if written is None else parse_version(written)


def _span(since: str, before: str | None, kind: str | list[str]) -> _Span:
    words = tuple(kind) if isinstance(kind, list) else ()
    return _Span(
        since=parse_version(since),
        before=_version(before),
        kind=kind if isinstance(kind, str) else "text",
        words=words,
    )


def _fits(span: _Span, key: str, value: Json) -> bool:
    """Whether pydantic takes the value, which reads "8" as 8 and "true" as true."""
    if value is None or (isinstance(value, str) and is_open(value)):
        return True
    if span.words and key in _MODES:
        return value in range(4) or str(value).upper() in span.words
    if span.words:
        return value in span.words
    return span.kind == "any" or _IS[span.kind](value)


def _is_number(value: Json, *, whole: bool) -> bool:
    if isinstance(value, str):
        if is_open(value):
            return True
        try:
            number = float(value)
        except ValueError:
            return False
        return not whole or number.is_integer()
    if isinstance(value, float):
        return not whole or value.is_integer()
    return isinstance(value, int)


def _is_truth(value: Json) -> bool:
    return value in (0, 1) or str(value).lower() in _TRUTH


def _is_list_of_numbers(value: Json) -> bool:
    return isinstance(value, list) and all(_is_number(one, whole=True) for one in value)


_IS: Mapping[str, Callable[[Json], bool]] = {
    "boolean": _is_truth,
    "integer": lambda value: _is_number(value, whole=True),
    "number": lambda value: _is_number(value, whole=False),
    "text": lambda value: isinstance(value, str),
    "list": lambda value: isinstance(value, list),
    "integers": _is_list_of_numbers,
    "object": lambda value: isinstance(value, dict),
}


def _entries(view: LaunchView) -> Iterator[_Entry]:
    if not view.launch.is_vllm or view.engine.old:
        return
    known = object_keys()
    for argument in view.launch.arguments.flags:
        flag, dot, path = argument.name.partition(".")
        if flag not in known or argument.value is None:
            continue
        written = view.launch.scope.resolve(argument.value)
        read = read_json(written)
        if dot:
            value = written if read.damage is not None else read.value
            yield from _dotted(flag, path.rstrip("+"), value, argument)
        elif isinstance(read.value, dict):
            yield from _plain(flag, read.value, argument)


def _dotted(flag: str, path: str, value: Json, argument: Argument) -> Iterator[_Entry]:
    key, dot, inner = path.replace("-", "_").partition(".")
    if not dot:
        yield _Entry(flag, key, value, argument)
    elif f"{flag}.{key}" in object_keys() and "." not in inner:
        yield _Entry(f"{flag}.{key}", inner, value, argument, nested=True)


def _plain(
    flag: str, config: Mapping[str, Json], argument: Argument
) -> Iterator[_Entry]:
    for key, value in config.items():
        yield _Entry(flag, key, value, argument)
        inside = f"{flag}.{key}"
        if inside in object_keys() and isinstance(value, dict):
            for name, one in value.items():
                yield _Entry(inside, name, one, argument, nested=True)


@RuleCard(
    code="OBJECT_KEY_UNKNOWN",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "The object behind a JSON flag has a key that the engine version does not know."
    ),
    fix=text("Rename the key, or leave it out."),
    source=SOURCE,
    versions=text(
        "refused by vLLM 0.16.0 and later, in --compilation-config from 0.13.0 on; ignored before"
    ),
)
def unknown_key(view: LaunchView) -> Iterator[Hit]:
    """Fires on a key that the judged version refuses or ignores."""
    for entry in _entries(view):
        if entry.key in JUDGED_ELSEWHERE or is_open(entry.key):
            continue
        severity = _key_severity(view, entry)
        if severity is not None:
            yield _unknown(view, entry, severity)


def _key_severity(view: LaunchView, entry: _Entry) -> Severity | None:
    known = object_keys()[entry.flag]
    if entry.flag == ASCEND_FLAG:
        if entry.key in known.keys or not view.ascend or _near(entry) is None:
            return None
        version = view.engine.version
        refused = version is not None and version >= ASCEND_REFUSES
        return Severity.ERROR if refused else Severity.WARNING
    profile = view.engine.profile
    if profile is not None and not known.refuses_key(profile, entry.key):
        ignored = known.span(entry.key, profile.vllm) is None
        return Severity.WARNING if ignored else None
    severity = view.refusal(lambda one: known.refuses_key(one, entry.key))
    if view.ascend and view.engine.version is None and entry.key in known.keys:
        return Severity.WARNING if severity else None
    return severity


def _near(entry: _Entry) -> str | None:
    known = object_keys()[entry.flag].keys
    close = difflib.get_close_matches(
        entry.key.lower().replace("-", "_"), known, n=1, cutoff=ALIKE
    )
    return close[0] if close else None


def _unknown(view: LaunchView, entry: _Entry, severity: Severity) -> Hit:
    spans = object_keys()[entry.flag].keys.get(entry.key)
    near = None if spans else _near(entry)
    ignored = severity is Severity.WARNING and view.engine.version is not None
    if spans and spans[-1].before is not None:
        message = text(
            "{flag} has the key {key} in vLLM {first} to below {last} only.",
            flag=entry.flag,
            key=entry.key,
            first=str(spans[0].since),
            last=str(spans[-1].before),
        )
    elif spans:
        message = text(
            "{flag} has the key {key} since vLLM {first} only.",
            flag=entry.flag,
            key=entry.key,
            first=str(spans[0].since),
        )
    elif ignored:
        message = text(
            "{flag} has no key {key}; this version ignores it.",
            flag=entry.flag,
            key=entry.key[:60],
        )
    else:
        message = text("{flag} has no key {key}.", flag=entry.flag, key=entry.key[:60])
    return Hit(
        message=message,
        fix=text("Did you mean {near}?", near=near) if near else None,
        severity=severity,
        evidence=entry.key[:60],
        start=entry.argument.start,
        edits=_replaced(view, entry.argument, entry.key, near) if near else (),
    )


def _replaced(
    view: LaunchView, argument: Argument, old: str, new: str
) -> tuple[Edit, ...]:
    """A word inside a value, where the input writes it out exactly once."""
    if not all(word.has_place for word in argument.words):
        return ()
    start = argument.words[0].start
    written = view.source.text[start : argument.words[-1].end]
    found = list(re.finditer(rf"(?<![\w-]){re.escape(old)}(?![\w-])", written))
    if len(found) != 1:
        return ()
    at = start + found[0].start()
    return (replace_text(at, at + len(old), new),)


@RuleCard(
    code="OBJECT_VALUE_WRONG",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "A key behind a JSON flag has a value that the engine version does not take."
    ),
    fix=text("Write a value of the kind that the message names."),
    source=SOURCE,
    versions=text("by the config class of each version"),
)
def wrong_value(view: LaunchView) -> Iterator[Hit]:
    """Fires on text for numbers, numbers for text, and words that are no choice."""
    for entry in _entries(view):
        known = object_keys()[entry.flag]
        if entry.key in JUDGED_ELSEWHERE or view.launch.program == PYTHON_CALL:
            continue
        severity = view.refusal(functools.partial(_refuses_value, entry))
        if severity is not None:
            profile = view.engine.profile or view.engine.newest
            yield _wrong(view, entry, known.span(entry.key, profile.vllm), severity)


def _refuses_value(entry: _Entry, profile: EngineProfile) -> bool:
    return object_keys()[entry.flag].refuses_value(profile, entry.key, entry.value)


def _wrong(
    view: LaunchView, entry: _Entry, span: _Span | None, severity: Severity
) -> Hit:
    words = span.words if span else ()
    wanted: Text | str = ", ".join(words)
    if span is not None and not words:
        wanted = _WANTED[span.kind]
    value = entry.value if isinstance(entry.value, str) else json.dumps(entry.value)
    return Hit(
        message=text(
            "{key} behind {flag} is {value}; it takes {wanted}.",
            key=entry.key,
            flag=entry.flag,
            value=value[:60],
            wanted=wanted,
        ),
        severity=Severity.WARNING if view.ascend and _unnamed(view) else severity,
        evidence=value[:60],
        start=entry.argument.start,
        edits=_mended(view, entry, words),
    )


def _unnamed(view: LaunchView) -> bool:
    return view.engine.version is None


def _mended(
    view: LaunchView, entry: _Entry, words: tuple[str, ...]
) -> tuple[Edit, ...]:
    if words and isinstance(entry.value, str):
        folded = {one.casefold(): one for one in words}
        close = difflib.get_close_matches(
            entry.value.casefold(), folded, n=1, cutoff=0.6
        )
        near = folded[close[0]] if close else None
        return _replaced(view, entry.argument, entry.value, near) if near else ()
    listed = isinstance(entry.value, str) and re.fullmatch(
        r"\[?\s*\d+(\s*,\s*\d+)+\s*\]?", entry.value
    )
    if listed and not entry.nested:
        numbers: list[Json] = [int(one) for one in re.findall(r"\d+", str(entry.value))]
        return (set_flag(f"{entry.flag}.{entry.key}", numbers),)
    return ()


OBJECT_VALUE_RULES: tuple[LaunchRule, ...] = (unknown_key, wrong_value)
