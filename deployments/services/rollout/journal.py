"""The journal of a command: intent before each outside act, outcome after it, all fenced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max
from pydantic import JsonValue as Json

from deployments.models import EventKind, Release, ReleaseEvent, Replica
from deployments.planning.text import Text
from deployments.services.rollout.claims import Claim

OBSERVED = "OBSERVED"
"""The step of what was seen outside any command."""
SEQUENCE_TRIES = 10


class Step(StrEnum):
    """The steps of a command, in the words of the journal."""

    QUEUE = "QUEUE"
    VALIDATE = "VALIDATE"
    BOOK = "BOOK"
    PULL = "PULL"
    CHECK = "CHECK"
    STOP_OLD = "STOP_OLD"
    CREATE = "CREATE"
    START = "START"
    WAIT_READY = "WAIT_READY"
    SMOKE = "SMOKE"
    SWITCH = "SWITCH"
    REMOVE_OLD = "REMOVE_OLD"
    STOP = "STOP"
    REMOVE = "REMOVE"
    UNDO = "UNDO"
    RESTORE_OLD = "RESTORE_OLD"


@dataclass(frozen=True, slots=True)
class Act:
    """One step, on one replica or on the release as a whole."""

    step: Step
    replica: Replica | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is written of one act among many."""

    act: Act
    message: Text
    detail: Mapping[str, Json]


class Journal:
    """Reads and writes the events of one command on its release."""

    def __init__(self, claim: Claim, release: Release) -> None:
        self._claim, self._release = claim, release
        self._command = str(claim.command_id)
        # Only the owner of the claim writes events of its command, so they need one read.
        events = list(ReleaseEvent.objects.filter(release=release))
        self._newest = max((event.sequence for event in events), default=0)
        self._known = [
            event for event in events if event.detail.get("command") == self._command
        ]
        self._first: dict[tuple[str, str, UUID | None], ReleaseEvent] = {}
        for event in self._known:
            self._index(event)

    def is_done(self, act: Act) -> bool:
        """Whether the act's good outcome was recorded, by this or an earlier owner."""
        return self._find(act, EventKind.DONE) is not None

    def intended(self, act: Act) -> bool:
        """Whether the act was about to be done, so that it may have happened."""
        return self._find(act, EventKind.INTENT) is not None

    def begun(self, step: Step) -> bool:
        """Whether any act of the step was about to be done."""
        return any(
            event.step == step and event.kind == EventKind.INTENT
            for event in self._known
        )

    def done_events(self, step: Step) -> list[ReleaseEvent]:
        """The good outcomes of a step, in order."""
        return [
            event
            for event in self._known
            if event.step == step and event.kind == EventKind.DONE
        ]

    def crashes(self) -> int:
        """How often an unexpected error ended a slice."""
        return sum(1 for event in self._known if "crash" in event.detail)

    def last_step(self) -> Step:
        """The step that was worked on last."""
        return Step(self._known[-1].step) if self._known else Step.VALIDATE

    def failure(self) -> ReleaseEvent | None:
        """The event that decided that the command fails or is cancelled."""
        return next((event for event in self._known if "final" in event.detail), None)

    def intend(self, act: Act, message: Text) -> None:
        """Write that the act is about to be done, once; call within ``Claim.fenced``."""
        if self._find(act, EventKind.INTENT) is None:
            self.write(act, EventKind.INTENT, message)

    def note_progress(self, act: Act, detail: Mapping[str, Json]) -> None:
        """Keep how far a long act is in its intent, where the page shows it."""
        known = self._find(act, EventKind.INTENT)
        if known is not None:
            known.detail = {**known.detail, **detail}
            known.save(update_fields=["detail"])

    def progress(self, act: Act) -> Mapping[str, Json]:
        """What ``note_progress`` kept."""
        known = self._find(act, EventKind.INTENT)
        return {} if known is None else dict(known.detail)

    def tries(self, act: Act) -> int:
        """How often the act met a passing failure so far."""
        return sum(
            1
            for event in self._known
            if event.step == act.step
            and event.replica_id == (act.replica.pk if act.replica else None)
            and "retry" in event.detail
        )

    def write(
        self,
        act: Act,
        kind: EventKind,
        message: Text,
        detail: Mapping[str, Json] | None = None,
    ) -> ReleaseEvent:
        """Append an event; call within ``Claim.fenced``."""
        event = ReleaseEvent(
            step=act.step,
            kind=kind,
            replica=act.replica,
            message=message,
            detail={**(detail or {}), "command": self._command},
            fence=self._claim.fence,
        )
        self._append([event])
        return event

    def write_all(self, kind: EventKind, outcomes: Sequence[Outcome]) -> None:
        """Append one event for each; call within ``Claim.fenced``."""
        if not outcomes:
            return
        events = [
            ReleaseEvent(
                release=self._release,
                step=one.act.step,
                kind=kind,
                replica=one.act.replica,
                message=one.message,
                detail={**one.detail, "command": self._command},
                fence=self._claim.fence,
            )
            for one in outcomes
        ]
        self._append(events)

    def _append(self, events: Sequence[ReleaseEvent]) -> None:
        append_events(self._release, events, newest=self._newest)
        self._newest = events[-1].sequence
        for event in events:
            self._known.append(event)
            self._index(event)

    def _index(self, event: ReleaseEvent) -> None:
        self._first.setdefault((event.step, event.kind, event.replica_id), event)

    def _find(self, act: Act, kind: EventKind) -> ReleaseEvent | None:
        return self._first.get(
            (act.step, kind, act.replica.pk if act.replica else None)
        )


def append_event(release: Release, event: ReleaseEvent) -> None:
    """Give the event the next number of its release and store it.

    Raises:
        IntegrityError: others took every number that was tried.
    """
    append_events(release, [event])


def append_events(
    release: Release, events: Sequence[ReleaseEvent], *, newest: int | None = None
) -> None:
    """The same for several at once, which follow one another.

    ``newest`` is the last number that the caller knows of; others may have written since.

    Raises:
        IntegrityError: others took every number that was tried.
    """
    for attempt in range(SEQUENCE_TRIES):
        if newest is None or attempt:
            rows = ReleaseEvent.objects.filter(release=release)
            newest = rows.aggregate(newest=Max("sequence"))["newest"] or 0
        for number, event in enumerate(events, newest + 1):
            event.release, event.sequence = release, number
        try:
            with transaction.atomic():
                ReleaseEvent.objects.bulk_create(events)
        except IntegrityError:
            if attempt + 1 == SEQUENCE_TRIES:
                raise
        else:
            return


def note(
    release: Release, step: str, message: Text, detail: Mapping[str, Json]
) -> None:
    """Append what was observed, outside any command."""
    append_event(
        release,
        ReleaseEvent(
            step=step, kind=EventKind.NOTE, message=message, detail=dict(detail)
        ),
    )
