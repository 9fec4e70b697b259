"""The metric families of a version, from the strings that name them."""

import ast
import re
from collections.abc import Iterator

from deployments.planning.engines.accepted import Metric, MetricKind
from deployments.planning.engines.reading.sources import SourceTree

NAME = re.compile(r"vllm:[a-z][a-z0-9_]*")
PLACES = (
    "vllm/engine/metrics.py",
    "vllm/v1/",
    "vllm/distributed/kv_transfer/",
    "vllm/entrypoints/",
    "vllm/parser/",
)
OTHER_WAY = frozenset({"reader.py", "orca_metrics.py"})
"""Modules that read or convert metrics, not those that expose them."""
OLD_CORE = "vllm/engine/metrics.py"


def read_metrics(tree: SourceTree) -> tuple[Metric, ...]:
    """Every family, by exposed name; one that both engines have is no V0 family."""
    found: dict[str, Metric] = {}
    for path in _paths(tree):
        for metric in _metrics_of(tree, path):
            kept = found.get(metric.name)
            if kept is None or (kept.old_core and not metric.old_core):
                found[metric.name] = metric
    return tuple(found[name] for name in sorted(found))


def _paths(tree: SourceTree) -> Iterator[str]:
    for place in PLACES:
        for path in tree.paths(place):
            if path.rpartition("/")[2] not in OTHER_WAY and "vllm:" in tree.text(path):
                yield path


def _metrics_of(tree: SourceTree, path: str) -> Iterator[Metric]:
    module = tree.module(path.removesuffix(".py").replace("/", "."))
    if module is None:
        return
    for name, kind, hidden in _named(module, MetricKind.UNKNOWN, hidden=False):
        counted = kind is MetricKind.COUNTER and not name.endswith("_total")
        yield Metric(
            name=f"{name}_total" if counted else name,
            kind=kind,
            hidden=hidden,
            old_core=path == OLD_CORE,
        )


def _named(
    node: ast.AST, kind: MetricKind, *, hidden: bool
) -> Iterator[tuple[str, MetricKind, bool]]:
    """Walk down; a call says what its strings are, a function what its only kind of call is."""
    if isinstance(node, ast.FunctionDef):
        kind = _only_open_kind(node)
    elif isinstance(node, ast.Call):
        kind = _kind_of_call(node) or kind
    elif isinstance(node, ast.If):
        yield from _branches(node, kind, hidden=hidden)
        return
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if NAME.fullmatch(node.value):
            yield node.value, kind, hidden
        return
    for child in ast.iter_child_nodes(node):
        yield from _named(child, kind, hidden=hidden)


def _branches(
    node: ast.If, kind: MetricKind, *, hidden: bool
) -> Iterator[tuple[str, MetricKind, bool]]:
    test = ast.unparse(node.test)
    only_shown = "show_hidden_metrics" in test and not test.startswith("not ")
    for statement in node.body:
        yield from _named(statement, kind, hidden=hidden or only_shown)
    for statement in node.orelse:
        yield from _named(statement, kind, hidden=hidden)


def _only_open_kind(function: ast.FunctionDef) -> MetricKind:
    """The kind of the metrics that the function makes from a variable name, if it is one kind."""
    kinds = {
        kind
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        and (kind := _kind_of_call(call)) is not None
        and not any(
            isinstance(part, ast.Constant) and NAME.fullmatch(str(part.value))
            for part in (*call.args, *(one.value for one in call.keywords))
        )
    }
    return kinds.pop() if len(kinds) == 1 else MetricKind.UNKNOWN


def _kind_of_call(call: ast.Call) -> MetricKind | None:
    name = ast.unparse(call.func).rpartition(".")[2].lower()
    for kind in (MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM):
        if kind.value in name and "labels" not in name:
            return kind
    return None
