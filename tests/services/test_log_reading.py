"""Logs of real containers become samples: every line once, whatever happens between two reads."""

import time
import uuid
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    create_container,
    inspect_container,
    signal_container,
    start_container,
)
from deployments.docker_api.errors import EngineUnreachableError
from deployments.docker_api.increments import increment_of
from deployments.docker_api.logs import (
    LogIncrement,
    LogRange,
    StreamCursor,
    read_since,
    read_tail,
)
from deployments.docker_api.policy import ContainerPolicy
from deployments.models import (
    AcceptanceSample,
    LogCursor,
    LogGap,
    ReleaseState,
    Replica,
    ReplicaState,
)
from deployments.planning.container import ContainerSpec, ImageReference, LogOptions
from deployments.services import log_reading
from deployments.services.log_reading import (
    hosts_to_read,
    read_host_logs,
    read_replica,
)
from deployments.services.log_samples import MARKS
from tests.docker_api.conftest import busybox_image, wait_stopped
from tests.factories import ReleaseFactory
from tests.services.rollout.conftest import (
    practice_image_id,
    short_waits,
    world,
)
from tests.services.rollout.world import World

__all__ = ["busybox_image", "practice_image_id", "short_waits", "world"]

pytestmark = pytest.mark.docker

Cursors = Mapping[str, StreamCursor]
Increments = Generator[LogIncrement, None, None]

LINE = (
    "(APIServer pid=1) INFO 11-29 17:37:00 [metrics.py:120] SpecDecoding metrics: "
    "Mean acceptance length: 2.38, Accepted throughput: 16.42 tokens/s, Drafted throughput: "
    "35.83 tokens/s, Accepted: {accepted} tokens, Drafted: 72 tokens, Per-position acceptance "
    "rate: 0.583, 0.458, 0.333, Avg Draft acceptance rate: 45.8%"
)
ENGINE = (
    "(APIServer pid=1) INFO 11-29 17:37:00 [loggers.py:335] Engine 00{index}: Avg prompt "
    "throughput: 1.0 tokens/s"
)


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    with world.engine() as opened:
        yield opened


def container(
    world: World,
    engine: Engine,
    image: str,
    script: str,
    logging: LogOptions | None = None,
) -> Replica:
    """A live replica whose container runs a shell script."""
    name = f"{world.deployment.name}-{uuid.uuid4().hex[:6]}"
    container_id = create_container(
        engine,
        ContainerSpec(
            name=name,
            image=ImageReference(reference="draftboard-test/busybox:1"),
            command=("/bin/sh", "-c", script),
            logging=logging or LogOptions(),
        ),
        image_id=image,
        labels={"draftboard.instance": str(world.host.pk)},
        policy=ContainerPolicy(),
    )
    start_container(engine, container_id)
    return Replica.objects.create(
        release=ReleaseFactory.create(
            deployment=world.deployment, state=ReleaseState.STOPPED, live_at=None
        ),
        host=world.host,
        role="combined",
        rank=0,
        container_name=name,
        container_id=container_id,
        state=ReplicaState.RUNNING,
    )


def say(*accepted: int) -> str:
    return "; ".join(f"echo '{LINE.format(accepted=count)}'" for count in accepted)


def accepted(replica: Replica) -> list[int]:
    samples = AcceptanceSample.objects.filter(replica=replica)
    return [sample.accepted for sample in samples.order_by("timestamp_ns", "sequence")]


def until_read(world: World, replica: Replica, count: int) -> None:
    end = time.monotonic() + 15
    while len(accepted(replica)) < count and time.monotonic() < end:
        read_host_logs(world.host.pk)
        time.sleep(0.05)


def test_every_line_is_one_sample_with_its_counts(
    world: World, engine: Engine, busybox_image: str
) -> None:
    replica = container(world, engine, busybox_image, f"{say(1, 2, 3)}; sleep 60")
    until_read(world, replica, 3)
    read_host_logs(world.host.pk)
    assert accepted(replica) == [1, 2, 3]
    sample = AcceptanceSample.objects.filter(replica=replica).first()
    assert sample is not None
    assert (sample.drafted, sample.stream, sample.engine_index) == (72, "stdout", None)
    assert sample.num_speculative_tokens == 3
    assert sample.window_s == pytest.approx(72 / 35.83)
    assert sample.deployment == world.deployment


def test_the_engine_is_the_one_that_spoke_before_even_in_an_earlier_read(
    world: World, engine: Engine, busybox_image: str
) -> None:
    one, two = (ENGINE.format(index=index) for index in (1, 2))
    script = f"echo '{one}'; {say(1)}; echo '{two}'; sleep 2; {say(2)}; sleep 60"
    replica = container(world, engine, busybox_image, script)
    until_read(world, replica, 1)
    read_host_logs(world.host.pk)
    until_read(world, replica, 2)
    samples = AcceptanceSample.objects.filter(replica=replica).order_by("timestamp_ns")
    assert [sample.engine_index for sample in samples] == [1, 2]


def test_how_fast_a_log_grows_is_measured_and_what_is_kept_of_it(
    world: World, engine: Engine, busybox_image: str
) -> None:
    kept = LogOptions(max_size="3m", max_file=4)
    script = f"trap 'go=1' USR1; {say(1)}; while [ -z \"$go\" ]; do sleep 0.1; done; {say(2)}; sleep 60"
    replica = container(world, engine, busybox_image, script, kept)
    until_read(world, replica, 1)
    cursors = LogCursor.objects.filter(replica=replica, stream="stdout")
    assert cursors.get().bytes_per_s is None
    signal_container(engine, replica.container_id, "SIGUSR1")
    while len(read_tail(engine, replica.container_id, lines=9)) < 2:
        time.sleep(0.1)
    # The first look from here on finds the line.
    cursors.update(measured_from=timezone.now() - timedelta(seconds=100))
    until_read(world, replica, 2)
    row = cursors.get()
    assert row.kept_bytes == 12 * 1024 * 1024
    assert row.bytes_per_s == pytest.approx(
        (len(LINE.format(accepted=2)) + 76) / 100, rel=0.2
    )


def test_a_line_behind_16_kb_of_others_words_is_one_sample(
    world: World, engine: Engine, busybox_image: str
) -> None:
    script = f"printf '%020000d ' 0; {say(5)}; {say(6)}"
    replica = container(world, engine, busybox_image, script)
    wait_stopped(engine, replica.container_id)
    read_host_logs(world.host.pk)
    assert 6 in accepted(replica)
    assert len(accepted(replica)) <= 2


def test_a_restart_begins_a_new_run_and_loses_nothing(
    world: World, engine: Engine, busybox_image: str
) -> None:
    replica = container(world, engine, busybox_image, f"{say(1)}; sleep 1; {say(2)}")
    until_read(world, replica, 1)
    wait_stopped(engine, replica.container_id)
    start_container(engine, replica.container_id)
    wait_stopped(engine, replica.container_id)
    read_host_logs(world.host.pk)
    assert accepted(replica) == [1, 2, 1, 2]
    runs = AcceptanceSample.objects.filter(replica=replica).values_list(
        "run_started_at", flat=True
    )
    assert len(set(runs)) == 2
    assert not LogCursor.objects.filter(replica=replica, finished=False).exists()


def test_a_line_that_was_read_of_one_run_is_none_of_the_next(
    world: World, engine: Engine, busybox_image: str
) -> None:
    """A restart between two questions, and a line that is stamped behind the end of its run."""
    replica = container(world, engine, busybox_image, say(1))
    wait_stopped(engine, replica.container_id)
    ended = inspect_container(engine, replica.container_id)
    assert ended is not None
    first = replace(ended, state="running")
    assert read_replica(engine, replica, first) == 1
    start_container(engine, replica.container_id)
    wait_stopped(engine, replica.container_id)
    assert read_replica(engine, replica, first) == 0
    second = inspect_container(engine, replica.container_id)
    assert second is not None
    read_replica(engine, replica, replace(second, finished_at=first.started_at))
    samples = AcceptanceSample.objects.filter(replica=replica).order_by("timestamp_ns")
    runs = list(samples.values_list("run_started_at", flat=True))
    assert runs == [first.started_at, second.started_at]
    assert not LogGap.objects.filter(replica=replica).exists()


def test_rotated_lines_are_a_declared_gap(
    world: World, engine: Engine, busybox_image: str
) -> None:
    noise = "i=0; while [ $i -lt 4000 ]; do echo noise $i; i=$((i+1)); done"
    script = f"{say(1)}; sleep 1.5; {say(2)}; {noise}; {say(3)}"
    tiny = LogOptions(max_size="20k", max_file=2)
    replica = container(world, engine, busybox_image, script, tiny)
    until_read(world, replica, 1)
    wait_stopped(engine, replica.container_id)
    read_host_logs(world.host.pk)
    assert accepted(replica) == [1, 3]
    gap = LogGap.objects.get(replica=replica)
    assert gap.reason == "rotated"
    assert gap.to_ns > gap.from_ns


def test_what_a_new_run_said_and_lost_before_the_first_look_is_a_declared_gap(
    world: World, engine: Engine, busybox_image: str
) -> None:
    noise = "i=0; while [ $i -lt 4000 ]; do echo noise $i; i=$((i+1)); done"
    again = f"{say(2)}; {noise}; {say(3)}"
    script = f"if [ -e /again ]; then {again}; else touch /again; {say(1)}; fi"
    tiny = LogOptions(max_size="20k", max_file=2)
    replica = container(world, engine, busybox_image, script, tiny)
    wait_stopped(engine, replica.container_id)
    read_host_logs(world.host.pk)
    start_container(engine, replica.container_id)
    wait_stopped(engine, replica.container_id)
    read_host_logs(world.host.pk)
    assert accepted(replica) == [1, 3]
    first = AcceptanceSample.objects.filter(replica=replica).earliest("timestamp_ns")
    gap = LogGap.objects.get(replica=replica)
    assert gap.from_ns == first.timestamp_ns < gap.to_ns


def test_an_ended_container_is_read_to_its_end_and_then_no_more(
    world: World, engine: Engine, busybox_image: str
) -> None:
    replica = container(world, engine, busybox_image, f"{say(1)}; printf '{LINE}'")
    wait_stopped(engine, replica.container_id)
    Replica.objects.filter(pk=replica.pk).update(state=ReplicaState.EXITED)
    assert hosts_to_read() == [world.host.pk]
    read_host_logs(world.host.pk)
    assert hosts_to_read() == []


def test_an_answer_that_breaks_off_does_not_end_a_run(
    world: World, engine: Engine, busybox_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed engine closes its answers, which then look whole: as if nothing came behind."""
    replica = container(world, engine, busybox_image, say(1, 2, 3))
    wait_stopped(engine, replica.container_id)
    facts = inspect_container(engine, replica.container_id)
    assert facts is not None

    def broken_off(
        engine: Engine, container_id: str, cursors: Cursors, part: LogRange, **_: object
    ) -> Increments:
        (whole,) = read_since(engine, container_id, cursors, part, marks=MARKS)
        assert len(whole.lines) == 3
        yield increment_of([], cursors)

    def dead(*_: object) -> None:
        raise EngineUnreachableError("It was killed.")

    with monkeypatch.context() as patch:
        patch.setattr(log_reading, "read_since", broken_off)
        patch.setattr(log_reading, "inspect_container", dead)
        with pytest.raises(EngineUnreachableError):
            read_replica(engine, replica, facts)
    read_replica(engine, replica, facts)
    assert accepted(replica) == [1, 2, 3]
    assert not LogCursor.objects.filter(replica=replica, finished=False).exists()


def test_an_answer_that_breaks_off_before_the_known_line_is_no_gap(
    world: World, engine: Engine, busybox_image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replica = container(world, engine, busybox_image, f"{say(1)}; sleep 60")
    until_read(world, replica, 1)

    def empty(
        _engine: Engine, _id: str, cursors: Cursors, _part: LogRange, **_: object
    ) -> Increments:
        increment = increment_of([], cursors)
        assert increment.lost is not None
        yield increment

    with monkeypatch.context() as patch:
        patch.setattr(log_reading, "read_since", empty)
        read_host_logs(world.host.pk)
    read_host_logs(world.host.pk)
    assert accepted(replica) == [1]
    assert not LogGap.objects.filter(replica=replica).exists()


def test_a_container_that_is_gone_is_no_error(
    world: World, engine: Engine, busybox_image: str
) -> None:
    replica = container(world, engine, busybox_image, "sleep 60")
    signal_container(engine, replica.container_id, "SIGKILL")
    wait_stopped(engine, replica.container_id)
    engine.call("DELETE", f"/containers/{replica.container_id}", act="remove it")
    assert inspect_container(engine, replica.container_id) is None
    assert read_host_logs(world.host.pk) == 0


def test_a_host_that_does_not_answer_is_left_for_the_next_round(
    world: World, engine: Engine, busybox_image: str
) -> None:
    container(world, engine, busybox_image, "sleep 60")
    type(world.host).objects.filter(pk=world.host.pk).update(
        docker_address="unix:///nowhere/docker.sock"
    )
    assert read_host_logs(world.host.pk) == 0
