"""The values of a diagnosis: what was recognised, and where."""

from dataclasses import dataclass

from deployments.planning.failures.signature import FailureSeverity
from deployments.planning.text import Text

DiagnosisSeverity = FailureSeverity
"""A diagnosis matters as much as the failure that it names."""


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
