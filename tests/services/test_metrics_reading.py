"""Counters of engines become samples and sums of serving, each token once, beside the log."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.db.models import F, Sum

from deployments.docker_api.containers import ContainerFacts
from deployments.docker_api.log_lines import LogLine
from deployments.models import (
    AcceptanceSample,
    CounterCursor,
    Replica,
    ServingDay,
    ServingMinute,
)
from deployments.services.log_samples import FoundSample
from deployments.services.metrics_reading import scrape
from deployments.services.rollout.probe import Endpoint
from deployments.services.rollups import roll_up
from deployments.services.run_counts import cursor_of, fill_in
from deployments.services.scraping import LARGEST_BODY, fetch
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.logs.acceptance import AcceptanceRecord, acceptance_of
from deployments.telemetry.logs.lines import parse_line
from tests.factories import DeploymentFactory
from tests.plan_rows import released, stored
from tests.plan_values import plan_value, planned_replica

pytestmark = pytest.mark.django_db

STARTED = "2026-11-29T10:00:00.123456789Z"
SECOND = 10**9
LINE = (
    "INFO 11-29 17:37:00 [metrics.py:120] SpecDecoding metrics: Mean acceptance length: 2.00, "
    "Accepted throughput: 1.00 tokens/s, Drafted throughput: 1.00 tokens/s, Accepted: 3 tokens, "
    "Drafted: 9 tokens, Per-position acceptance rate: 0.667, 0.333, 0.000, "
    "Avg Draft acceptance rate: 33.3%"
)


@dataclass
class FakeEngine:
    """A real HTTP server that says what a test tells it to, in vLLM's names."""

    port: int = 0
    drafts: dict[str, int] = field(default_factory=lambda: {"0": 0})
    generated: int = 0
    process_started: float = 1000.0
    body: str | None = None
    status: int = 200
    pause_s: float = 0.0
    asked: list[str] = field(default_factory=list)

    def text(self) -> str:
        if self.body is not None:
            return self.body
        lines = [f"process_start_time_seconds {self.process_started}"]
        for engine, drafts in self.drafts.items():
            label = f'engine="{engine}",model_name="chat"'
            accepted = (2 * drafts // 3) + drafts // 3
            lines += [
                f"vllm:spec_decode_num_drafts_total{{{label}}} {drafts}.0",
                f"vllm:spec_decode_num_draft_tokens_total{{{label}}} {3 * drafts}.0",
                f"vllm:spec_decode_num_accepted_tokens_total{{{label}}} {accepted}.0",
                *(
                    f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{label},position="{at}"}} {n}.0'
                    for at, n in enumerate((2 * drafts // 3, drafts // 3, 0))
                ),
                f"vllm:generation_tokens_total{{{label}}} {self.generated}.0",
                f"vllm:num_requests_running{{{label}}} 2.0",
                f"vllm:num_requests_waiting{{{label}}} 1.0",
                f"vllm:kv_cache_usage_perc{{{label}}} 0.5",
                f'vllm:time_to_first_token_seconds_bucket{{{label},le="0.1"}} {drafts}.0',
                f'vllm:time_to_first_token_seconds_bucket{{{label},le="+Inf"}} {drafts}.0',
                f"vllm:time_to_first_token_seconds_count{{{label}}} {drafts}.0",
                f"vllm:time_to_first_token_seconds_sum{{{label}}} {drafts / 20}",
            ]
        return "\n".join(lines) + "\n"


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    fake = FakeEngine()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fake.asked.append(self.path)
            time.sleep(fake.pause_s)
            body = fake.text().encode()
            self.send_response(fake.status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield fake
    server.shutdown()
    server.server_close()


@pytest.fixture
def replica(engine: FakeEngine) -> Replica:
    """The replica of a live release whose port is the engine's."""
    value = plan_value(replicas=(planned_replica(port=engine.port),))
    release = released(stored(DeploymentFactory.create(), value), value)
    return release.replicas.get()


def facts(replica: Replica, started_at: str = STARTED) -> ContainerFacts:
    return ContainerFacts(
        container_id=replica.container_id,
        name=replica.container_name,
        image_id="",
        state="running",
        exit_code=None,
        oom_killed=False,
        error="",
        started_at=started_at,
        finished_at="",
        health=None,
        stop_signal="",
        labels={},
    )


def look(replica: Replica, started_at: str = STARTED) -> int:
    """A round in which the replica is due."""
    CounterCursor.objects.update(scraped_ns=F("scraped_ns") - 10 * SECOND)
    return scrape(replica.host, [(replica, facts(replica, started_at))])


def printed(replica: Replica, *windows: int, lost: bool = False) -> None:
    """The log printed windows of three drafts each, at seconds from now; they are stored."""
    row = cursor_of(replica, replica.container_id, STARTED)
    found = []
    for place, after_s in enumerate(windows):
        record = acceptance_of(parse_line(LINE))
        assert isinstance(record, AcceptanceRecord)
        at_ns = time.time_ns() + after_s * SECOND
        counts = Counts(accepted=3, drafted=9, num_drafts=3, per_position=(2, 1, 0))
        line = LogLine(
            stream="stdout", ts_ns=at_ns, sequence=place, text=LINE, truncated=False
        )
        found.append(FoundSample(line, record, counts, 0))
    for sample, fill in fill_in(row, found, lost=lost):
        AcceptanceSample.objects.create(
            deployment=replica.release.deployment,
            replica=replica,
            container_id=replica.container_id,
            run_started_at=STARTED,
            stream="stdout",
            timestamp_ns=sample.line.ts_ns,
            sequence=sample.line.sequence,
            accepted=fill.accepted,
            drafted=fill.drafted,
            num_drafts=fill.num_drafts,
            per_position=list(fill.per_position),
        )


def drafts() -> int:
    """The drafts of all samples."""
    found: int | None = AcceptanceSample.objects.aggregate(n=Sum("num_drafts"))["n"]
    return found or 0


def test_counters_become_samples_by_engine_with_positions(
    engine: FakeEngine, replica: Replica
) -> None:
    engine.drafts = {"0": 30, "1": 12}
    assert look(replica) == 2
    engine.drafts = {"0": 60, "1": 12}
    assert look(replica) == 1
    rows = list(AcceptanceSample.objects.order_by("timestamp_ns", "sequence"))
    assert [(row.engine_index, row.drafted) for row in rows] == [
        (0, 90),
        (1, 36),
        (0, 90),
    ]
    assert rows[0].per_position == [20, 10, 0]
    assert rows[0].stream == "scrape"
    assert engine.asked == ["/metrics", "/metrics"]
    assert roll_up() == 3


def test_a_replica_is_asked_every_ten_seconds_and_no_router_is(
    engine: FakeEngine, replica: Replica
) -> None:
    engine.drafts = {"0": 3}
    scrape(replica.host, [(replica, facts(replica))])
    scrape(replica.host, [(replica, facts(replica))])
    assert len(engine.asked) == 1
    replica.role = "router"
    assert look(replica) == 0
    assert len(engine.asked) == 1


def test_another_container_under_our_name_is_not_asked(
    engine: FakeEngine, replica: Replica
) -> None:
    other = replace(facts(replica), name="somebody-elses")
    assert scrape(replica.host, [(replica, other)]) == 0
    stopped = replace(facts(replica), state="exited")
    assert scrape(replica.host, [(replica, stopped)]) == 0
    assert not engine.asked


def test_the_log_fills_in_and_is_never_counted_twice(
    engine: FakeEngine, replica: Replica
) -> None:
    printed(replica, -20, -10)
    assert drafts() == 6
    engine.drafts = {"0": 9}
    look(replica)
    assert drafts() == 9
    printed(replica, 1)
    assert drafts() == 9
    engine.status = 500
    look(replica)
    printed(replica, 10, 20)
    assert drafts() == 15
    engine.status, engine.drafts = 200, {"0": 18}
    look(replica)
    assert drafts() == 18
    total = AcceptanceSample.objects.aggregate(a=Sum("accepted"), d=Sum("drafted"))
    assert total == {"a": 18, "d": 54}


def test_lines_that_were_lost_are_covered_by_the_counters(
    engine: FakeEngine, replica: Replica
) -> None:
    printed(replica, -30)
    engine.drafts = {"0": 30}
    look(replica)
    printed(replica, 10, lost=True)
    row = CounterCursor.objects.get()
    assert drafts() == 30
    assert (row.lines_lost, row.differs) == (False, {})
    engine.status = 500
    look(replica)
    printed(replica, 20)
    assert drafts() == 33


def test_counters_that_begin_anew_are_another_epoch(
    engine: FakeEngine, replica: Replica
) -> None:
    engine.drafts, engine.generated = {"0": 30}, 100
    look(replica)
    engine.drafts, engine.generated = {"0": 9}, 40
    look(replica)
    assert drafts() == 39
    engine.drafts, engine.process_started = {"0": 60}, 2000.0
    engine.generated = 500
    look(replica)
    assert drafts() == 99
    assert CounterCursor.objects.get().epoch == 2
    day = ServingDay.objects.aggregate(g=Sum("generated"), r=Sum("restarts"))
    assert day == {"g": 640, "r": 2}


def test_a_restarted_container_is_another_run(
    engine: FakeEngine, replica: Replica
) -> None:
    engine.drafts = {"0": 30}
    look(replica)
    engine.drafts = {"0": 33}
    look(replica, "2026-11-29T11:00:00.5Z")
    assert drafts() == 63
    assert CounterCursor.objects.count() == 2
    assert ServingDay.objects.aggregate(r=Sum("restarts"))["r"] == 1


def test_serving_is_added_up_by_minute_hour_and_day(
    engine: FakeEngine, replica: Replica
) -> None:
    engine.drafts, engine.generated = {"0": 30}, 100
    look(replica)
    engine.drafts, engine.generated = {"0": 90}, 400
    look(replica)
    day = ServingDay.objects.get()
    assert (day.scrapes, day.running_sum, day.running_most) == (2, 4.0, 2.0)
    assert (day.cache_scrapes, day.cache_sum, day.waiting_most) == (2, 1.0, 1.0)
    assert day.generated == 400
    assert day.first_token == {"sum": 4.5, "count": 90, "le": {"0.1": 90, "+Inf": 0}}
    assert ServingMinute.objects.aggregate(g=Sum("generated"))["g"] == 400


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (500, None, "refused"),
        (302, None, "refused"),
        (200, "python_info 1.0\n", "no_series"),
        (200, "x" * (LARGEST_BODY + 1), "too_large"),
    ],
)
def test_a_scrape_that_says_nothing_usable_is_noted_and_over_once_it_does(
    engine: FakeEngine, replica: Replica, status: int, body: str | None, problem: str
) -> None:
    engine.status, engine.body = status, body
    assert look(replica) == 0
    row = CounterCursor.objects.get()
    assert (row.problem, row.scraped_ns) == (problem, 0)
    assert row.problem_since is not None
    engine.status, engine.body, engine.drafts = 200, None, {"0": 3}
    assert look(replica) == 1
    assert CounterCursor.objects.filter(problem="", problem_since=None).exists()
    assert "/elsewhere" not in engine.asked


def test_a_slow_engine_and_a_closed_port_end_soon(engine: FakeEngine) -> None:
    engine.pause_s = 3.0
    began = time.monotonic()
    assert fetch(Endpoint("127.0.0.1", engine.port)).problem == "no_answer"
    assert fetch(Endpoint("127.0.0.1", 1)).problem == "no_answer"
    assert time.monotonic() - began < 6


def test_two_that_asked_at_once_store_once(
    engine: FakeEngine, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.drafts = {"0": 30}

    def overtaken(endpoints: list[Endpoint]) -> list[object]:
        answers = [fetch(one) for one in endpoints]
        CounterCursor.objects.update(scraped_ns=time.time_ns())
        return list(answers)

    monkeypatch.setattr("deployments.services.metrics_reading.fetch_all", overtaken)
    assert look(replica) == 0
    assert not AcceptanceSample.objects.exists()


def test_log_and_counters_that_disagree_are_recorded_with_both_sums(
    engine: FakeEngine, replica: Replica
) -> None:
    engine.drafts = {"0": 3}
    printed(replica, *range(-300, 0, 10))
    look(replica)
    row = CounterCursor.objects.get()
    assert row.differs == {"kind": "lines_more", "lines": 270, "counters": 9}
    assert row.differs_since is not None
    engine.drafts = {"0": 90}
    look(replica)
    assert CounterCursor.objects.filter(differs={}, differs_since=None).exists()
