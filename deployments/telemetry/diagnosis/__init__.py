"""Diagnosis: known failures recognised in logs and samples, each with cause and fix."""

from deployments.telemetry.diagnosis.matching import Diagnoser, diagnose_text
from deployments.telemetry.diagnosis.values import Diagnosis, DiagnosisSeverity

__all__ = ["Diagnoser", "Diagnosis", "DiagnosisSeverity", "diagnose_text"]
