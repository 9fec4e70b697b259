"""The journal of a release as phases: when each began, how long it took, what happened in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from deployments.models import CHANGING_STATES, Release, ReleaseEvent, ReleaseState
from deployments.selectors.texts import say

STEPS_OF: dict[ReleaseState, tuple[str, ...]] = {
    ReleaseState.PREFLIGHT: ("VALIDATE", "BOOK"),
    ReleaseState.PULLING: ("PULL", "CHECK"),
    ReleaseState.CREATING: ("STOP_OLD", "CREATE"),
    ReleaseState.STARTING: ("START", "WAIT_READY"),
    ReleaseState.VERIFYING: ("SMOKE", "SWITCH", "REMOVE_OLD"),
}
ORDER = (ReleaseState.QUEUED, *STEPS_OF)
_PHASE_OF = {
    "QUEUE": ReleaseState.QUEUED,
    **{step: phase for phase, steps in STEPS_OF.items() for step in steps},
}
WANTED_ENDS = (ReleaseState.CANCELLED, ReleaseState.STOPPED)
NOTES_A_PHASE = 3
_STEP_NAMES: dict[str, Promise] = {
    "QUEUE": _("Wait for devices and ports"),
    "VALIDATE": _("Check approval and hosts"),
    "BOOK": _("Book devices and ports"),
    "PULL": _("Get the image"),
    "CHECK": _("Check image and drivers"),
    "STOP_OLD": _("Stop what ran before"),
    "CREATE": _("Create the container"),
    "START": _("Start the container"),
    "WAIT_READY": _("Wait until it answers"),
    "SMOKE": _("Verify what it serves"),
    "SWITCH": _("Take over"),
    "REMOVE_OLD": _("Remove what ran before"),
    "STOP": _("Stop the container"),
    "REMOVE": _("Remove the container"),
    "UNDO": _("Undo the release"),
    "RESTORE_OLD": _("Put back what ran before"),
    "EMERGENCY": _("Emergency stop"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase of the timeline.

    ``state`` is ``done``, ``current``, ``failed``, ``ended`` (as somebody wanted) or ``later``; ``elapsed`` and ``deadline`` are
    seconds, ``None`` where they are unknown; ``began_at`` is set while time runs on. ``usual`` is how
    many seconds earlier starts took on the same hosts.
    """

    key: str
    name: str
    state: str
    elapsed: float | None = None
    deadline: float | None = None
    began_at: datetime | None = None
    notes: tuple[str, ...] = ()
    pull: "Pull | None" = None
    usual: float | None = None

    @property
    def left(self) -> float | None:
        """What is left of the usual time, in seconds; ``None`` where it is unknown or over."""
        if self.usual is None or self.elapsed is None or self.elapsed > self.usual:
            return None
        return self.usual - self.elapsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """How far the image is, in bytes; ``total`` is ``None`` while the registry has not said.

    ``rate`` is in bytes a second; ``layers`` counts those spoken of so far. Both ``None``: not said yet.
    """

    done: int
    total: int | None
    rate: int | None = None
    layers_done: int | None = None
    layers: int | None = None

    @property
    def share(self) -> float | None:
        """The part that is here, from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else None

    @property
    def remaining_s(self) -> float | None:
        """Seconds until the layers spoken of are here, at this rate; ``None`` while nothing comes."""
        if not self.total or not self.rate:
            return None
        return max(0, self.total - self.done) / self.rate


def step_name(step: str) -> str:
    """A step of the journal in words; a code that is none of ours stays as it is."""
    return str(_STEP_NAMES.get(step, step))


def phases(
    release: Release,
    events: Sequence[ReleaseEvent],
    now: datetime,
    usual_start: float | None = None,
) -> tuple[Phase, ...]:
    """The timeline from queued to live; what came after (stopping, stopped) is not in it.

    ``usual_start`` is how many seconds starting usually takes, for a release that is starting.
    """
    started = _starts(release, events)
    reached = _reached(release, started)
    rows = []
    for place, state in enumerate(ORDER):
        rows.append(
            _phase(release, state, _tone(release, place, reached), started, now)
        )
    live = "done" if release.live_at else "later"
    rows = [
        replace(row, usual=usual_start)
        if row.key == ReleaseState.STARTING and row.state == "current"
        else row
        for row in (_with_events(row, events) for row in rows)
    ]
    return (
        *rows,
        Phase(key=ReleaseState.LIVE, name=str(ReleaseState.LIVE.label), state=live),
    )


def _starts(
    release: Release, events: Sequence[ReleaseEvent]
) -> dict[ReleaseState, datetime]:
    found = {ReleaseState.QUEUED: release.created_at}
    for event in events:
        phase = _PHASE_OF.get(event.step)
        if phase is not None:
            found.setdefault(phase, event.created_at)
    state = ReleaseState(release.state)
    if state in ORDER:
        found.setdefault(state, release.state_since)
    return found


def _reached(release: Release, started: dict[ReleaseState, datetime]) -> int:
    if release.state in ORDER:
        return ORDER.index(ReleaseState(release.state))
    return max(ORDER.index(state) for state in started)


def _tone(release: Release, place: int, reached: int) -> str:
    if release.live_at or place < reached:
        return "done"
    if place > reached:
        return "later"
    if release.state in CHANGING_STATES:
        return "current"
    return "ended" if release.state in WANTED_ENDS else "failed"


def _phase(
    release: Release,
    state: ReleaseState,
    tone: str,
    started: dict[ReleaseState, datetime],
    now: datetime,
) -> Phase:
    began = started.get(state)
    running = tone == "current"
    ended = now if running else _end(release, state, started)
    limit = release.deadline_at if running else None
    return Phase(
        key=state,
        name=str(state.label),
        state=tone,
        elapsed=(ended - began).total_seconds() if began and ended else None,
        deadline=(limit - began).total_seconds() if limit and began else None,
        began_at=began if running else None,
    )


def _end(
    release: Release, state: ReleaseState, started: dict[ReleaseState, datetime]
) -> datetime | None:
    later = [
        started[phase] for phase in ORDER[ORDER.index(state) + 1 :] if phase in started
    ]
    return min(later) if later else (release.live_at or release.ended_at)


def _with_events(phase: Phase, events: Sequence[ReleaseEvent]) -> Phase:
    mine = [event for event in events if _PHASE_OF.get(event.step) == phase.key]
    if not mine:
        return phase
    told = [say(event.message) for event in mine if event.message]
    return Phase(
        key=phase.key,
        name=phase.name,
        state=phase.state,
        elapsed=phase.elapsed,
        deadline=phase.deadline,
        began_at=phase.began_at,
        notes=tuple(told[-NOTES_A_PHASE:]),
        pull=_pull(mine) if phase.state == "current" else None,
    )


def _pull(events: Sequence[ReleaseEvent]) -> Pull | None:
    for event in reversed(events):
        done = event.detail.get("current_bytes")
        if isinstance(done, int):
            return Pull(
                done=done,
                total=_whole(event, "total_bytes"),
                rate=_whole(event, "bytes_per_s"),
                layers_done=_whole(event, "layers_done"),
                layers=_whole(event, "layers"),
            )
    return None


def _whole(event: ReleaseEvent, name: str) -> int | None:
    value = event.detail.get(name)
    return value if isinstance(value, int) else None
