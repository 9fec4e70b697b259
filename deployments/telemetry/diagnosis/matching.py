"""Matching: lines against the known failures, first occurrence each, causes before consequences."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from deployments.planning.failures.known import KNOWN_FAILURES
from deployments.planning.failures.signature import Signature
from deployments.planning.text import text
from deployments.telemetry.diagnosis.values import Diagnosis, DiagnosisSeverity
from deployments.telemetry.logs.lines import LogLine, read_lines
from deployments.telemetry.logs.searching import Search, any_of

LONGEST_EVIDENCE = 500
LONGEST_MATCHED = 16_000
"""Characters of a message that are matched; vLLM's longest start-up line has about 3,000."""

MOST_MATCHED = 1_000_000
"""Characters that are matched in vain for one failure before it is no longer looked for."""

MOST_REMEMBERED = 1000
"""Messages without a known failure that are remembered, each of at most 500 characters."""

OFTEN = 16
"""From so many times on a message without a known failure is one that comes again and again."""

UNKNOWN_WORD = text("unknown")

_STOPPED = re.compile(
    r"\[shutdown\] API server: shutdown triggered|[Rr]eceived (?:signal 15|SIGTERM|SIGINT)"
)
_STARTED = re.compile(r"vLLM API server version")
_TURNS = (
    "[shutdown] API",
    "eceived signal 15",
    "eceived SIG",
    "vLLM API server version",
)
_AFTER_A_STOP = frozenset(
    {"ENGINE_DIED", "HANDSHAKE_WITH_FRONT_END", "CPU_SIDE_KILLED"}
)
_FIELD_NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}")
_ABOUT_A_FIELD = ("Input should be", "Unexpected keyword")
_RANK = list(DiagnosisSeverity)


@dataclass(frozen=True, slots=True)
class _Compiled:
    signature: Signature
    pattern: re.Pattern[str]


_COMPILED: Mapping[str, _Compiled] = {
    one.code: _Compiled(one, re.compile(one.pattern)) for one in KNOWN_FAILURES
}
ALL_CODES = frozenset(_COMPILED)


class Diagnoser:
    """Reads messages in order and remembers the first line of each known failure.

    ``often`` are lines whose messages came again and again without being one.
    """

    def __init__(self) -> None:
        self._found: dict[str, Diagnosis] = {}
        self.open = ALL_CODES
        self._tried: dict[str, int] = {}
        self._vain: dict[str, int] = {}
        self.often: list[LogLine] = []
        self._before = ""
        self._stopping = False
        self.matters = gate(self.open)

    def read(self, line: LogLine) -> None:
        """Read one message."""
        times = self._vain.get(line.message)
        if times is not None:
            self._vain[line.message] = times + 1
            if times == OFTEN:
                self.often.append(line)
        elif self.matters(line.message):
            self._match(line)
        self._before = line.message

    def after(self, message: str) -> None:
        """Say what the message before the next one was, where it was not read."""
        self._before = message

    def _match(self, line: LogLine) -> None:
        message = line.message[:LONGEST_MATCHED]
        turns = any(word in message for word in _TURNS)
        about_a_field = any(words in message for words in _ABOUT_A_FIELD)
        if turns:
            self._turn(message)
        if about_a_field:
            # A validation error names the field on the line before.
            message = f"{self._field()} {message.strip()}".strip()
        closed = {code for code in self.open if self._closes(code, message, line)}
        if closed:
            self.open -= closed
            self.matters = gate(self.open)
        elif not (turns or about_a_field or self._stopping):
            self._remember(message)

    def _remember(self, message: str) -> None:
        """Pass the message over from now on: logs say the same thing thousands of times."""
        if len(message) <= LONGEST_EVIDENCE and len(self._vain) < MOST_REMEMBERED:
            self._vain[message] = 0

    def _turn(self, message: str) -> None:
        """What dies after it was told to stop is no failure; a new start begins anew."""
        if _STOPPED.search(message):
            self._stopping = True
        elif _STARTED.search(message):
            self._stopping = False

    def _closes(self, code: str, message: str, line: LogLine) -> bool:
        """Whether the failure needs not be looked for any more."""
        compiled = _COMPILED[code]
        if not any(anchor in message for anchor in compiled.signature.anchors):
            return False
        if self._stopping and code in _AFTER_A_STOP:
            return False
        match = compiled.pattern.search(message)
        if match:
            self._found[code] = _diagnosis(compiled.signature, match, line)
            return True
        self._tried[code] = self._tried.get(code, 0) + len(message)
        return self._tried[code] > MOST_MATCHED

    def _field(self) -> str:
        name = self._before.strip()
        return name if _FIELD_NAME.fullmatch(name) else ""

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """Causes first, the worst and then the earliest; consequences only without a cause."""
        return ranked(self._found.values())


def ranked(found: Iterable[Diagnosis]) -> tuple[Diagnosis, ...]:
    """The order in which people should read them; a consequence says nothing beside its cause."""
    ordered = sorted(found, key=lambda one: (_RANK.index(one.severity), one.line))
    causes = [one for one in ordered if not _is_general(one)]
    if any(one.severity is DiagnosisSeverity.CRITICAL for one in causes):
        return tuple(causes)
    general = [one for one in ordered if _is_general(one)]
    return tuple(general + causes)


def _is_general(one: Diagnosis) -> bool:
    known = _COMPILED.get(one.code)
    return known is not None and known.signature.general


@lru_cache(maxsize=256)
def gate(codes: frozenset[str]) -> Search:
    """Whether a text holds a word of one of these failures, or of a stop or a start."""
    return any_of(anchors_of(codes))


def anchors_of(codes: frozenset[str]) -> tuple[str, ...]:
    """The words of these failures, and those of a stop and a start."""
    anchors = {anchor for code in codes for anchor in _COMPILED[code].signature.anchors}
    return (*sorted(anchors), *_TURNS)


def diagnose_text(log: str) -> tuple[Diagnosis, ...]:
    """Diagnose a piece of log, such as the last lines of a container that failed."""
    return diagnose_lines(read_lines(log.encode("utf-8", "replace")))


def diagnose_lines(lines: Iterable[LogLine]) -> tuple[Diagnosis, ...]:
    """Diagnose lines that are already split."""
    diagnoser = Diagnoser()
    for line in lines:
        diagnoser.read(line)
    return diagnoser.diagnoses


def _diagnosis(signature: Signature, match: re.Match[str], line: LogLine) -> Diagnosis:
    words = {name: value or UNKNOWN_WORD for name, value in match.groupdict().items()}
    return Diagnosis(
        code=signature.code,
        category=signature.category,
        severity=signature.severity,
        line=line.number,
        evidence=line.message.strip()[:LONGEST_EVIDENCE],
        cause=signature.cause.filled(words),
        fix=signature.fix.filled(words),
        source=signature.source,
        parameters=tuple(words.items()),
    )
