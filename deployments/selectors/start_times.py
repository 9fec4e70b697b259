"""When an approved request may start: the wait after its approval and the time that was asked for."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from deployments.models import ApprovalRequest, RequestState
from deployments.selectors.policies import rules_for

AT_ANY_TIME = "person//"
"""``start_word`` of a request that says nothing of its start."""
APPROVED_STATES = (RequestState.APPROVED, RequestState.RELEASED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTimes:
    """When a request may start; ``None`` is at any time, and ``waited_until`` before approval."""

    wait_minutes: int
    waited_until: datetime | None
    start_from: datetime | None
    start_until: datetime | None

    def early(self, now: datetime) -> datetime | None:
        """The moment that has to come first; ``None`` where none has to."""
        ahead = [
            one for one in (self.waited_until, self.start_from) if one and one > now
        ]
        return max(ahead, default=None)

    def missed(self, now: datetime) -> bool:
        """Whether the time that was asked for is over."""
        return self.start_until is not None and self.start_until <= now


def start_times(request: ApprovalRequest, wait_now: int) -> StartTimes:
    """The times of a request; the longer wait counts: that of its submission, or of today.

    ``wait_now`` is the wait in minutes that the policy of today asks for.
    """
    wait = max(request.wait_minutes, wait_now)
    decided = request.decided_at if request.state in APPROVED_STATES else None
    return StartTimes(
        wait_minutes=wait,
        waited_until=decided + timedelta(minutes=wait) if decided and wait else None,
        start_from=request.start_from,
        start_until=request.start_until,
    )


def wait_minutes_now(request: ApprovalRequest) -> int:
    """The wait that the policy of today asks for; one query."""
    return rules_for(request.plan.revision.deployment).wait_minutes


def start_word(request: ApprovalRequest) -> str:
    """What was asked for as one word, so that a vote can carry what its page showed."""
    times = (request.start_from, request.start_until)
    return "/".join(
        [
            "self" if request.starts_itself else "person",
            *(one.isoformat() if one else "" for one in times),
        ]
    )
