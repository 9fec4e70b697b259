"""Arguments: the flag surface of ``vllm serve`` 0.32.0, with its refusals word by word."""

import argparse
import json
import pathlib
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

type_error = argparse.ArgumentTypeError
FLAGS_FILE = pathlib.Path(__file__).parent / "data" / "flags.txt"
SUBCOMMANDS = (
    "chat,complete,serve,launch,bench,collect-env,download-kernels,preload,run-batch,"
    "snapshot"
)
TOP_USAGE = f"usage: vllm [-h] [-v]\n            {{{SUBCOMMANDS}}}\n            ..."
VERSION = "0.32.0"
USAGE_EXIT_CODE = 2
DEFAULT_MAX_MODEL_LEN = 4096
_SIZES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_DOTTED = re.compile(r"(--?[A-Za-z][A-Za-z-]*)\.([^=]+)(?:=(.*))?$", re.DOTALL)


class UsageError(Exception):
    """The command line is refused: the lines for standard error; the exit code is 2."""


@dataclass(frozen=True, slots=True)
class ServeArguments:
    """A parsed ``vllm serve`` command line: the model, and what was set, in the given order."""

    model: str
    given: dict[str, object]

    def text(self, name: str) -> str | None:
        """Return a text value, or ``None`` when the flag was not given."""
        value = self.given.get(name)
        return value if isinstance(value, str) else None

    def integer(self, name: str, default: int) -> int:
        """Return a whole number, or ``default`` when the flag was not given."""
        value = self.given.get(name)
        return value if isinstance(value, int) else default

    def mapping(self, name: str) -> dict[str, object]:
        """Return a JSON object, empty when the flag was not given."""
        value = self.given.get(name)
        return value if isinstance(value, dict) else {}

    @property
    def served_names(self) -> tuple[str, ...]:
        """The names that clients may ask for; the model path when none was given."""
        names = self.given.get("served_model_name")
        return tuple(names) if isinstance(names, list) and names else (self.model,)

    @property
    def max_model_len(self) -> int:
        """The context length in tokens; a round number when the model was to decide."""
        length = self.integer("max_model_len", DEFAULT_MAX_MODEL_LEN)
        return length if length > 0 else DEFAULT_MAX_MODEL_LEN

    @property
    def engine_count(self) -> int:
        """How many data parallel engines this server reports on."""
        local = self.integer("data_parallel_size_local", 0)
        if self.given.get("data_parallel_rank") is not None:
            return 1
        return max(1, local or self.integer("data_parallel_size", 1))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.usage}\nvllm serve: error: {message}")


def parse_command(argv: Sequence[str]) -> ServeArguments:
    """Read what follows ``vllm``; for anything but ``serve`` and ``--version`` it is refused.

    Raises:
        UsageError: as the real parser refuses: unknown flags, values of the wrong kind.
        SystemExit: ``--version`` was answered.
    """
    if list(argv[:1]) in (["-v"], ["--version"]):
        sys.stdout.write(f"{VERSION}\n")
        raise SystemExit(0)
    if list(argv[:1]) != ["serve"]:
        words = " ".join(argv[:1])
        choices = ", ".join(f"'{name}'" for name in SUBCOMMANDS.split(","))
        raise UsageError(
            f"{TOP_USAGE}\nvllm: error: argument subparser: invalid choice: '{words}' "
            f"(choose from {choices})"
        )
    return _parse_serve(argv[1:])


def _parse_serve(argv: Sequence[str]) -> ServeArguments:
    parser = _serve_parser()
    known, unknown = parser.parse_known_args(_plain_flags(_model_first(argv)))
    if unknown:
        raise UsageError(
            f"{TOP_USAGE}\nvllm: error: unrecognized arguments: {' '.join(unknown)}"
        )
    given = {
        name: value
        for name, value in vars(known).items()
        if value is not None and name != "model_tag"
    }
    model = known.model_tag or given.pop("model", None) or "Qwen/Qwen3-0.6B"
    given.pop("model", None)
    return ServeArguments(str(model), given)


def _serve_parser() -> _Parser:
    parser = _Parser(
        prog="vllm serve",
        usage="usage: vllm serve [model_tag] [options]",
        add_help=False,
    )
    parser.add_argument("model_tag", nargs="?")
    for line in FLAGS_FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            kind, *names = line.split()
            _add_flag(parser, kind, names)
    return parser


def _add_flag(parser: argparse.ArgumentParser, kind: str, names: list[str]) -> None:
    names = sorted(names, key=lambda name: not name.startswith("--"))
    if kind == "switch":
        parser.add_argument(*names, action=argparse.BooleanOptionalAction, default=None)
    elif kind == "bare":
        parser.add_argument(*names, action="store_true", default=None)
    elif kind == "list":
        parser.add_argument(*names, nargs="+")
    elif kind == "optional":
        parser.add_argument(*names, nargs="?", const=True)
    else:
        parser.add_argument(*names, type=_READERS[kind])


def _json(text: str) -> object:
    if text in ("", "None"):
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise type_error(
            f"Value {text} cannot be converted to {json.loads!r}."
        ) from error


def _size(text: str) -> int:
    text = text.strip()
    unit = _SIZES.get(text[-1:]) or _BINARY_SIZES.get(text[-1:])
    try:
        return int(float(text[:-1]) * unit) if unit else int(text)
    except ValueError as error:
        raise type_error(f"Value {text} cannot be converted to {int!r}.") from error


def _context(text: str) -> int:
    return -1 if text.strip().lower() in ("-1", "auto") else _size(text)


_READERS: dict[str, Callable[[str], object]] = {
    "int": int,
    "float": float,
    "text": str,
    "size": _size,
    "context": _context,
    "json": _json,
}


def _model_first(argv: Sequence[str]) -> list[str]:
    """Move the value of ``--model`` to the front, as the real command does."""
    for index, word in enumerate(argv):
        if word == "--model" and index + 1 < len(argv):
            return [argv[index + 1], *argv[:index], *argv[index + 2 :]]
        if word.startswith("--model="):
            return [word.partition("=")[2], *argv[:index], *argv[index + 1 :]]
    return list(argv)


def _plain_flags(words: list[str]) -> list[str]:
    """Write flags with dashes, and dotted flags (``--json-arg.key value``) as one JSON value."""
    plain: list[str] = []
    objects: dict[str, dict[str, object]] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            plain.append(word)
            continue
        name, equals, value = word.partition("=")
        head, dot, tail = name.partition(".")
        head = head.replace("_", "-") if head.startswith("--") else head
        dotted = _DOTTED.match(head + dot + tail + equals + value)
        if dotted is None:
            plain.append(head + dot + tail + equals + value)
            continue
        flag, keys, given = dotted.groups()
        _set_key(
            objects.setdefault(flag, {}),
            keys,
            next(rest, "") if given is None else given,
        )
    for flag, content in objects.items():
        plain += [flag, json.dumps(content)]
    return plain


def _set_key(content: dict[str, object], keys: str, text: str) -> None:
    *path, last = keys.split(".")
    for key in path:
        inner = content.setdefault(key, {})
        content = inner if isinstance(inner, dict) else {}
    value: object
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if not last.endswith("+"):
        content[last] = value
        return
    items = content.setdefault(last[:-1], [])
    if isinstance(items, list):
        items += text.split(",") if isinstance(value, str) else [value]
