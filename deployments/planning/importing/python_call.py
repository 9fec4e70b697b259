"""``LLM(...)`` and ``EngineArgs(...)`` in Python: parsed as text, never run."""

import ast
import itertools
import json
import re
from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.importing.limits import (
    LARGEST_PYTHON_CHARACTERS,
    Budget,
)
from deployments.planning.importing.words import Word

_CALL = re.compile(r"\b(?:LLM|EngineArgs|AsyncEngineArgs)\s*\(")
_LISTED = re.compile(
    r"""["'](?:[^"'\s]{0,200}/)?vllm["']\s*,\s*["']serve["']|["']-m["']\s*,\s*["']vllm\.entrypoints\."""
)
_FAR = 2_000
_MOST_CALLS = 50
_UNREADABLE = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


def read_calls(text: str, end: int, budget: Budget) -> Iterator[tuple[Word, ...]]:
    """Yield each call as the words of a serve command: the model first, then flags."""
    for match in itertools.islice(_CALL.finditer(text, 0, end), _MOST_CALLS):
        stop = _closing(text, match.end() - 1, end, budget)
        call = _parsed(text[match.start() : stop]) if stop else None
        if call is not None:
            yield tuple(_words(call, _Names(text[: match.start()], budget)))


def read_lists(text: str, end: int, budget: Budget) -> Iterator[tuple[Word, ...]]:
    """Yield lists of words that start a server, as ``subprocess.run([...])`` takes them."""
    seen: set[int] = set()
    for match in itertools.islice(_LISTED.finditer(text, 0, end), _MOST_CALLS):
        start = text.rfind("[", max(0, match.start() - _FAR), match.start())
        stop = _closing(text, start, end, budget) if start >= 0 else None
        if stop is None or start in seen:
            continue
        seen.add(start)
        try:
            node = ast.parse(text[start:stop], mode="eval").body
        except _UNREADABLE:
            continue
        if isinstance(node, ast.List):
            names = _Names(text[:start], budget)
            yield tuple(Word(text=_text(_dumped(one), names)) for one in node.elts)


def _dumped(node: ast.expr) -> ast.expr:
    """The value behind ``json.dumps(...)`` and ``str(...)``."""
    if (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and ast.unparse(node.func) in ("json.dumps", "dumps", "str")
    ):
        return node.args[0]
    return node


def _closing(text: str, start: int, end: int, budget: Budget) -> int | None:
    depth = 0
    limit = min(end, start + LARGEST_PYTHON_CHARACTERS)
    budget.spend(limit - start)
    for at in range(start, limit):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at + 1
    return None


def _parsed(source: str) -> ast.Call | None:
    try:
        node = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return node if isinstance(node, ast.Call) else None


class _Names:
    """Values that a script gives to names above a call; the last one counts."""

    def __init__(self, text: str, budget: Budget) -> None:
        self.text = text[-LARGEST_PYTHON_CHARACTERS:]
        self.budget = budget

    def value(self, node: ast.expr) -> Json:
        """The value of an expression that is written out, here or above.

        Raises:
            ValueError: it is computed.
        """
        if isinstance(node, ast.Name):
            return self._assigned(node.id)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "dict":
            return {
                one.arg: self.value(one.value)
                for one in node.keywords
                if one.arg is not None
            }
        return _literal(node)

    def _assigned(self, name: str) -> Json:
        self.budget.spend(len(self.text))
        pattern = (
            rf"^[ \t]*{re.escape(name)}[ \t]*(?::[^=\n]{{1,80}})?=[ \t]*(?=[^=\s])"
        )
        found = list(re.finditer(pattern, self.text, re.MULTILINE))
        if not found:
            raise ValueError(name)
        start = found[-1].end()
        stop = self.text.find("\n", start)
        if self.text[start] in "{[(" or self.text.startswith("dict(", start):
            opener = self.text.index(
                "(" if self.text[start] == "d" else self.text[start], start
            )
            closing = _closing(self.text, opener, len(self.text), self.budget)
            stop = closing if closing is not None else stop
        source = self.text[start : stop if stop >= 0 else len(self.text)]
        try:
            node = ast.parse(source.strip(), mode="eval").body
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise ValueError(name) from error
        return _literal(node) if isinstance(node, ast.Name) else self.value(node)


def _words(call: ast.Call, names: _Names) -> Iterator[Word]:
    for argument in call.args[:1]:
        yield Word(text=_text(argument, names), start=-1)
    for keyword in call.keywords:
        if keyword.arg is None:
            yield from _unpacked(keyword.value, names)
        else:
            yield from _flag(keyword.arg, keyword.value, names)


def _unpacked(node: ast.expr, names: _Names) -> Iterator[Word]:
    """``**settings``, where the script writes the settings out."""
    try:
        value = names.value(node)
    except _UNREADABLE:
        return
    for key, given in value.items() if isinstance(value, dict) else ():
        yield from _value_words(f"--{key.replace('_', '-')}", given)


def _flag(key: str, node: ast.expr, names: _Names) -> Iterator[Word]:
    name = f"--{key.replace('_', '-')}"
    try:
        value = names.value(node)
    except _UNREADABLE:
        yield Word(text=f"{name}={_text(node, names)}")
        return
    yield from _value_words(name, value)


def _value_words(name: str, value: Json) -> Iterator[Word]:
    if value is True:
        yield Word(text=name)
    elif value is not None and value is not False:
        yield Word(text=f"{name}={_written(value)}")


def _literal(node: ast.expr) -> Json:
    value: Json = ast.literal_eval(node)
    return value


def _text(node: ast.expr, names: _Names) -> str:
    try:
        return _written(names.value(node))
    except _UNREADABLE:
        return f"${node.id}" if isinstance(node, ast.Name) else "$EXPRESSION"


def _written(value: Json) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return "$EXPRESSION"
