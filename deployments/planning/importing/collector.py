"""Collects the servers that commands and containers start, through shells and ``docker run``."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from deployments.planning.importing.arguments import Arguments, read_arguments
from deployments.planning.importing.commands import Command, Scope, read_commands
from deployments.planning.importing.compose import Service
from deployments.planning.importing.container import Container
from deployments.planning.importing.docker_run import is_docker_run, read_docker_run
from deployments.planning.importing.launch import (
    ATOM,
    SGLANG,
    VLLM_PROGRAMS,
    VLLM_SERVE,
    Launch,
)
from deployments.planning.importing.limits import (
    DEEPEST_SCRIPT,
    MOST_LAUNCHES,
    Budget,
    UnreadableLaunchError,
)
from deployments.planning.importing.other_servers import other_speculation
from deployments.planning.importing.programs import (
    BENCHMARK,
    MISSING_MODULE,
    find_program,
    find_script,
    image_program,
)
from deployments.planning.importing.speculation import read_speculation
from deployments.planning.importing.words import Remark, RemarkKind, Word
from deployments.planning.text import text

_FRAGMENTS = (
    "--speculative-config",
    "--speculative_config",
    "--spec-method",
    "--speculative-model",
)
_NAMED_FIRST = frozenset((*VLLM_PROGRAMS, SGLANG, ATOM))


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a command runs in: variables, container, file for its output, depth of scripts."""

    environment: dict[str, Word] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    container: Container | None = None
    redirected: str | None = None
    depth: int = 0


class Collector:
    """Holds what was found so far in one input."""

    def __init__(self, source: str) -> None:
        """Start with nothing found in ``source``."""
        self.text = source
        self.budget = Budget()
        self.launches: list[Launch] = []
        self.benchmarks: list[Launch] = []
        self.containers: list[Container] = []
        self.remarks: list[Remark] = []

    @property
    def empty(self) -> bool:
        """Whether nothing was found yet."""
        return not (self.launches or self.benchmarks or self.containers)

    def commands(self, commands: Iterable[Command]) -> None:
        """Take the commands of a script; a container without a server holds the ones after it."""
        outer: Container | None = None
        for command in commands:
            around = Surroundings(
                environment=command.environment,
                scope=command.scope,
                container=outer,
                redirected=command.redirected,
            )
            at = is_docker_run(command.words)
            if at is None:
                self.words(command.words, around)
                continue
            container, environment, rest = read_docker_run(
                command.words[at:], command.environment
            )
            self.containers.append(container)
            before = len(self.launches)
            self._in_container(
                rest, replace(around, environment=environment, container=container)
            )
            if len(self.launches) == before:
                outer = container

    def service(self, service: Service) -> None:
        """Take a container that a file describes."""
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
        around = Surroundings(environment=service.environment, container=container)
        self._in_container(service.words, around)

    def words(self, words: tuple[Word, ...], around: Surroundings) -> bool:
        """Take one command; false when it starts no server."""
        found = find_program(words)
        if found is not None:
            name = words[found.at : found.arguments_at]
            self.launch(found.program, name, words[found.arguments_at :], around)
            return True
        if _is_fragment(words):
            self.launch(VLLM_SERVE, (), words, around)
            return True
        script = find_script(words)
        if script is None or around.depth >= DEEPEST_SCRIPT:
            return False
        self._script(script, replace(around, depth=around.depth + 1))
        return True

    def launch(
        self,
        program: str,
        name: tuple[Word, ...],
        words: tuple[Word, ...],
        around: Surroundings,
    ) -> None:
        """Take a server with its own words.

        Raises:
            UnreadableLaunchError: there are too many.
        """
        if len(self.launches) + len(self.benchmarks) >= MOST_LAUNCHES:
            raise UnreadableLaunchError(
                text(
                    "The input starts more than {most} servers; give fewer at once.",
                    most=MOST_LAUNCHES,
                )
            )
        arguments = read_arguments(words)
        model, word = _model(program, arguments)
        launch = Launch(
            program=program,
            model=model,
            model_word=word,
            arguments=arguments,
            environment=around.environment,
            speculation=read_speculation(arguments, model, around.scope)
            if program in VLLM_PROGRAMS
            else other_speculation(program, arguments),
            words=(*name, *words),
            scope=around.scope,
            container=around.container,
            redirected=around.redirected,
        )
        measures = program in (BENCHMARK, MISSING_MODULE)
        (self.benchmarks if measures else self.launches).append(launch)

    def _in_container(self, words: tuple[Word, ...], around: Surroundings) -> None:
        container = around.container
        if container is not None and container.entrypoint and not container.compose:
            words = (*(Word(text=one) for one in container.entrypoint), *words)
        own = None
        if container is not None and container.entrypoint is None:
            own = image_program(container.image)
        if own is None or find_script(words) is not None:
            self.words(words, around)
            return
        found = find_program(words)
        if found is None:
            if words:
                self.launch(own, (), words, around)
            return
        self.remarks.append(
            Remark(
                kind=RemarkKind.ENTRYPOINT_TWICE,
                start=words[0].start,
                end=_next_start(words, found.arguments_at),
                text=" ".join(one.text for one in words[: found.arguments_at]),
            )
        )
        self.words(words, around)

    def _script(self, script: Word, around: Surroundings) -> None:
        inside = script.text
        place = (script.start + 1, script.end - 1)
        if script.has_place and self.text[place[0] : place[1]] == inside:
            commands, remarks = read_commands(self.text, *place, self.budget)
            self.remarks.extend(remarks)
        else:
            commands, _ = read_commands(inside, 0, len(inside), self.budget)
            commands = [_without_places(one) for one in commands]
        for command in commands:
            self.words(
                command.words,
                replace(
                    around,
                    environment={**around.environment, **command.environment},
                    scope=command.scope,
                    redirected=command.redirected,
                ),
            )


def _next_start(words: tuple[Word, ...], at: int) -> int:
    """Where the word at an index begins, else where the one before it ends."""
    following = words[at].start if at < len(words) else -1
    return following if following >= 0 else words[at - 1].end


def _is_fragment(words: tuple[Word, ...]) -> bool:
    """Whether flags of a launch stand alone, as documents print them."""
    return words[:1] != () and words[0].text.startswith(_FRAGMENTS)


def _model(program: str, arguments: Arguments) -> tuple[str | None, Word | None]:
    for flag in ("--model", "--model-path", "--model-tag"):
        given = arguments.last(flag)
        if given is not None and given.value is not None:
            return given.value, given.value_word
    if program in _NAMED_FIRST and arguments.positional:
        return arguments.positional[0].text, arguments.positional[0]
    return None, None


def _without_places(command: Command) -> Command:
    return replace(
        command,
        words=tuple(replace(one, start=-1, end=-1) for one in command.words),
        environment={
            name: replace(one, start=-1, end=-1)
            for name, one in command.environment.items()
        },
    )
