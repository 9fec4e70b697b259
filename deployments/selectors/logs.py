"""What the log page shows: which logs there are, and the tails that workers hold of them."""

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from deployments.models import (
    CHANGING_STATES,
    MOST_TAIL_LINES,
    Deployment,
    LogRequest,
    LogRun,
    LogTail,
    Reachability,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
)
from deployments.planning.plan import Role
from deployments.selectors.log_lines import (
    LogFilter,
    LogSource,
    ShownLine,
    ShownLines,
    shown_lines,
)
from deployments.selectors.log_notices import Notice, is_awaited, notices
from deployments.selectors.texts import listed, role_name

MERGED, SIDE_BY_SIDE = "merged", "side"
MOST_CHOICES = 40
SMALL_TAIL_LINES = 12
EVERYTHING = LogFilter()
WENT_WRONG = (ReleaseState.FAILED, ReleaseState.BLOCKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogQuery:
    """Which logs, which run of them, what is left out, and how they are laid out."""

    replicas: tuple[Replica, ...]
    run: LogRun = LogRun.CURRENT
    keep: LogFilter = EVERYTHING
    merged: bool = True

    @property
    def panes(self) -> tuple[tuple[Replica, ...], ...]:
        """The replicas of each pane."""
        if self.merged or len(self.replicas) < 2:
            return (self.replicas,) if self.replicas else ()
        return tuple((one,) for one in self.replicas)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pane:
    """The logs of one or several replicas, in order of time.

    ``cursor`` names the last line of each tail, ``stamp`` changes whenever anything else does.
    ``whole`` says that the lines replace those that the page has, ``waits`` that a log was not read
    yet and will be soon.
    """

    replicas: tuple[Replica, ...]
    lines: tuple[ShownLine, ...]
    notices: tuple[Notice, ...]
    held: int
    kept: int
    read_at: datetime | None
    timed_out: bool
    cursor: str
    stamp: str
    waits: bool
    whole: bool = True

    @property
    def title(self) -> str:
        """The replicas in words."""
        return listed(replica_title(one) for one in self.replicas)

    @property
    def ids(self) -> str:
        """The replicas as one word, for the pane's own id."""
        return "-".join(one.pk.hex[:8] for one in self.replicas)

    @property
    def first_error(self) -> str:
        """The key of the first line that says that something failed; empty for none."""
        return next((line.key for line in self.lines if line.is_error), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseTail:
    """The small tail on the page of a release; ``focus`` is ``None`` before there is a container."""

    release: Release
    focus: Replica | None
    following: bool
    pane: Pane | None

    @property
    def lines(self) -> tuple[ShownLine, ...]:
        """The last few lines."""
        return self.pane.lines[-SMALL_TAIL_LINES:] if self.pane else ()

    @property
    def stamp(self) -> str:
        """Changes whenever the tail has to be drawn again."""
        pane = self.pane.stamp if self.pane else ""
        return f"{pane}{self.following:d}"

    @property
    def readable(self) -> bool:
        """Whether there is anything to read, or may be: the log of a removed container went with it."""
        removed = self.focus is not None and self.focus.state == ReplicaState.REMOVED
        return not removed or (self.pane is not None and bool(self.pane.lines))


def replica_title(row: Replica) -> str:
    """A replica in words: decode 0 on gpu-1."""
    return _("%(role)s %(rank)s on %(host)s") % {
        "role": role_name(row.role),
        "rank": row.rank,
        "host": row.host.name,
    }


def replica_choice(row: Replica) -> tuple[str, str]:
    """Value and label of a replica in the form: release 3: decode 0 on gpu-1."""
    label = _("release %(number)s: %(replica)s") % {
        "number": row.release.number,
        "replica": replica_title(row),
    }
    return str(row.pk), label


def log_choices(row: Deployment) -> list[Replica]:
    """Replicas whose containers may still exist, those of the newest release first."""
    return list(
        Replica.objects.filter(release__deployment=row)
        .exclude(container_id="")
        .exclude(state=ReplicaState.REMOVED)
        .select_related("host", "release")
        .order_by("-release__number", "role", "rank")[:MOST_CHOICES]
    )


def in_focus(replicas: Iterable[Replica]) -> Replica | None:
    """The replica that people look at first: one that ended or is not ready, never a router."""
    order = {Role.ROUTER: 2, Role.PREFILL: 1}
    return min(
        (one for one in replicas if one.container_id),
        key=lambda one: (
            one.role == Role.ROUTER,
            one.state != ReplicaState.EXITED,
            order.get(Role(one.role), 0),
            one.ready,
            one.rank,
        ),
        default=None,
    )


def newest_in_focus(choices: Sequence[Replica]) -> tuple[Replica, ...]:
    """What the page shows when nobody has chosen: one replica of the newest release."""
    newest = [one for one in choices if one.release_id == choices[0].release_id]
    focus = in_focus(newest)
    return (focus,) if focus else ()


def log_panes(query: LogQuery) -> tuple[Pane, ...]:
    """Every pane of a page with all the lines that are held, in one query."""
    tails = {one.request.replica_id: one for one in _tails(query.replicas, query.run)}
    asked = _asked(query.replicas, query.run)
    return tuple(_pane(replicas, query, tails, asked, {}) for replicas in query.panes)


def log_increment(query: LogQuery, cursor: str, stamp: str) -> Pane | None:
    """What is new in one pane since the cursor; ``None`` while nothing is."""
    states = _tails(query.replicas, query.run).defer("lines")
    asked = _asked(query.replicas, query.run)
    by_replica = {one.request.replica_id: one for one in states}
    if _stamp(query.replicas, by_replica, asked) == stamp:
        return None
    tails = {one.request.replica_id: one for one in _tails(query.replicas, query.run)}
    return _pane(query.replicas, query, tails, asked, _seen(cursor))


def has_tail(release: Release) -> bool:
    """Whether the page of a release shows the end of a log: while it goes on, or to say why not."""
    return release.state in {*CHANGING_STATES, *WENT_WRONG}


def release_tail(
    release: Release, replicas: Sequence[Replica] | None = None
) -> ReleaseTail:
    """The last lines of the replica in focus while a release goes on, or after it went wrong.

    What went wrong is read once; a host that does not answer then is not asked for ever. ``replicas``
    are those of the release, where the page has read them with their hosts.
    """
    rows = release.replicas.select_related("host") if replicas is None else replicas
    focus = in_focus(rows)
    panes = log_panes(LogQuery(replicas=(focus,))) if focus else ()
    pane = panes[0] if panes else None
    waits = focus is not None and pane is not None and pane.waits
    return ReleaseTail(
        release=release,
        focus=focus,
        following=release.state in CHANGING_STATES
        or (release.state in WENT_WRONG and waits),
        pane=pane,
    )


def _silent(replicas: Iterable[Replica]) -> set[uuid.UUID]:
    """The replicas whose host did not answer of late."""
    return {
        one.pk for one in replicas if one.host.reachability == Reachability.UNREACHABLE
    }


def _titles(replicas: Iterable[Replica]) -> dict[uuid.UUID, str]:
    return {one.pk: replica_title(one) for one in replicas}


def _tails(replicas: Iterable[Replica], run: LogRun) -> QuerySet[LogTail]:
    return LogTail.objects.filter(
        request__replica__in=replicas, request__run=run
    ).select_related("request")


def _asked(replicas: Iterable[Replica], run: LogRun) -> dict[uuid.UUID, LogRequest]:
    rows = LogRequest.objects.filter(replica__in=replicas, run=run)
    return {row.replica_id: row for row in rows}


def _pane(
    replicas: tuple[Replica, ...],
    query: LogQuery,
    tails: Mapping[uuid.UUID, LogTail],
    asked: Mapping[uuid.UUID, LogRequest],
    seen: Mapping[str, int],
) -> Pane:
    held = [(one, tails[one.pk]) for one in replicas if one.pk in tails]
    found = shown_lines(
        [
            LogSource(
                key=line_key(tail),
                title=_short_title(one) if len(replicas) > 1 else "",
                lines=tail.lines,
            )
            for one, tail in held
        ],
        query.keep,
        most=MOST_TAIL_LINES,
    )
    whole = any(tail.request_id.hex not in seen for _one, tail in held)
    known = {line_key(tail): seen.get(tail.request_id.hex, 0) for _one, tail in held}
    read_at = [tail.filled_at for _one, tail in held if tail.filled_at]
    return Pane(
        replicas=replicas,
        lines=found.lines if whole else _unseen(found, known),
        notices=tuple(notices(_titles(replicas), tails, asked, _silent(replicas))),
        held=found.held,
        kept=len(found.lines),
        read_at=min(read_at, default=None),
        timed_out=found.timed_out,
        cursor=",".join(f"{tail.request_id.hex}.{tail.newest}" for _one, tail in held),
        stamp=_stamp(replicas, tails, asked),
        waits=any(is_awaited(tails.get(one.pk), asked.get(one.pk)) for one in replicas),
        whole=whole,
    )


def _unseen(found: ShownLines, known: Mapping[str, int]) -> tuple[ShownLine, ...]:
    """The lines behind the last ones that the page has of each tail."""
    return tuple(
        line for line in found.lines if line.number > known[line.key.partition("-")[0]]
    )


def line_key(tail: LogTail) -> str:
    """What the keys of a tail's lines begin with."""
    return f"l{tail.request_id.hex[:10]}"


def _short_title(row: Replica) -> str:
    return f"{row.release.number}/{row.role} {row.rank}"


def _seen(cursor: str) -> dict[str, int]:
    """The last line of each tail that a page has; what cannot be read was not seen."""
    found: dict[str, int] = {}
    for word in cursor.split(",")[:MOST_CHOICES]:
        tail, _dot, number = word.partition(".")
        if number.isascii() and number.isdigit() and len(number) < 19:
            found[tail] = int(number)
    return found


def _stamp(
    replicas: Iterable[Replica],
    tails: Mapping[uuid.UUID, LogTail],
    asked: Mapping[uuid.UUID, LogRequest],
) -> str:
    """Changes with the lines, and with what would be said about them."""
    facts = [
        [
            tail.request_id.hex if tail else "",
            tail.newest if tail else 0,
            [
                notice.sentence
                for notice in notices({one.pk: ""}, tails, asked, _silent([one]))
            ],
        ]
        for one in replicas
        for tail in [tails.get(one.pk)]
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
