"""``LLM(...)`` and ``EngineArgs(...)`` in Python: parsed as text, never run."""

import ast
import itertools
import json
import re
from collections.abc import Iterator

from deployments.planning.importing.limits import (
    LARGEST_PYTHON_CHARACTERS,
    Budget,
)
from deployments.planning.importing.words import Word

_CALL = re.compile(r"\b(?:LLM|EngineArgs|AsyncEngineArgs)\s*\(")
_MOST_CALLS = 50


def read_calls(text: str, end: int, budget: Budget) -> Iterator[tuple[Word, ...]]:
    """Yield each call as the words of a serve command: the model first, then flags."""
    for match in itertools.islice(_CALL.finditer(text, 0, end), _MOST_CALLS):
        stop = _closing(text, match.end() - 1, end, budget)
        call = _parsed(text[match.start() : stop]) if stop else None
        if call is not None:
            yield tuple(_words(call))


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


def _words(call: ast.Call) -> Iterator[Word]:
    for argument in call.args[:1]:
        yield Word(text=_text(argument), start=-1)
    for keyword in call.keywords:
        if keyword.arg is None:
            continue
        name = f"--{keyword.arg.replace('_', '-')}"
        value = keyword.value
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            if value.value:
                yield Word(text=name)
        elif isinstance(value, ast.Constant) and value.value is None:
            continue
        else:
            yield Word(text=f"{name}={_text(value)}")


def _text(node: ast.expr) -> str:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return f"${node.id}" if isinstance(node, ast.Name) else "$EXPRESSION"
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return "$EXPRESSION"
