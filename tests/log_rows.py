"""Tails of logs as a worker leaves them, with lines that vLLM prints."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db.models.functions import Now
from django.utils import timezone

from deployments.models import LogRequest, LogRun, LogTail, Replica
from tests.factories import LogRequestFactory, LogTailFactory

INFO = "(APIServer pid=1) INFO 11-29 18:00:00 [api_server.py:12] Started server {}"
WARNING = "(Worker pid=9) WARNING 11-29 18:00:01 [__init__.py:211] min_p is ignored"
ERROR = "(EngineCore pid=7) ERROR 11-29 18:00:02 [core.py:1] EngineCore died"
METRICS = (
    "(APIServer pid=1) INFO 11-29 18:00:10 [metrics.py:101] SpecDecoding metrics: "
    "Mean acceptance length: 3.00, Accepted throughput: 40.60 tokens/s, "
    "Drafted throughput: 60.90 tokens/s, Accepted: 406 tokens, Drafted: 609 tokens, "
    "Per-position acceptance rate: 0.901, 0.650, 0.449, "
    "Avg Draft acceptance rate: 66.7%"
)
BEGIN_NS = 1_795_975_200_000_000_000
SECOND_NS = 1_000_000_000


def stored_lines(
    texts: Sequence[str], *, first: int = 1, begin_ns: int = BEGIN_NS
) -> list[list[object]]:
    """One line a second, as the table keeps them."""
    return [
        [first + place, begin_ns + place * SECOND_NS, "stdout", text, False]
        for place, text in enumerate(texts)
    ]


def tail_with(
    replica: Replica,
    *texts: str,
    run: LogRun = LogRun.CURRENT,
    begin_ns: int = BEGIN_NS,
    **columns: object,
) -> LogTail:
    """A tail that was read just now and is looked at."""
    request = LogRequestFactory.create(replica=replica, run=run)
    return LogTailFactory.create(
        request=request, lines=stored_lines(texts, begin_ns=begin_ns), **columns
    )


def add_lines(tail: LogTail, *texts: str, begin_ns: int | None = None) -> None:
    """Append lines as a worker does."""
    tail.refresh_from_db()
    begin = begin_ns or BEGIN_NS + tail.newest * SECOND_NS
    lines = [*tail.lines, *stored_lines(texts, first=tail.newest + 1, begin_ns=begin)]
    LogTail.objects.filter(pk=tail.pk).update(
        lines=lines[-1000:],
        line_count=len(lines[-1000:]),
        newest=tail.newest + len(texts),
        filled_at=Now(),
    )


def now_ns() -> int:
    """The time as an engine would stamp it."""
    return int(timezone.now().astimezone(UTC).timestamp() * 1000) * 1_000_000


def day_of(ns: int) -> str:
    """The day of a stamp in UTC."""
    return datetime.fromtimestamp(ns // SECOND_NS, tz=UTC).strftime("%m-%d")


def wanted(replica: Replica) -> LogRequest | None:
    """What somebody asked for."""
    return LogRequest.objects.filter(replica=replica).first()
