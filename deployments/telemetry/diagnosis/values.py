"""The values of a diagnosis: what is recognised, and what came of it."""

from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.text import Text


class DiagnosisSeverity(StrEnum):
    """How much a diagnosis matters: critical stops the engine or its use."""

    CRITICAL = "critical"
    WARNING = "warning"
    ADVICE = "advice"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A known failure: the words that prove it, its cause and its fix.

    ``anchors`` are plain words of which one stands in every matching line; ``pattern`` (a
    regular expression) then decides. Its named groups fill ``cause`` and ``fix`` (``{name}``).
    ``general`` marks a consequence that says little when a cause was recognised, too.
    ``source`` names where and in which version it was seen.
    """

    code: str
    category: str
    severity: DiagnosisSeverity
    anchors: tuple[str, ...]
    pattern: str
    cause: Text
    fix: Text
    source: str
    general: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A failure that was recognised.

    ``parameters`` are the words of the log that ``cause`` and ``fix`` are filled with.
    ``evidence`` is the line itself, log text: escape it.
    """

    code: str
    category: str
    severity: DiagnosisSeverity
    line: int
    evidence: str
    cause: Text
    fix: Text
    source: str
    parameters: tuple[tuple[str, str], ...] = ()
