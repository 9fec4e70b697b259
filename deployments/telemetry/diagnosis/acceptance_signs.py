"""Acceptance signs: what the records themselves say is wrong, without any error line."""

from collections.abc import Sequence

from deployments.planning.text import text
from deployments.telemetry.diagnosis.values import Diagnosis, DiagnosisSeverity
from deployments.telemetry.logs.acceptance import AcceptanceRecord

ZERO_RATE = 0.01
LOW_RATE = 0.3
LOW_LENGTH = 1.3
TOO_FEW_DRAFTED = 100
MANY_WINDOWS = 6
FALLEN_TO = 0.5
LOOKUP_METHODS = frozenset({"ngram", "ngram_gpu", "suffix"})


def diagnose_records(
    records: Sequence[AcceptanceRecord], method: str | None = None
) -> tuple[Diagnosis, ...]:
    """Recognise drafts that are hardly ever accepted, and acceptance that falls over time.

    One window without any accepted token means nothing: the first window after a start often
    is one. Cumulative (V0) counts and several windows do. A low rate is ordinary for n-gram and
    suffix drafting (``method``).
    """
    if not records:
        return ()
    found = _zero(records)
    if found is None and method not in LOOKUP_METHODS:
        found = _low(records)
    found = found or _fallen(records)
    return (found,) if found else ()


def _zero(records: Sequence[AcceptanceRecord]) -> Diagnosis | None:
    accepted, drafted, windows = _sums(records)
    useless = [record for record in records if _is_useless(record)]
    if drafted < TOO_FEW_DRAFTED:
        if not useless or len(useless) < len(records):
            return None
        severity = DiagnosisSeverity.WARNING
    elif accepted / drafted >= ZERO_RATE:
        return None
    else:
        proven = windows > 1 or records[-1].cumulative
        severity = DiagnosisSeverity.CRITICAL if proven else DiagnosisSeverity.WARNING
    first = (useless or list(records))[0]
    return Diagnosis(
        code="ZERO_ACCEPTANCE",
        category="zero-acceptance",
        severity=severity,
        line=first.line,
        evidence=f"{accepted} of {drafted} drafted tokens accepted"
        if drafted
        else f"mean acceptance length {first.mean_acceptance_length_printed}",
        cause=text(
            "The target model accepts hardly any drafted token: drafting only costs time. The "
            "drafter does not fit this checkpoint, its weights are missing or quantised away, or "
            "the method is the wrong one for it."
        ),
        fix=text(
            "Check that drafter, method and checkpoint belong together (an EAGLE-3 head needs "
            "the method eagle3); until then turn speculation off."
        ),
        source="vllm#55605, #41789, #13704",
    )


def _is_useless(record: AcceptanceRecord) -> bool:
    if record.acceptance_rate is not None:
        return record.acceptance_rate < ZERO_RATE
    length = record.mean_acceptance_length_printed
    return length is not None and length < 1 + ZERO_RATE


def _low(records: Sequence[AcceptanceRecord]) -> Diagnosis | None:
    accepted, drafted, _ = _sums(records)
    rate = accepted / drafted if drafted >= TOO_FEW_DRAFTED else None
    lengths = [
        record.mean_acceptance_length_printed
        for record in records
        if record.mean_acceptance_length_printed is not None
    ]
    short = bool(lengths) and max(lengths) < LOW_LENGTH
    if (rate is None or rate >= LOW_RATE) and not short:
        return None
    evidence = (
        f"mean acceptance length {lengths[-1]:.2f}"
        if rate is None
        else f"{accepted} of {drafted} drafted tokens accepted ({rate:.1%})"
    )
    return Diagnosis(
        code="LOW_ACCEPTANCE",
        category="low-acceptance",
        severity=DiagnosisSeverity.WARNING,
        line=records[0].line,
        evidence=evidence,
        cause=text(
            "Few drafted tokens are accepted. With many tokens per draft the deep positions pull "
            "the rate down; if the first position is low, too, the drafter does not fit."
        ),
        fix=text(
            "Look at the rates by position: lower num_speculative_tokens to where a position "
            "still pays, or check the drafter."
        ),
        source="vllm-ascend#13640, #12521",
    )


def _fallen(records: Sequence[AcceptanceRecord]) -> Diagnosis | None:
    windows = [record for record in records if not record.cumulative and record.drafted]
    if len(windows) < MANY_WINDOWS:
        return None
    third = len(windows) // 3
    before, after = (
        accepted / max(1, drafted)
        for accepted, drafted, _ in map(_sums, (windows[:third], windows[-third:]))
    )
    if before == 0 or after / before >= FALLEN_TO:
        return None
    return Diagnosis(
        code="ACCEPTANCE_FELL",
        category="low-acceptance",
        severity=DiagnosisSeverity.WARNING,
        line=windows[-third].line,
        evidence=f"from {before:.1%} in the first {third} windows to {after:.1%} in the last",
        cause=text(
            "Acceptance fell by more than half: longer contexts than the drafter was trained "
            "for, other requests, or an engine that degrades over time."
        ),
        fix=text(
            "Compare with a restarted engine; shorten the context or use a drafter made for long "
            "contexts."
        ),
        source="vllm#41838, #47602; vllm-ascend#9290",
    )


def _sums(records: Sequence[AcceptanceRecord]) -> tuple[int, int, int]:
    """Return accepted, drafted and the number of windows with counts; V0: the last line's."""
    known = [
        (record.accepted, record.drafted)
        for record in records
        if record.accepted is not None and record.drafted is not None
    ]
    if known and records[-1].cumulative:
        known = known[-1:]
    return sum(a for a, _ in known), sum(d for _, d in known), len(known)
