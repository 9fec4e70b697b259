"""Fill the tails that somebody looks at: at most 1,000 lines each, gone soon after nobody does.

The tails have cursors of their own; how far the samples were read plays no part here.
"""

import logging
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import ContainerFacts, inspect_container
from deployments.docker_api.errors import DockerApiError, NotTriedError
from deployments.docker_api.frames import timestamp_ns
from deployments.docker_api.logs import (
    LogIncrement,
    LogRange,
    StreamCursor,
    read_newest,
)
from deployments.models import (
    MOST_TAIL_LINES,
    Host,
    LogCursor,
    LogRequest,
    LogRun,
    LogTail,
    Reachability,
)
from deployments.selectors.log_lines import PANEL, RESTARTED, SKIPPED
from deployments.services.host_access import open_host
from deployments.telemetry.logs.visible import visible_text

logger = logging.getLogger(__name__)

KEPT_S = 60
"""How long a tail is kept after it was last wanted, so that a page that pauses finds it again."""
MOST_CHARACTERS = 1_000_000
START_SLACK_NS = 500_000_000
"""The engine stamps ``StartedAt`` after the start; the first lines can be older than that."""
NOT_STARTED, GONE, NO_EARLIER_RUN = "not_started", "gone", "no_earlier_run"

Line = list[int | str | bool]
Found = tuple[int, str, str, bool]


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a container's log that belongs to a run; the name differs for every run."""

    run_started_at: str
    part: LogRange


def hosts_wanted() -> list[uuid.UUID]:
    """The hosts whose logs somebody looks at now, for one task each."""
    return list(
        LogRequest.objects.filter(wanted_until__gt=Now())
        .exclude(replica__host__reachability=Reachability.DIFFERENT_ENGINE)
        .order_by("replica__host_id")
        .values_list("replica__host_id", flat=True)
        .distinct()
    )


def forget_tails() -> int:
    """Delete what nobody has looked at for ``KEPT_S`` seconds; returns how many tails."""
    old = timezone.now() - timedelta(seconds=KEPT_S)
    requests = LogRequest.objects.filter(wanted_until__lt=old)
    count = requests.count()
    if count:
        requests.delete()
    return count


def fill_host_tails(host_id: uuid.UUID) -> int:
    """Read what is new in each log of one host that somebody looks at; returns new lines.

    A host that does not answer is told on the page as the problem of its tails.
    """
    host = Host.objects.get(pk=host_id)
    requests = list(
        LogRequest.objects.filter(
            replica__host=host, wanted_until__gt=Now()
        ).select_related("replica")
    )
    if not requests:
        return 0
    tails = [_tail_of(request) for request in requests]
    try:
        with open_host(host) as engine:
            return sum(_fill_or_say_why(engine, tail) for tail in tails)
    except NotTriedError:
        return 0
    except DockerApiError as error:
        logger.warning("tails not read", extra={"host": host.name, "code": error.code})
        for tail in tails:
            _store(tail, problem=error.code)
    return 0


def _tail_of(request: LogRequest) -> LogTail:
    tail, _made = LogTail.objects.select_related("request__replica").get_or_create(
        request=request
    )
    return tail


def _fill_or_say_why(engine: Engine, tail: LogTail) -> int:
    """Read one log on; what concerns that log alone becomes its problem.

    Raises:
        DockerApiError: the engine does not answer; the other logs would wait for it as well.
    """
    try:
        facts = inspect_container(engine, tail.request.replica.container_id)
        if facts is None:
            return _end(tail, GONE)
        window = _window(facts, LogRun(tail.request.run))
        return (
            _end(tail, window)
            if isinstance(window, str)
            else _fill(engine, tail, facts.container_id, window)
        )
    except DockerApiError as error:
        if error.retryable:
            raise
        return _end(tail, error.code)


def _end(tail: LogTail, problem: str) -> int:
    _store(tail, problem=problem, ended=True)
    return 0


def _fill(engine: Engine, tail: LogTail, container_id: str, window: Window) -> int:
    """Read what is new and store it; a new run begins with an empty tail."""
    same = (tail.container_id, tail.run_started_at) == (
        container_id,
        window.run_started_at,
    )
    if same and tail.ended and not tail.problem:
        _store(tail, ended=True)
        return 0
    increment = read_newest(
        engine,
        container_id,
        _cursors(tail) if same else {},
        window.part,
        lines=MOST_TAIL_LINES,
    )
    found = list(_shown(increment))
    if not same and tail.run_started_at:
        found.insert(0, (window.part.from_ns, PANEL, RESTARTED, False))
    lines = _bounded(
        [*(tail.lines if same else []), *_numbered(found, after=tail.newest)]
    )
    _store(
        tail,
        container_id=container_id,
        run_started_at=window.run_started_at,
        cursors={
            stream: [cursor.timestamp_ns, cursor.same_timestamp, cursor.line_hash]
            for stream, cursor in increment.cursors.items()
        },
        lines=lines,
        line_count=len(lines),
        newest=tail.newest + len(found),
        ended=window.part.final,
    )
    return len(found)


def _window(facts: ContainerFacts, run: LogRun) -> Window | str:
    """Where the run lies in the log of its container, or why there is none."""
    if not facts.ever_started:
        return NOT_STARTED
    boundary = _boundary(facts)
    if run == LogRun.CURRENT:
        present = LogRange(from_ns=boundary, final=not facts.running)
        return Window(facts.started_at, present)
    if not boundary:
        return NO_EARLIER_RUN
    before = LogRange(
        from_ns=_begin_of_run_before(facts), until_ns=boundary, final=True
    )
    return Window(f"before {facts.started_at}"[:40], before)


def _boundary(facts: ContainerFacts) -> int:
    """Where the present run begins; 0 if it is the only one that the container had.

    While a container runs, its ``FinishedAt`` is the end of the run before. Once it has ended, only
    the cursors of the samples know that there was one.
    """
    started = timestamp_ns(facts.started_at) or 0
    finished = timestamp_ns(facts.finished_at) or 0
    if 0 < finished < started:
        return finished
    return started - START_SLACK_NS if _runs_before(facts) else 0


def _begin_of_run_before(facts: ContainerFacts) -> int:
    known = max(_runs_before(facts), default="")
    return max(0, (timestamp_ns(known) or 0) - START_SLACK_NS)


def _runs_before(facts: ContainerFacts) -> set[str]:
    """Starts of earlier runs that the sample reader saw, as the engine spells them."""
    started = timestamp_ns(facts.started_at) or 0
    known = LogCursor.objects.filter(container_id=facts.container_id)
    return {
        text
        for text in known.values_list("run_started_at", flat=True)
        if 0 < (timestamp_ns(text) or 0) < started
    }


def _cursors(tail: LogTail) -> dict[str, StreamCursor]:
    return {
        stream: StreamCursor(timestamp_ns=ts, same_timestamp=same, line_hash=line_hash)
        for stream, (ts, same, line_hash) in tail.cursors.items()
    }


def _shown(increment: LogIncrement) -> Iterator[Found]:
    if increment.lost is not None:
        yield increment.lost.to_ns, PANEL, SKIPPED, False
    for line in increment.lines:
        text = visible_text(line.text)
        yield (
            line.ts_ns,
            line.stream,
            text,
            line.truncated or len(text) < len(line.text),
        )


def _numbered(found: Iterable[Found], *, after: int) -> Iterator[Line]:
    for number, (ts_ns, stream, text, cut) in enumerate(found, start=after + 1):
        yield [number, ts_ns, stream, text, cut]


def _bounded(lines: list[Line]) -> list[Line]:
    """The newest lines within both limits."""
    kept = lines[-MOST_TAIL_LINES:]
    left = MOST_CHARACTERS
    for place in range(len(kept) - 1, -1, -1):
        left -= len(str(kept[place][3]))
        if left < 0:
            return kept[place + 1 :]
    return kept


def _store(tail: LogTail, *, problem: str = "", **columns: object) -> None:
    """Store a read, unless another reader was faster."""
    LogTail.objects.filter(Q(pk=tail.pk, turn=tail.turn)).update(
        problem=problem, filled_at=Now(), turn=F("turn") + 1, **columns
    )
