"""Diagnoses as people read them: cause, fix, and the line of the log, made harmless."""

from collections.abc import Iterable
from dataclasses import dataclass

from deployments.planning.plan import Severity
from deployments.planning.text import Text
from deployments.telemetry.diagnosis import Diagnosis, DiagnosisSeverity
from deployments.telemetry.logs.visible import visible_text

SEVERITIES = {
    DiagnosisSeverity.CRITICAL: Severity.ERROR,
    DiagnosisSeverity.WARNING: Severity.WARNING,
    DiagnosisSeverity.ADVICE: Severity.INFO,
    DiagnosisSeverity.INFO: Severity.INFO,
}
LONGEST_EVIDENCE = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDiagnosis:
    """One diagnosis with the words of a finding; ``line`` is the line of the log, from 1."""

    code: str
    category: str
    severity: Severity
    message: Text
    fix: Text
    evidence: str
    source: str
    line: int


def shown_diagnoses(found: Iterable[Diagnosis]) -> tuple[ShownDiagnosis, ...]:
    """Diagnoses in their order, log text with nothing invisible in it."""
    return tuple(
        ShownDiagnosis(
            code=one.code,
            category=one.category,
            severity=SEVERITIES[one.severity],
            message=one.cause,
            fix=one.fix,
            evidence=visible_text(one.evidence)[:LONGEST_EVIDENCE],
            source=one.source,
            line=one.line,
        )
        for one in found
    )
