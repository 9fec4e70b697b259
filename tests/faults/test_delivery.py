"""Messages come twice, owners freeze, answers get lost: the effect is there once."""

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db.models import Sum

from deployments.models import (
    AcceptanceSample,
    CounterCursor,
    Host,
    ReleaseState,
)
from deployments.services.log_reading import read_host_logs
from tests.faults.processes import (
    command_of,
    lease_runs_out,
    nothing_twice,
    start_worker,
    work,
)
from tests.faults.proxy import LossyProxy
from tests.services.rollout.world import (
    FAST_TRAFFIC,
    World,
    drive,
    only_replica,
)

pytestmark = [pytest.mark.docker, pytest.mark.faults]


def test_a_message_that_comes_twice_at_once_has_one_effect(
    committed_world: World,
) -> None:
    world = committed_world
    release = world.release(world.plan())
    command = command_of(release)
    with (
        start_worker("command", command.pk) as one,
        start_worker("command", command.pk) as two,
    ):
        assert (one.wait(100), two.wait(100)) == (0, 0)
    release.refresh_from_db()
    assert release.state == ReleaseState.LIVE
    assert len(world.our_containers()) == 1
    nothing_twice(world, release)


def is_frozen(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
    return state.startswith("T")


@pytest.mark.parametrize("place", ["after:CREATE", "before:START", "after:SMOKE"])
def test_an_owner_that_froze_changes_nothing_when_it_wakes(
    committed_world: World, place: str
) -> None:
    world = committed_world
    release = world.release(world.plan())
    command = command_of(release)
    with start_worker("command", command.pk, f"{place}:freeze") as frozen:
        end = time.monotonic() + 30
        while not is_frozen(frozen.pid) and time.monotonic() < end:
            time.sleep(0.05)
        lease_runs_out(command)
        assert work("command", command.pk) == 0
        os.kill(frozen.pid, signal.SIGCONT)
        assert frozen.wait(60) == 0
    release.refresh_from_db()
    assert release.state == ReleaseState.LIVE
    assert len(world.our_containers()) == 1
    nothing_twice(world, release)


@contextmanager
def lossy(world: World, path: Path, *lose: bytes) -> Iterator[LossyProxy]:
    """Put the proxy between the panel and the world's engine."""
    direct = world.host.docker_address
    proxy = LossyProxy(direct.removeprefix("unix://"), path, *lose)
    Host.objects.filter(pk=world.host.pk).update(docker_address=proxy.address)
    try:
        yield proxy
    finally:
        Host.objects.filter(pk=world.host.pk).update(docker_address=direct)
        proxy.close()


@pytest.mark.parametrize("request_line", [b"/containers/create", b"/start ", b"/json"])
def test_an_answer_that_is_lost_is_looked_for_before_anything_is_repeated(
    committed_world: World, tmp_path: Path, request_line: bytes
) -> None:
    world = committed_world
    with lossy(world, tmp_path / "s", request_line) as proxy:
        release = world.deploy(world.plan())
        assert proxy.lost == [request_line]
    assert release.state == ReleaseState.LIVE
    assert len(world.our_containers()) == 1
    assert release.events.filter(detail__has_key="retry").count() == 1
    nothing_twice(world, release)


@pytest.mark.usefixtures("one_act_per_slice")
def test_answers_lost_among_many_calls_end_no_release_and_double_nothing(
    committed_world: World, tmp_path: Path
) -> None:
    world = committed_world
    planned = [world.replica(rank=rank) for rank in range(3)]
    second = f"create?name={planned[1].container.name}".encode()
    release = world.release(world.plan(*planned))
    with lossy(world, tmp_path / "s", second) as proxy:
        drive(release, done="START", hurry=True)
        # The first of a role has started by itself.
        proxy.lose(b"/start ")
        drive(release)
        assert proxy.lost == [second, b"/start "]
    assert release.state == ReleaseState.LIVE
    assert len(world.our_containers()) == 3
    noted = release.events.filter(detail__has_key="pool").values_list("step", flat=True)
    assert list(noted) == ["CREATE", "START"]
    nothing_twice(world, release)


def test_a_host_that_stays_away_ends_the_release_with_its_cause(
    committed_world: World, tmp_path: Path
) -> None:
    world = committed_world
    release = world.release(world.plan())
    Host.objects.filter(pk=world.host.pk).update(docker_address=f"unix://{tmp_path}/no")
    drive(release, hurry=True)
    assert (release.state, release.cause_code) == (ReleaseState.FAILED, "unreachable")
    assert "here does not answer" in release.cause
    assert "Start Docker" in release.next_action


def test_readers_at_the_same_time_store_each_sample_once(
    committed_world: World,
) -> None:
    world = committed_world
    release = world.deploy(world.plan(world.replica(environment=FAST_TRAFFIC)))
    for number in range(3):
        world.until_accepted(release, 2 * number + 1)
        with (
            start_worker("logs", world.host.pk) as one,
            start_worker("logs", world.host.pk) as two,
        ):
            assert (one.wait(60), two.wait(60)) == (0, 0)
    read_host_logs(world.host.pk)
    replica = only_replica(release)
    with world.engine() as engine:
        log = engine.api.get(
            engine.url(f"/containers/{replica.container_id}/logs?stdout=1"), timeout=10
        )
    drafted = [int(one) for one in re.findall(rb"Drafted: (\d+) tokens", log.content)]
    stored = AcceptanceSample.objects.filter(replica=replica)
    cursor = CounterCursor.objects.get(replica=replica)
    assert sum(drafted[:-2]) <= cursor.logged[1] <= sum(drafted)
    counted = max(cursor.read[1], cursor.logged[1])
    assert stored.aggregate(n=Sum("drafted"))["n"] == cursor.counted[1] == counted > 0
    nothing_twice(world, release)
