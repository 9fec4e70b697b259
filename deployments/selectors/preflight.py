"""The preflight list of a request as pages show it: one line for each check, with what needs a person."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    Preflight,
    PreflightCheck,
    PreflightState,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.text import NOTHING, Text, is_text, text_from_document
from deployments.selectors.texts import listed
from deployments.selectors.votes import roles_on

MAY_ASK = frozenset({TeamRole.OPERATOR, TeamRole.APPROVER})
SHOWN = (RequestState.OPEN, RequestState.APPROVED, RequestState.RELEASED)
WORST_FIRST = (
    PreflightState.FAILED,
    PreflightState.UNCHECKED,
    PreflightState.NOTED,
    PreflightState.PASSED,
)
MOST_TOLD = 12
"""Of one check; a plan on a hundred hosts may have the same trouble on each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLine:
    """What one check found on one host, or of the whole plan where ``host`` is empty."""

    host: str
    state: str
    sentence: Text
    fix: Text
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """One check: its worst result, what is told of it, and the age of the oldest result."""

    check: PreflightCheck
    state: str
    told: tuple[ResultLine, ...]
    passed: str
    at: datetime
    old: bool
    more: int

    @property
    def name(self) -> object:
        """What is checked."""
        return self.check.label


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightView:
    """Everything that the section shows."""

    request: ApprovalRequest
    row: Preflight | None
    lines: tuple[CheckLine, ...]
    may_ask: bool

    @property
    def waiting(self) -> bool:
        """Whether a preflight was asked for and has no result yet."""
        row = self.row
        if row is None or row.asked_at is None:
            return False
        return row.read_at is None or row.read_at < row.asked_at

    @property
    def failed(self) -> int:
        """How many checks would end a release."""
        return sum(line.state == PreflightState.FAILED for line in self.lines)

    @property
    def old(self) -> bool:
        """Whether a result is too old to stand."""
        return any(line.old for line in self.lines)

    @property
    def limit(self) -> int:
        """How many minutes a result stands."""
        return int(settings.PREFLIGHT_LASTS_MINUTES)

    @property
    def stamp(self) -> str:
        """Changes when the section would."""
        row = self.row
        facts = [
            self.waiting,
            self.old,
            row.results if row else [],
            str(row.problem) if row else "",
        ]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def may_ask(user: User, request: ApprovalRequest) -> bool:
    """Whether the person may have the plan checked: operators run it, approvers decide on it."""
    return bool(MAY_ASK & roles_on(user, request))


def preflight_view(request: ApprovalRequest, *, may_ask: bool) -> PreflightView:
    """The list of one request; no query where its row was read with it."""
    row = getattr(request, "preflight", None)
    return PreflightView(
        request=request,
        row=row,
        lines=_lines(row) if row else (),
        may_ask=may_ask and request.state in SHOWN,
    )


def _lines(row: Preflight) -> tuple[CheckLine, ...]:
    now = timezone.now()
    limit = timedelta(minutes=settings.PREFLIGHT_LASTS_MINUTES)
    found: dict[str, list[ResultLine]] = {}
    for one in row.results:
        found.setdefault(str(one["check"]), []).append(_result(one))
    return tuple(
        _line(check, found[check.value], now - limit)
        for check in PreflightCheck
        if check.value in found
    )


def _result(one: dict[str, object]) -> ResultLine:
    return ResultLine(
        host=str(one["host"]),
        state=str(one["state"]),
        sentence=_text(one["sentence"]),
        fix=_text(one["fix"]),
        at=datetime.fromisoformat(str(one["at"])),
    )


def _text(document: object) -> Text:
    return text_from_document(document) if is_text(document) else NOTHING


def _line(
    check: PreflightCheck, results: list[ResultLine], oldest: datetime
) -> CheckLine:
    ordered = sorted(results, key=lambda one: WORST_FIRST.index(_state(one)))
    passed = [one for one in results if one.state == PreflightState.PASSED]
    told = _once([one for one in ordered if one not in passed])
    if not told and len(passed) == 1:
        told = [one for one in passed if one.sentence]
    at = min(one.at for one in results)
    return CheckLine(
        check=check,
        state=ordered[0].state,
        told=tuple(told[:MOST_TOLD]),
        passed=listed(
            dict.fromkeys(one.host for one in passed if one.host and one not in told)
        ),
        at=at,
        old=at < oldest,
        more=max(0, len(told) - MOST_TOLD),
    )


def _once(told: list[ResultLine]) -> list[ResultLine]:
    """Each sentence once: those of several hosts that say the same differ in nothing that is shown."""
    first = {(one.sentence, one.fix): one for one in reversed(told)}
    return list(reversed(first.values()))


def _state(one: ResultLine) -> PreflightState:
    return PreflightState(one.state)
