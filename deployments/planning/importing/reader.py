"""Reads an input of any kind into launches; the only entry of this package."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from deployments.planning.importing.arguments import Arguments, read_arguments
from deployments.planning.importing.commands import Command, Scope, read_commands
from deployments.planning.importing.compose import Service, read_services
from deployments.planning.importing.container import Container
from deployments.planning.importing.docker_run import is_docker_run, read_docker_run
from deployments.planning.importing.launch import (
    API_SERVER,
    ATOM,
    PYTHON_CALL,
    SGLANG,
    VLLM_SERVE,
    Launch,
)
from deployments.planning.importing.limits import (
    DEEPEST_SCRIPT,
    MOST_LAUNCHES,
    Budget,
    UnreadableLaunchError,
    decoded,
)
from deployments.planning.importing.other_servers import other_speculation
from deployments.planning.importing.programs import (
    BENCHMARK,
    MISSING_MODULE,
    find_program,
    find_script,
    image_program,
)
from deployments.planning.importing.python_call import read_calls
from deployments.planning.importing.speculation import read_speculation
from deployments.planning.importing.words import Remark, RemarkKind, Word
from deployments.planning.importing.yaml_nodes import (
    YamlBrokenError,
    entries,
    read_documents,
    scalar,
)
from deployments.planning.text import text

_OUTPUT = re.compile(r"^-{2,} ?output ?-{2,}[ \t\r]*$", re.MULTILINE | re.IGNORECASE)
_SERVICES = re.compile(r"^services[ \t]*:", re.MULTILINE)
_YAML = re.compile(
    r"^[ \t]*(?:-[ \t]+)?(?:containers|command|args|entrypoint|Cmd|\"Cmd\"|\"command\"|\"args\"|\"model\"|model)"
    r"\"?[ \t]*:(?:[ \t\r]|$|\[)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedInput:
    """What an input holds: launches, other commands of interest, remarks, and program output."""

    text: str
    launches: tuple[Launch, ...]
    benchmarks: tuple[Launch, ...] = ()
    containers: tuple[Container, ...] = ()
    remarks: tuple[Remark, ...] = ()
    output: str | None = None
    output_line: int = 0

    def line(self, offset: int) -> int | None:
        """Return the line of an offset, counted from 1; ``None`` for no place."""
        return None if offset < 0 else self.text.count("\n", 0, offset) + 1


def read_launches(content: bytes | str) -> ImportedInput:
    """Read a command, script, compose file, manifest, Python call or JSON.

    Raises:
        UnreadableLaunchError: it is too large, nested too deeply or no text.
    """
    text = decoded(
        content.encode("utf-8", "replace") if isinstance(content, str) else content
    )
    mark = _OUTPUT.search(text)
    end = mark.start() if mark else len(text)
    reader = _Reader(text, end)
    reader.read()
    return ImportedInput(
        text=text,
        launches=tuple(reader.launches),
        benchmarks=tuple(reader.benchmarks),
        containers=tuple(reader.containers),
        remarks=tuple(reader.remarks),
        output=text[mark.end() :].lstrip("\r\n") if mark else None,
        output_line=text.count("\n", 0, mark.end()) + 1 if mark else 0,
    )


class _Reader:
    def __init__(self, text: str, end: int) -> None:
        self.text = text
        self.end = end
        self.budget = Budget()
        self.launches: list[Launch] = []
        self.benchmarks: list[Launch] = []
        self.containers: list[Container] = []
        self.remarks: list[Remark] = []

    def read(self) -> None:
        if not self._yaml(0, self.end):
            commands, remarks = read_commands(self.text, 0, self.end, self.budget)
            self._embedded_yaml()
            self._commands(commands, 0)
            if self.launches or self.benchmarks or self.containers:
                self.remarks.extend(remarks)
        self._calls()

    def _calls(self) -> None:
        for words in read_calls(self.text, self.end, self.budget):
            self._launch(PYTHON_CALL, words, (), {}, Scope(), None)

    def _embedded_yaml(self) -> None:
        """A compose file that a script writes with a here-document, or a fenced block."""
        match = _SERVICES.search(self.text, 0, self.end)
        if match is None:
            return
        stop = re.compile(r"^(?:EOF|END|YAML|```)\s*$", re.MULTILINE).search(
            self.text, match.end(), self.end
        )
        self._yaml(match.start(), stop.start() if stop else self.end)

    def _yaml(self, start: int, end: int) -> bool:
        region = self.text[start:end]
        stripped = region.lstrip()
        if not (
            _SERVICES.search(region)
            or _YAML.search(region)
            or stripped.startswith(("[", '{"'))
        ):
            return False
        sure = _SERVICES.match(stripped) is not None
        try:
            documents = read_documents(region)
        except YamlBrokenError as error:
            if sure:
                at = _line_start(region, error.line) + start
                self.remarks.append(
                    Remark(
                        kind=RemarkKind.YAML_BROKEN,
                        start=at,
                        end=at,
                        text=str(error),
                    )
                )
            return False
        except UnreadableLaunchError:
            if sure:
                raise
            return False
        services = read_services(region, documents, start, self.budget)
        for service in services:
            self._service(service)
        if not services:
            return any(self._document(top, start) for top in documents)
        return True

    def _document(self, top: object, start: int) -> bool:
        """A list of arguments, or the flags of a launch as keys (``vllm serve --config``)."""
        node = top if hasattr(top, "start_mark") else None
        if node is None:
            return False
        texts = [
            scalar(one) for one in getattr(node, "value", []) if hasattr(one, "value")
        ]
        values = entries(node)  # type: ignore[arg-type]
        if values and "model" in values:
            words = tuple(_config_words(values))
            self._launch(VLLM_SERVE, words, (), {}, Scope(), None)
            return True
        if texts and all(isinstance(one, str) for one in texts) and not values:
            words = tuple(Word(text=str(one)) for one in texts)
            return self._words(words, {}, Scope(), None, None, 0)
        return False

    def _service(self, service: Service) -> None:
        container = service.container
        self.containers.append(container)
        if service.environment_file:
            self.remarks.append(
                Remark(
                    kind=RemarkKind.ENVIRONMENT_FILE,
                    start=container.start,
                    end=container.start,
                    text=service.environment_file,
                )
            )
        self._in_container(
            service.words, service.environment, Scope(), container, None, 0
        )

    def _in_container(
        self,
        words: tuple[Word, ...],
        environment: dict[str, Word],
        scope: Scope,
        container: Container,
        redirected: str | None,
        depth: int,
    ) -> None:
        own = image_program(container.image) if container.entrypoint is None else None
        if own is None:
            self._words(words, environment, scope, container, redirected, depth)
            return
        found = find_program(words)
        if found is not None and found.at <= 3 and words:
            first = words[0]
            self.remarks.append(
                Remark(
                    kind=RemarkKind.ENTRYPOINT_TWICE,
                    start=first.start,
                    end=words[found.arguments_at - 1].end,
                    text=" ".join(one.text for one in words[: found.arguments_at]),
                )
            )
            self._words(words, environment, scope, container, redirected, depth)
        elif find_script(words) is not None:
            self._words(words, environment, scope, container, redirected, depth)
        elif words:
            self._launch(own, words, (), environment, scope, container, redirected)

    def _commands(self, commands: Iterable[Command], depth: int) -> None:
        outer: Container | None = None
        for command in commands:
            at = is_docker_run(command.words)
            if at is None:
                self._words(
                    command.words,
                    command.environment,
                    command.scope,
                    outer,
                    command.redirected,
                    depth,
                )
                continue
            container, environment, rest = read_docker_run(command.words[at:])
            self.containers.append(container)
            before = len(self.launches)
            self._in_container(
                rest, environment, command.scope, container, command.redirected, depth
            )
            if len(self.launches) == before:
                outer = container

    def _words(
        self,
        words: tuple[Word, ...],
        environment: dict[str, Word],
        scope: Scope,
        container: Container | None,
        redirected: str | None,
        depth: int,
    ) -> bool:
        found = find_program(words)
        if found is not None:
            self._launch(
                found.program,
                words[found.arguments_at :],
                words[found.at : found.arguments_at],
                environment,
                scope,
                container,
                redirected,
            )
            return True
        script = find_script(words)
        if script is None or depth >= DEEPEST_SCRIPT:
            return False
        self._script(script, environment, container, depth + 1)
        return True

    def _script(
        self,
        script: Word,
        environment: dict[str, Word],
        container: Container | None,
        depth: int,
    ) -> None:
        inside = (
            self.text[script.start + 1 : script.end - 1] if script.has_place else None
        )
        if inside == script.text:
            commands, remarks = read_commands(
                self.text, script.start + 1, script.end - 1, self.budget
            )
            self.remarks.extend(remarks)
        else:
            commands, _ = read_commands(script.text, 0, len(script.text), self.budget)
            commands = [_without_places(one) for one in commands]
        for command in commands:
            self._words(
                command.words,
                {**environment, **command.environment},
                command.scope,
                container,
                command.redirected,
                depth,
            )

    def _launch(
        self,
        program: str,
        words: tuple[Word, ...],
        name: tuple[Word, ...],
        environment: dict[str, Word],
        scope: Scope,
        container: Container | None,
        redirected: str | None = None,
    ) -> None:
        if len(self.launches) + len(self.benchmarks) >= MOST_LAUNCHES:
            raise UnreadableLaunchError(
                text(
                    "The input starts more than {most} servers; give fewer at once.",
                    most=MOST_LAUNCHES,
                )
            )
        arguments = read_arguments(words)
        model, word = _model(program, arguments)
        vllm = program in (VLLM_SERVE, API_SERVER, PYTHON_CALL)
        launch = Launch(
            program=program,
            model=model,
            model_word=word,
            arguments=arguments,
            environment=environment,
            speculation=read_speculation(arguments, model, scope)
            if vllm
            else other_speculation(program, arguments),
            words=(*name, *words),
            scope=scope,
            container=container,
            redirected=redirected,
        )
        kind = (
            self.benchmarks if program in (BENCHMARK, MISSING_MODULE) else self.launches
        )
        kind.append(launch)


def _model(program: str, arguments: Arguments) -> tuple[str | None, Word | None]:
    for flag in ("--model", "--model-path", "--model-tag"):
        given = arguments.last(flag)
        if given is not None and given.value is not None:
            return given.value, given.value_word
    if program in (SGLANG, ATOM, VLLM_SERVE, PYTHON_CALL, API_SERVER):
        for word in arguments.positional[:1]:
            return word.text, word
    return None, None


def _config_words(values: dict[str, object]) -> Iterator[Word]:
    for key, node in values.items():
        text = scalar(node)  # type: ignore[arg-type]
        name = f"--{key.replace('_', '-')}"
        if text in ("true", "True"):
            yield Word(text=name)
        elif text is not None and text not in ("false", "False"):
            yield Word(text=f"{name}={text}")
        else:
            for inner, value in entries(node).items():  # type: ignore[arg-type]
                if scalar(value) is not None:
                    yield Word(text=f"{name}.{inner}={scalar(value)}")


def _without_places(command: Command) -> Command:
    return replace(
        command,
        words=tuple(replace(one, start=-1, end=-1) for one in command.words),
    )


def _line_start(text: str, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = text.find("\n", at) + 1
    return at
