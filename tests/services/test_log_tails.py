"""Tails from a real engine: at once, increments, restarts, previous runs, bad bytes, limits."""

import time
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    create_container,
    inspect_container,
    remove_container,
    signal_container,
    start_container,
)
from deployments.docker_api.logs import read_newest, read_tail
from deployments.docker_api.policy import ContainerPolicy
from deployments.models import (
    Host,
    LogCursor,
    LogRequest,
    LogRun,
    LogTail,
    Replica,
)
from deployments.planning.container import ContainerSpec, ImageReference
from deployments.selectors.log_lines import PANEL, RESTARTED
from deployments.services import log_tails
from deployments.services.log_tails import fill_host_tails
from practice.image import PRACTICE_IMAGE
from tests.docker_api.conftest import (
    Run,
    busybox_image,
    create,
    engine,
    run,
    run_label,
    wait_stopped,
)
from tests.factories import HostFactory, LogTailFactory, ReplicaFactory
from tests.services.rollout.conftest import practice_image_id

__all__ = ["busybox_image", "create", "engine", "practice_image_id", "run", "run_label"]

COUNT = "i=0; while [ $i -lt {n} ]; do echo line $i; i=$((i+1)); done"
PRACTICE = (
    "vllm", "serve", "acme/target", "--port", "8000", "--speculative-config",
    '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":4}',
)  # fmt: skip


@pytest.fixture
def host(db: None, docker_host: str) -> Host:
    """The engine of the tests as a host."""
    row: Host = HostFactory.create(name="here", docker_address=docker_host)
    return row


def look_at(host: Host, container_id: str, run: LogRun = LogRun.CURRENT) -> LogRequest:
    """Somebody looks at a container."""
    replica = Replica.objects.filter(container_id=container_id).first()
    return LogRequest.objects.create(
        replica=replica or ReplicaFactory.create(host=host, container_id=container_id),
        run=run,
        wanted_until=timezone.now() + timedelta(seconds=30),
    )


def filled(request: LogRequest) -> LogTail:
    """The tail after one more round."""
    fill_host_tails(request.replica.host_id)
    return LogTail.objects.get(request=request)


def texts(tail: LogTail) -> list[str]:
    return [line[3] for line in tail.lines]


@pytest.mark.docker
def test_the_last_thousand_lines_are_there_at_once(
    host: Host, engine: Engine, run: Run
) -> None:
    container_id = run(COUNT.format(n=5000) + "; sleep 60")
    wait_for_line(engine, container_id, "line 4999")
    begin = time.monotonic()
    tail = filled(look_at(host, container_id))
    assert time.monotonic() - begin < 2
    assert texts(tail) == [f"line {number}" for number in range(4000, 5000)]
    assert (tail.newest, tail.line_count, tail.ended) == (1000, 1000, False)
    stamps = [line[1] for line in tail.lines]
    assert stamps == sorted(stamps)


@pytest.mark.docker
def test_only_new_lines_are_added_and_none_is_lost_or_doubled(
    host: Host, run: Run
) -> None:
    script = "i=0; while [ $i -lt 40 ]; do echo a $i; echo b $i >&2; i=$((i+1)); sleep 0.05; done"
    request = look_at(host, run(script))
    tail = filled(request)
    deadline = time.monotonic() + 20
    while not tail.ended and time.monotonic() < deadline:
        tail = filled(request)
        time.sleep(0.2)
    tail = filled(request)
    for word, stream in (("a", "stdout"), ("b", "stderr")):
        said = [line[3] for line in tail.lines if line[2] == stream]
        assert said == [f"{word} {number}" for number in range(40)]
    assert [line[0] for line in tail.lines] == list(range(1, 81))
    assert tail.ended


@pytest.mark.docker
def test_a_flood_is_bounded_and_says_that_lines_are_missing(
    host: Host, engine: Engine, run: Run
) -> None:
    container_id = run(f"echo begin; sleep 1; {COUNT.format(n=3000)}; sleep 60")
    request = look_at(host, container_id)
    first = filled(request)
    while not first.lines:
        first = filled(request)
    wait_for_line(engine, container_id, "line 2999")
    tail = filled(request)
    assert tail.line_count == 1000
    assert texts(tail)[-1] == "line 2999"
    skipped = [line for line in tail.lines if line[2] == PANEL]
    assert len(skipped) <= 1
    assert tail.newest == 1 + 1000 + 1


@pytest.mark.docker
def test_a_restart_begins_anew_and_the_run_before_can_be_read(
    host: Host, engine: Engine, run: Run
) -> None:
    # A loaded engine stamps the last line later than the end, where nothing follows it.
    container_id = run("echo hello $$; echo half; sleep 0.5; echo bye; sleep 0.5")
    request = look_at(host, container_id)
    before = look_at(host, container_id, LogRun.PREVIOUS)
    assert filled(before).problem == log_tails.NO_EARLIER_RUN
    wait_stopped(engine, container_id)
    ended = filled(request)
    assert texts(ended)[1:] == ["half", "bye"]
    assert ended.ended

    start_container(engine, container_id)
    tail = filled(request)
    while "half" not in texts(tail):
        tail = filled(request)
    assert tail.lines[0][2:4] == [PANEL, RESTARTED]
    assert texts(tail)[2:3] == ["half"]
    assert tail.lines[0][0] == ended.newest + 1
    assert texts(filled(before))[1:] == ["half", "bye"]
    assert LogTail.objects.get(request=before).problem == ""


@pytest.mark.docker
def test_the_run_before_an_ended_one_is_known_from_the_sample_cursors(
    host: Host, engine: Engine, run: Run
) -> None:
    # A loaded engine notes the start later than what is printed at once.
    container_id = run("sleep 1; echo run")
    wait_stopped(engine, container_id)
    facts = inspect_container(engine, container_id)
    assert facts is not None
    time.sleep(1)
    start_container(engine, container_id)
    wait_stopped(engine, container_id)
    request = look_at(host, container_id)
    LogCursor.objects.create(
        replica=request.replica,
        container_id=container_id,
        run_started_at=facts.started_at,
        stream="stdout",
    )
    before = look_at(host, container_id, LogRun.PREVIOUS)
    assert texts(filled(request)) == ["run"]
    old = filled(before)
    assert texts(old) == ["run"]
    assert old.lines[0][1] < LogTail.objects.get(request=request).lines[0][1]


@pytest.mark.docker
def test_practice_engine_with_bad_bytes_and_long_lines_is_inert(
    host: Host, engine: Engine, practice_image_id: str
) -> None:
    spec = ContainerSpec(
        name=f"t{uuid.uuid4().hex[:12]}",
        image=ImageReference(reference=PRACTICE_IMAGE, image_id=practice_image_id),
        command=PRACTICE,
        environment=(
            ("PRACTICE_BAD_BYTES", "1"),
            ("PRACTICE_LONG_LINES", "1"),
            ("PRACTICE_READY_AFTER", "0.2"),
            ("PRACTICE_TRAFFIC", "4"),
            ("VLLM_LOG_STATS_INTERVAL", "1"),
        ),
        shm_size_bytes=64 << 20,
    )
    container_id = create_container(
        engine, spec, image_id=practice_image_id, labels={}, policy=ContainerPolicy()
    )
    try:
        start_container(engine, container_id)
        request = look_at(host, container_id)
        deadline = time.monotonic() + 60
        tail = filled(request)
        while (
            sum("SpecDecoding metrics" in text for text in texts(tail)) < 2
            and time.monotonic() < deadline
        ):
            time.sleep(0.5)
            tail = filled(request)
    finally:
        signal_container(engine, container_id, "SIGKILL")
        wait_stopped(engine, container_id)
        remove_container(engine, container_id)
    said = "".join(texts(tail))
    assert "SpecDecoding metrics" in said
    assert not any(ord(sign) < 32 and sign != "\t" for sign in said)
    assert "\x1b" not in said
    assert max(len(text) for text in texts(tail)) <= 8000
    assert any(line[4] for line in tail.lines), "a long line is marked as cut"
    assert len(said) <= log_tails.MOST_CHARACTERS
    assert filled(request).problem == log_tails.GONE
    assert texts(LogTail.objects.get(request=request)) == texts(tail)


@pytest.mark.docker
def test_a_container_that_never_started_says_so(host: Host, create: Run) -> None:
    assert filled(look_at(host, create("echo"))).problem == log_tails.NOT_STARTED


@pytest.mark.docker
def test_the_slower_of_two_readers_stores_nothing(
    host: Host, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = look_at(host, run("echo one; sleep 60"))

    def overtaken(*arguments: object, **options: object) -> object:
        LogTail.objects.update(turn=7, newest=40)
        return read_newest(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(log_tails, "read_newest", overtaken)
    tail = filled(request)
    assert (tail.turn, tail.newest, tail.lines) == (7, 40, [])


def test_a_host_that_does_not_answer_is_the_problem_of_its_tails(db: None) -> None:
    tail = LogTailFactory.create(lines=[[1, 1, "stdout", "kept", False]])
    Host.objects.update(docker_address="unix:///nowhere/docker.sock")
    again = filled(tail.request)
    assert again.problem == "unreachable"
    assert texts(again) == ["kept"]
    assert again.filled_at is not None


def wait_for_line(engine: Engine, container_id: str, text: str) -> None:
    """Wait until the container has printed a line."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if any(line.text == text for line in read_tail(engine, container_id, lines=1)):
            return
        time.sleep(0.1)
    raise AssertionError(f"{text} was not printed")
