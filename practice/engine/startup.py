"""Startup: recorded vLLM 0.32.0 lines, filled with this server's method, count and names."""

import os
import pathlib
import re
import string
from collections.abc import Iterator

from practice.engine.arguments import ServeArguments
from practice.engine.output import Output, api_prefix, log_time
from practice.engine.speculation import Speculation

DATA = pathlib.Path(__file__).parent / "data"
_CONDITION = re.compile(r"\[([a-z0-9_,]+)\] ")


class Lines:
    """Fills the recorded lines for one command line."""

    def __init__(
        self, arguments: ServeArguments, speculation: Speculation | None
    ) -> None:
        self._values = _values(arguments, speculation)
        self._tags = _tags(speculation)

    def write(self, output: Output, name: str, **more: str) -> None:
        """Write every line of the recording ``name``."""
        for text, to_stderr in self.filled(name, **more):
            (output.err if to_stderr else output.out)(text)

    def filled(self, name: str, **more: str) -> Iterator[tuple[str, bool]]:
        """Yield the lines of a recording and whether each goes to standard error."""
        for line in (DATA / f"{name}.txt").read_text().splitlines():
            text = self._chosen(line)
            if text is not None:
                values = self._values | {"time": log_time()} | more
                recorded = string.Template(text.removeprefix("stderr| "))
                yield recorded.substitute(values), text.startswith("stderr| ")

    def _chosen(self, line: str) -> str | None:
        """Return a line of a recording without its condition, ``None`` when it is not met."""
        condition = _CONDITION.match(line)
        if line.startswith("#"):
            return None
        if condition is None:
            return line
        met = not self._tags.isdisjoint(condition[1].split(","))
        return line[condition.end() :] if met else None


def _tags(speculation: Speculation | None) -> set[str]:
    if speculation is None:
        return set()
    tags = {"speculation", speculation.method}
    if speculation.method == "mtp" and speculation.spelled != "mtp":
        tags.add("renamed")
    return tags


def _values(
    arguments: ServeArguments, speculation: Speculation | None
) -> dict[str, str]:
    pid = os.getpid()
    return {
        "api": api_prefix(),
        "engine_core": f"(EngineCore pid={pid + 25})",
        "worker": f"(Worker pid={pid + 42})",
        "pid": str(pid),
        "model": arguments.model,
        "served_name": arguments.served_names[0],
        "speculation": str(speculation),
        "spelled": speculation.spelled if speculation else "",
        "method": speculation.method if speculation else "",
        "max_model_len": str(arguments.max_model_len),
        "tensor_parallel_size": str(arguments.integer("tensor_parallel_size", 1)),
        "pipeline_parallel_size": str(arguments.integer("pipeline_parallel_size", 1)),
        "data_parallel_size": str(arguments.integer("data_parallel_size", 1)),
        "quantization": str(arguments.text("quantization")),
        "enforce_eager": str(bool(arguments.given.get("enforce_eager"))),
        "non_default": repr({"model_tag": arguments.model} | arguments.given),
    }
