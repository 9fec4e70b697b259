"""What vllm-ascend changes of the vLLM underneath: methods that run, step limit, quantization."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from deployments.planning.engines.accepted import Flag, Spelling
from deployments.planning.engines.reading.sources import SourceTree
from deployments.planning.methods import Method, normalise_method

PLUGIN = "vllm_ascend/"
DISPATCH = (
    f"{PLUGIN}spec_decode/__init__.py",
    f"{PLUGIN}worker/model_runner_v1.py",
)
STEP_LIMIT = re.compile(r"assert self\.decode_threshold <= (\d+)")
QUANTIZATION = "--quantization"
PLUGIN_QUANTIZATION = "ascend"


def plugin_spellings(
    tree: SourceTree, spellings: tuple[Spelling, ...]
) -> tuple[Spelling, ...]:
    """The spellings of the vLLM underneath, marked by what the plugin's proposers take."""
    words = set(_dispatched(tree))
    if not words:
        return spellings
    return tuple(replace(one, runs=_takes(words, one)) for one in spellings)


def plugin_flags(flags: tuple[Flag, ...]) -> tuple[Flag, ...]:
    """The flags of the vLLM underneath; the plugin adds its own quantization to the choices."""
    return tuple(
        replace(flag, choices=tuple(sorted({*flag.choices, PLUGIN_QUANTIZATION})))
        if flag.name == QUANTIZATION and flag.choices
        else flag
        for flag in flags
    )


def step_limit(tree: SourceTree) -> int | None:
    """The most tokens of one request in a step (draft tokens + 1), ``None`` for no such check."""
    found = [
        int(limit)
        for path in tree.paths(f"{PLUGIN}attention/")
        for limit in STEP_LIMIT.findall(tree.text(path))
    ]
    return min(found) if found else None


def _takes(words: set[str], spelling: Spelling) -> bool:
    if spelling.method is Method.MTP:
        return any(_is_mtp(word) for word in words)
    return spelling.name in words


def _is_mtp(word: str) -> bool:
    return word.endswith("mtp") and normalise_method(word) is Method.MTP


def _dispatched(tree: SourceTree) -> Iterator[str]:
    """Every string that ``method`` is compared with where the proposer is chosen."""
    for path in DISPATCH:
        module = tree.module(path.removesuffix(".py").replace("/", "."))
        found = list(_compared(module)) if module else []
        if found:
            yield from found
            return


def _compared(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Compare) and _is_method(node.left):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def _is_method(node: ast.expr) -> bool:
    return ast.unparse(node).rpartition(".")[2] == "method"
