"""Sentences of the pure core and of the executor are texts with literal templates."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.planning.text import fields_of
from tests.house.sources import TOP, name_of, python_files

ROOMS = (
    "deployments/planning",
    "deployments/telemetry",
    "deployments/services/rollout",
    "deployments/docker_api",
)
FILES = [
    *python_files(*ROOMS),
    TOP / "deployments/services/observation.py",
    TOP / "deployments/services/replica_observation.py",
]
SAID_BY_NAME = {
    "message", "fix", "question", "answer", "because", "cause", "next_action", "why", "drafter_noun",
    "warning", "reason",
}  # fmt: skip
SAID_BY_PLACE = {
    **dict.fromkeys(
        (
            "PlanningError",
            "Done",
            "ProbeError",
            "not_restored",
            "DockerApiError",
            "AddressRefusedError",
            "PolicyError",
            "EngineUnreachableError",
            "EngineTimeoutError",
            "PullCancelledError",
            "PullStalledError",
        ),
        (0,),
    ),
    "StepFailedError": (1, 2),
}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a file with the last part of the called name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield str(getattr(node.func, "id", getattr(node.func, "attr", ""))), node


def said(name: str, call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call that people read."""
    for keyword in call.keywords:
        if keyword.arg in SAID_BY_NAME and name != "text":
            yield keyword.value
    for place in SAID_BY_PLACE.get(name, ()):
        if place < len(call.args):
            yield call.args[place]


def plain(value: ast.expr) -> Iterator[ast.expr]:
    """The string literals of an expression that no ``text`` is around."""
    match value:
        case ast.JoinedStr():
            yield value
        case ast.Constant(value=str(words)) if words:
            yield value
        case ast.IfExp(body=body, orelse=orelse):
            yield from plain(body)
            yield from plain(orelse)
        case ast.BoolOp(values=values):
            for one in values:
                yield from plain(one)
        case ast.BinOp(left=left, right=right):
            yield from plain(left)
            yield from plain(right)
        case _:
            return


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_templates_are_literals_whose_fields_are_given(path: Path) -> None:
    """Others cannot be found for translation."""
    for name, call in calls(path):
        if name != "text" or not isinstance(call.func, ast.Name):
            continue
        template = call.args[0]
        assert isinstance(template, ast.Constant), ast.unparse(call)
        assert isinstance(template.value, str), ast.unparse(call)
        given = {keyword.arg for keyword in call.keywords if keyword.arg}
        assert len(given) == len(call.keywords), ast.unparse(call)
        assert not given or given == fields_of(template.value), ast.unparse(call)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_what_people_read_is_no_plain_string(path: Path) -> None:
    """A plain string stays English on every page."""
    for name, call in calls(path):
        for value in said(name, call):
            assert not [ast.unparse(one) for one in plain(value)], f"line {call.lineno}"


def test_every_room_is_looked_at() -> None:
    """A room that is gone would make these tests empty."""
    assert len(FILES) > len(ROOMS) * 5
    assert any(name == "text" for path in FILES for name, _call in calls(path))
