"""A known failure: the words that prove it, its cause and its fix."""

from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.text import Text


class FailureSeverity(StrEnum):
    """How much a failure matters: critical stops the engine or its use."""

    CRITICAL = "critical"
    WARNING = "warning"
    ADVICE = "advice"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a failure looks like in a log.

    ``anchors`` are plain words of which one stands in every matching line; ``pattern`` (a
    regular expression over one message) then decides. Its named groups fill ``cause`` and
    ``fix`` (``{name}``). ``general`` marks a consequence that says little when a cause was
    recognised, too. ``source`` names where and in which version it was seen. ``shows`` is such
    a line, ``misses`` a line that looks like it and is none. Empty ``versions`` and
    ``platforms`` mean all.
    """

    code: str
    category: str
    severity: FailureSeverity
    anchors: tuple[str, ...]
    pattern: str
    cause: Text
    fix: Text
    source: str
    shows: str
    misses: str
    versions: str = ""
    platforms: tuple[str, ...] = ()
    general: bool = False
