"""Matching: lines against the signatures, first occurrence each, root causes before consequences."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from deployments.planning.text import text
from deployments.telemetry.diagnosis.run_signatures import RUN_SIGNATURES
from deployments.telemetry.diagnosis.start_signatures import START_SIGNATURES
from deployments.telemetry.diagnosis.values import Diagnosis, Signature
from deployments.telemetry.logs.lines import LogLine, read_lines

SIGNATURES = START_SIGNATURES + RUN_SIGNATURES
LONGEST_EVIDENCE = 500
UNKNOWN_WORD = text("unknown")

_SHUTDOWN = "[shutdown] API server: shutdown triggered"
_FIELD_NAME = re.compile(r"[a-z_][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class _Compiled:
    signature: Signature
    pattern: re.Pattern[str]


_BY_ANCHOR: tuple[tuple[str, _Compiled], ...] = tuple(
    (anchor, _Compiled(signature, re.compile(signature.pattern)))
    for signature in SIGNATURES
    for anchor in signature.anchors
)
_ANY_ANCHOR = re.compile(
    "|".join(sorted({re.escape(anchor) for anchor, _ in _BY_ANCHOR}))
)


class Diagnoser:
    """Reads messages in order and remembers the first line of each known failure."""

    def __init__(self) -> None:
        self._found: dict[str, Diagnosis] = {}
        self._general: set[str] = set()
        self._before = ""
        self._stopping = False

    def read(self, line: LogLine) -> None:
        """Read one message."""
        message = line.message
        if _SHUTDOWN in message:
            self._stopping = True
        if _ANY_ANCHOR.search(message):
            self._match(line, message)
        self._before = message

    def _match(self, line: LogLine, message: str) -> None:
        if "Input should be" in message or "Unexpected keyword" in message:
            # A validation error names the field on the line before.
            message = f"{self._field()} {message.strip()}"
        for anchor, compiled in _BY_ANCHOR:
            code = compiled.signature.code
            if code in self._found or anchor not in message:
                continue
            if code == "ENGINE_DIED" and self._stopping:
                continue
            match = compiled.pattern.search(message)
            if match:
                self._found[code] = _diagnosis(compiled.signature, match, line)
                if compiled.signature.general:
                    self._general.add(code)

    def _field(self) -> str:
        name = self._before.strip()
        return name if _FIELD_NAME.fullmatch(name) else ""

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """Causes in the order of the log, then consequences, only where no cause is known."""
        causes = [
            diagnosis
            for code, diagnosis in self._found.items()
            if code not in self._general
        ]
        if any(diagnosis.severity == "critical" for diagnosis in causes):
            return tuple(causes)
        general = [self._found[code] for code in self._found if code in self._general]
        return tuple(causes + general)


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
