"""Reads an input of any kind into launches; the only entry of this package."""

import bisect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from deployments.planning.importing.collector import Collector, Surroundings
from deployments.planning.importing.commands import COMPOSE, read_commands
from deployments.planning.importing.compose import read_services
from deployments.planning.importing.container import Container
from deployments.planning.importing.dockerfile import read_dockerfile
from deployments.planning.importing.launch import PYTHON_CALL, VLLM_SERVE, Launch
from deployments.planning.importing.limits import UnreadableLaunchError, decoded
from deployments.planning.importing.python_call import (
    read_calls,
    read_lists,
)
from deployments.planning.importing.words import Remark, RemarkKind, Word
from deployments.planning.importing.yaml_nodes import (
    Node,
    YamlBrokenError,
    entries,
    items,
    read_documents,
    scalar,
)

_OUTPUT = re.compile(r"^-{2,} ?output ?-{2,}[ \t\r]*$", re.MULTILINE | re.IGNORECASE)
_YAML = re.compile(
    r"^[ \t]*(?:-[ \t]+)?\"?(?:containers|command|args|entrypoint|Cmd|model)\"?[ \t]*:(?:[ \t\r]|$|\[)",
    re.MULTILINE,
)
_SPECULATIVE = frozenset(("num_speculative_tokens", "method"))
_LINE_END = re.compile(r"\n")
_END_OF_YAML = re.compile(r"^(?:EOF|END|YAML|```)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedInput:
    """What an input holds: launches, other commands of interest, remarks, and program output.

    ``output`` is what stands below the line ``--- output ---``, which is line ``output_line``.
    """

    text: str
    launches: tuple[Launch, ...]
    benchmarks: tuple[Launch, ...] = ()
    containers: tuple[Container, ...] = ()
    remarks: tuple[Remark, ...] = ()
    output: str | None = None
    output_line: int = 0
    line_starts: tuple[int, ...] = (0,)

    def line(self, offset: int) -> int | None:
        """Return the line of an offset, counted from 1; ``None`` for no place."""
        return None if offset < 0 else bisect.bisect_right(self.line_starts, offset)


def read_launches(content: bytes | str) -> ImportedInput:
    """Read a command, script, compose file, manifest, Python call or JSON.

    Raises:
        UnreadableLaunchError: it is too large, nested too deeply or no text.
    """
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    text = decoded(raw)
    mark = _OUTPUT.search(text)
    reader = _Reader(text, mark.start() if mark else len(text))
    reader.read()
    found = reader.collector
    return ImportedInput(
        text=text,
        launches=tuple(found.launches),
        benchmarks=tuple(found.benchmarks),
        containers=tuple(found.containers),
        remarks=tuple(found.remarks),
        output=text[mark.end() + 1 :] if mark else None,
        output_line=text.count("\n", 0, mark.end()) + 1 if mark else 0,
        line_starts=(0, *(match.end() for match in _LINE_END.finditer(text))),
    )


class _Reader:
    def __init__(self, text: str, end: int) -> None:
        self.text = text
        self.end = end
        self.collector = Collector(text)

    def read(self) -> None:
        """Try YAML and JSON, then shell; Python calls may stand anywhere."""
        found = self.collector
        image = read_dockerfile(self.text[: self.end])
        if image is not None:
            found.service(image)
        elif not self._yaml(0, self.end):
            commands, remarks = read_commands(self.text, 0, self.end, found.budget)
            self._embedded_yaml()
            found.commands(commands)
            if not found.empty:
                found.remarks.extend(remarks)
        for words in read_calls(self.text, self.end, found.budget):
            found.launch(PYTHON_CALL, (), words, Surroundings())
        if found.empty:
            for words in read_lists(self.text, self.end, found.budget):
                found.words(words, Surroundings())

    def _embedded_yaml(self) -> None:
        """A compose file that a script writes with a here-document, or a fenced block."""
        match = COMPOSE.search(self.text, 0, self.end)
        if match is None:
            return
        stop = _END_OF_YAML.search(self.text, match.end(), self.end)
        self._yaml(match.start(), stop.start() if stop else self.end)

    def _yaml(self, start: int, end: int) -> bool:
        region = self.text[start:end]
        stripped = region.lstrip()
        sure = COMPOSE.match(stripped) is not None
        if not (
            sure
            or stripped.startswith(("[", "{"))
            or COMPOSE.search(region)
            or _YAML.search(region)
        ):
            return False
        try:
            documents = read_documents(region)
        except YamlBrokenError as error:
            if sure:
                self._broken(region, start, error)
            return False
        except UnreadableLaunchError:
            if sure:
                raise
            return False
        services = read_services(region, documents, start, self.collector.budget)
        for service in services:
            self.collector.service(service)
        return bool(services) or any(self._document(top) for top in documents)

    def _broken(self, region: str, start: int, error: YamlBrokenError) -> None:
        at = start
        for _ in range(error.line - 1):
            at = self.text.find("\n", at, start + len(region)) + 1
        self.collector.remarks.append(
            Remark(kind=RemarkKind.YAML_BROKEN, start=at, end=at, text=str(error))
        )

    def _document(self, top: Node) -> bool:
        """A list of arguments, or the flags of a launch as keys (``vllm serve --config``)."""
        values = entries(top)
        if _SPECULATIVE & set(values):
            value = self.text[top.start_mark.index : top.end_mark.index]
            flag = Word(text="--speculative-config")
            self.collector.launch(
                VLLM_SERVE, (), (flag, Word(text=value.strip())), Surroundings()
            )
            return True
        if "model" in values:
            words = tuple(_config_words(values))
            self.collector.launch(VLLM_SERVE, (), words, Surroundings())
            return True
        texts = [scalar(one) for one in items(top)]
        if not texts or None in texts:
            return False
        words = tuple(Word(text=one) for one in texts if one is not None)
        return self.collector.words(words, Surroundings())


def _config_words(values: Mapping[str, Node]) -> Iterator[Word]:
    for key, node in values.items():
        text = scalar(node)
        name = f"--{key.replace('_', '-')}"
        if text in ("true", "True"):
            yield Word(text=name)
        elif text is not None and text not in ("false", "False"):
            yield Word(text=f"{name}={text}")
        for inner, value in entries(node).items():
            if scalar(value) is not None:
                yield Word(text=f"{name}.{inner}={scalar(value)}")
