"""Applies mechanical fixes: the smallest change of the input's own text, and the diff of it."""

import difflib
import json
import re
import shlex
from collections.abc import Iterable, Iterator

from deployments.planning.canonical import Json
from deployments.planning.importing.arguments import Argument
from deployments.planning.importing.json_repair import read_json
from deployments.planning.importing.launch import Launch
from deployments.planning.importing.reader import ImportedInput
from deployments.planning.importing.speculation import FLAG
from deployments.planning.importing.words import Word
from deployments.planning.rules.launch.rule import Edit, EditKind, LaunchFinding

Span = tuple[int, int, str]
_BARE = re.compile(r"[\w@%+=:,./-]+")


def fixed_text(source: ImportedInput, findings: Iterable[LaunchFinding]) -> str:
    """Return the input with every mechanical fix applied; fixes that overlap keep the first."""
    spans: list[Span] = []
    by_launch: dict[int, list[Edit]] = {}
    for finding in findings:
        for edit in finding.edits:
            if edit.kind is EditKind.REPLACE:
                spans.append((edit.start, edit.end, str(edit.value)))
            elif finding.launch is not None:
                by_launch.setdefault(finding.launch, []).append(edit)
    for index, edits in by_launch.items():
        spans.extend(_Rewriter(source.text, source.launches[index]).spans(edits))
    return _applied(source.text, spans)


def diff_of(before: str, after: str, name: str) -> str:
    """Return the unified diff of a correction, empty when nothing changed."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"{name} (as it is)",
        f"{name} (corrected)",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def correction_of(
    source: ImportedInput, launch: Launch, edits: tuple[Edit, ...]
) -> str:
    """Return the corrected piece of the input that one finding carries."""
    if not edits:
        return ""
    replaced = [str(one.value) for one in edits if one.kind is EditKind.REPLACE]
    if replaced:
        return replaced[0]
    spans = _Rewriter(source.text, launch).spans(edits)
    return " ".join(
        text.strip() for _start, _end, text in sorted(spans) if text.strip()
    )


def _applied(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, new in sorted(dict.fromkeys(spans)):
        if start < at or start < 0 or end < start or end > len(text):
            continue
        pieces += [text[at:start], new]
        at = end
    return "".join((*pieces, text[at:]))


class _Rewriter:
    """Turns edits of keys and flags of one launch into replacements of its text."""

    def __init__(self, text: str, launch: Launch) -> None:
        self.text = text
        self.launch = launch

    def spans(self, edits: Iterable[Edit]) -> list[Span]:
        """Return the replacements; edits without a place of their own are left out."""
        keys: dict[str, Json] = {}
        flags: dict[str, Json] = {}
        for edit in edits:
            if edit.kind in (EditKind.KEY_SET, EditKind.KEY_DROP):
                keys.setdefault(
                    edit.name, edit.value if edit.kind is EditKind.KEY_SET else None
                )
            else:
                flags.setdefault(
                    edit.name, edit.value if edit.kind is EditKind.FLAG_SET else None
                )
        if keys:
            self._keys(keys, flags)
        nested = [name for name in flags if "." in name]
        for name in nested:
            self._nested(name, flags)
        return list(self._flags(flags))

    def _keys(self, keys: dict[str, Json], flags: dict[str, Json]) -> None:
        speculation = self.launch.speculation
        if speculation is None:
            return
        dotted = {
            one.name.partition(".")[2].replace("-", "_"): one.name
            for one in self.launch.arguments.flags
            if one.name.startswith(f"{FLAG}.")
        }
        if dotted and speculation.argument is None:
            for key, value in keys.items():
                flags[dotted.get(key, f"{FLAG}.{key}")] = value
            return
        if speculation.argument is None:
            return
        given = flags.get(FLAG)
        read = read_json(given).value if isinstance(given, str) else None
        config = dict(read) if isinstance(read, dict) else self._config()
        if config is None:
            return
        for key, value in keys.items():
            if value is None:
                config.pop(key, None)
            else:
                config[key] = value
        flags[FLAG] = json.dumps(config, separators=(",", ":"), ensure_ascii=False)

    def _config(self) -> dict[str, Json] | None:
        speculation = self.launch.speculation
        if speculation is None or speculation.argument is None:
            return None
        value = read_json(speculation.argument.value or "")
        return dict(value.value) if isinstance(value.value, dict) else None

    def _nested(self, name: str, flags: dict[str, Json]) -> None:
        """A key inside a JSON flag, unless the launch itself writes it with a dot."""
        base, _, key = name.partition(".")
        argument = self.launch.flag(base)
        if base == FLAG or self.launch.flag(name) is not None or argument is None:
            return
        read = read_json(argument.value or "").value
        value = flags.pop(name)
        if isinstance(read, dict):
            flags[base] = json.dumps({**read, key: value}, separators=(",", ":"))

    def _flags(self, flags: dict[str, Json]) -> Iterator[Span]:
        for name, value in flags.items():
            used = self.launch.arguments.all(name)
            if value is None:
                yield from (span for one in used for span in self._dropped(one))
            elif used:
                yield from self._changed(used[-1], value)
            else:
                yield from self._added(name, value)

    def _dropped(self, argument: Argument) -> Iterator[Span]:
        words = argument.words
        if not all(word.has_place for word in words):
            return
        start, end = words[0].start, words[-1].end
        if words[0].form != "shell":
            for word in words:
                yield self._item(word)
            return
        while start > 0 and self.text[start - 1] in " \t":
            start -= 1
        alone = re.compile(r"[ \t]*\\\r?\n").match(self.text, end)
        if alone and self.text[:start].endswith("\n"):
            end = alone.end()
        yield (start, end, "")

    def _item(self, word: Word) -> Span:
        """A member of a YAML list: its whole line in block style, with its comma in flow style."""
        line = self.text.rfind("\n", 0, word.start) + 1
        if re.fullmatch(r"[ \t]*-[ \t]+", self.text[line : word.start]):
            stop = self.text.find("\n", word.end)
            return (line, len(self.text) if stop < 0 else stop + 1, "")
        after = re.compile(r"\s*,\s*").match(self.text, word.end)
        if after:
            return (word.start, after.end(), "")
        before = re.search(r",\s*$", self.text[max(0, word.start - 200) : word.start])
        start = word.start - len(before[0]) if before else word.start
        return (start, word.end, "")

    def _changed(self, argument: Argument, value: Json) -> Iterator[Span]:
        if value is True:
            return
        words = argument.words
        word = argument.value_word
        if not all(one.has_place for one in words):
            return
        text = _value_text(value)
        if argument.attached and word is not None:
            joined = f"{argument.written.partition('=')[0]}={text}"
            yield (word.start, words[-1].end, _quoted(joined, word.form))
        elif word is not None:
            yield (word.start, word.end, _quoted(text, word.form))
        elif len(words) > 1:
            yield (words[1].start, words[-1].end, _quoted(text, words[1].form))

    def _added(self, name: str, value: Json) -> Iterator[Span]:
        placed = [
            word
            for word in self.launch.words
            if word.has_place and word.form != "block"
        ]
        if not placed:
            return
        last = max(placed, key=lambda word: word.end)
        text = None if value is True else _value_text(value)
        if last.form == "shell":
            added = name if text is None else f"{name} {_quoted(text, 'shell')}"
            yield (last.end, last.end, f" {added}")
            return
        line = self.text.rfind("\n", 0, last.start) + 1
        prefix = self.text[line : last.start]
        words = [name] if text is None else [name, text]
        if re.fullmatch(r"[ \t]*-[ \t]+", prefix):
            added = "".join(f"\n{prefix}{_quoted(one, 'yaml')}" for one in words)
        else:
            added = "".join(f", {_quoted(one, 'yaml')}" for one in words)
        yield (last.end, last.end, added)


def _value_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _quoted(text: str, form: str) -> str:
    if form == "shell":
        return _shell_quoted(text)
    doubled = text.replace("$", "$$")
    if (
        _BARE.fullmatch(doubled)
        and not doubled.isdigit()
        and not doubled.startswith("-")
    ):
        return doubled
    return json.dumps(doubled, ensure_ascii=False)


def _shell_quoted(text: str) -> str:
    """Quote a word; variables stay outside the single quotes, so that the shell replaces them."""
    if _BARE.fullmatch(text):
        return text
    if "$" not in text:
        return shlex.quote(text)
    pieces = re.split(r"(\$\{?[A-Za-z_][A-Za-z0-9_]*\}?)", text)
    quoted = [
        f'"{piece}"' if index % 2 else shlex.quote(piece) if piece else ""
        for index, piece in enumerate(pieces)
    ]
    return "".join(quoted)
