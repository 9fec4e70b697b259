"""Has the parser of an engine read commands; its text runs inside a throw-away container.

Needs the engine's own Python and nothing of the panel. Works with vLLM from 0.8.5 on, where the
command ``vllm serve`` is a class with ``subparser_init`` and ``validate`` (checked to 0.32.0), and with
the practice image. The answer is one line: the mark and a JSON document.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

PARSERS = ("vllm.utils.argparse_utils", "vllm.utils")
COMMANDS = "vllm.entrypoints.cli.serve"
PRACTICE = "/opt/practice"
LONGEST = 600

Told = dict[str, Any]


def main(mark: str, asked: list[str]) -> None:
    """Read every command and print what came of each, whatever the engine itself prints meanwhile."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    told: Told = {"cannot": "", "version": "", "answers": []}
    try:
        read, told["version"] = practice() if os.path.isdir(PRACTICE) else engine()  # noqa: PTH112 - in any Python
        told["answers"] = [answer(read, json.loads(one)) for one in asked]
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parser does not run
        last = traceback.format_exception_only(type(error), error)[-1].strip()
        told["cannot"] = (last or type(error).__name__)[-LONGEST:]
    answers.write(f"{mark}{json.dumps(told)}\n")
    answers.flush()


def answer(read: Callable[[list[str]], None], words: list[str]) -> Told:
    """What the parser says of one command: a refusal in its words, or nothing."""
    said = io.StringIO()
    sys.argv = list(words)  # some checks of the engine look there
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            read(words[1:])
    except SystemExit as ended:
        if ended.code in (0, None):
            return {"refusal": ""}
        return {"refusal": said.getvalue().strip()[-LONGEST:] or "exit"}
    except Exception as error:  # noqa: BLE001 - whatever it is, it refuses
        return {"refusal": (str(error).strip() or type(error).__name__)[:LONGEST]}
    return {"refusal": ""}


def engine() -> tuple[Callable[[list[str]], None], str]:
    """The parser of vLLM as its program builds it, and its version."""
    import vllm  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - of the image

    parser_class = None
    for name in PARSERS:
        with contextlib.suppress(ImportError, AttributeError):
            parser_class = importlib.import_module(name).FlexibleArgumentParser
            break
    if parser_class is None:
        raise ImportError("FlexibleArgumentParser is in none of " + ", ".join(PARSERS))
    command = importlib.import_module(COMMANDS).ServeSubcommand()
    whole = parser_class(prog="vllm")
    command.subparser_init(whole.add_subparsers(dest="subparser"))

    def read(words: list[str]) -> None:
        command.validate(whole.parse_args(words))

    return read, str(vllm.__version__)


def practice() -> tuple[Callable[[list[str]], None], str]:
    """The parser of the practice image."""
    sys.path.insert(0, os.path.dirname(PRACTICE))  # noqa: PTH120 - in any Python
    arguments = importlib.import_module("practice.engine.arguments")

    def read(words: list[str]) -> None:
        arguments.parse_command(words)

    return read, str(arguments.VERSION)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
