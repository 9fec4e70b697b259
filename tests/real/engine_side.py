"""Answers from vLLM's own code; run by the Python of vLLM's environment, never imported."""

import argparse
import contextlib
import dataclasses
import functools
import io
import json
import os
import sys
from typing import Any, get_args

from vllm.config import ModelConfig, ParallelConfig, SpeculativeConfig
from vllm.config.speculative import SpeculativeMethod
from vllm.entrypoints.cli.serve import ServeSubcommand
from vllm.utils.argparse_utils import FlexibleArgumentParser

Answer = dict[str, Any]


@functools.cache
def parsers() -> tuple[FlexibleArgumentParser, FlexibleArgumentParser]:
    """The command line as ``vllm`` builds it, and its ``serve``."""
    whole = FlexibleArgumentParser(prog="vllm")
    serve = ServeSubcommand().subparser_init(whole.add_subparsers(dest="subparser"))
    return whole, serve


def parse(words: list[str]) -> Answer:
    """Parse as the program does, and run the checks that need no model."""
    whole, _serve = parsers()
    said = io.StringIO()
    before = sys.argv
    try:
        sys.argv = ["vllm", *words]  # some checks look there
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            found = whole.parse_args(words)
            ServeSubcommand().validate(found)
    except SystemExit:
        return {"refusal": said.getvalue()[-500:] or "exit"}
    except Exception as error:  # noqa: BLE001 - whatever it is, it refuses
        return {"refusal": str(error)[:500] or type(error).__name__}
    finally:
        sys.argv = before
    return {"refusal": None}


@functools.cache
def target_config(folder: str) -> ModelConfig:
    """The target as vLLM sees it, from its configuration only."""
    return ModelConfig(model=folder, skip_tokenizer_init=True, dtype="bfloat16")


def speculate(asked: Answer) -> Answer:
    """Build the speculative config against a target."""
    values = {
        key.replace("-", "_"): value for key, value in asked["speculative"].items()
    }
    try:
        SpeculativeConfig(
            target_model_config=target_config(asked["target"]),
            target_parallel_config=ParallelConfig(
                tensor_parallel_size=asked["tensor_parallel_size"]
            ),
            **values,
        )
    except Exception as error:  # noqa: BLE001 - whatever it is, it refuses
        return {"refusal": str(error)[:500] or type(error).__name__}
    return {"refusal": None}


def flags() -> Answer:
    """Describe every option of ``vllm serve``."""
    _whole, serve = parsers()
    return {
        "flags": [
            {
                "names": action.option_strings,
                "choices": None
                if action.choices is None
                else [str(choice) for choice in action.choices],
                "values": action.nargs,
                "boolean": isinstance(action, argparse.BooleanOptionalAction),
                "repeated": type(action).__name__ == "_AppendAction",
            }
            for action in serve._actions  # noqa: SLF001 - argparse shows them nowhere else
            if action.option_strings
        ]
    }


def keys() -> Answer:
    """Describe the keys that a person may write into the speculative config."""
    found = {}
    for field in dataclasses.fields(SpeculativeConfig):
        value: Any = field.default
        value = getattr(value, "default", value)  # of a pydantic FieldInfo
        known = value is None or isinstance(value, (str, int, float, bool))
        found[field.name] = json.dumps(value) if known else None
    return {"keys": found, "methods": list(get_args(SpeculativeMethod))}


def answer(asked: Answer) -> Answer:
    """Answer one question."""
    if "parse" in asked:
        return parse(asked["parse"])
    if "speculative" in asked:
        return speculate(asked)
    return flags() if "flags" in asked else keys()


def main() -> None:
    """Answer a line for a line until the input ends; what vLLM itself prints goes to the log."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
