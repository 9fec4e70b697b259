"""The log file of a real container becomes samples: each line once, rotation and truncation told."""

import io
import tarfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import signal_container, start_container
from deployments.models import AcceptanceSample, FileLogCursor, LogGap
from deployments.services.log_reading import read_host_logs
from tests.docker_api.conftest import busybox_image, wait_stopped
from tests.metric_rows import FileLogFactory
from tests.services.rollout.conftest import practice_image_id, short_waits, world
from tests.services.rollout.world import World
from tests.services.test_log_reading import LINE, accepted, container

__all__ = ["busybox_image", "practice_image_id", "short_waits", "world"]

pytestmark = pytest.mark.docker

PATH = "/combined_rank0.log"


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    with world.engine() as opened:
        yield opened


def lines(*counts: int) -> str:
    stamp = datetime.now(UTC).strftime("%m-%d %H:%M:%S")
    return "".join(
        LINE.format(accepted=count).replace("11-29 17:37:00", stamp) + "\n"
        for count in counts
    )


def test_a_file_is_read_on_through_rotation_truncation_and_restart(
    world: World, engine: Engine, busybox_image: str
) -> None:
    replica = container(world, engine, busybox_image, "trap exit TERM; sleep 60 & wait")

    def holds(content: str, path: str = PATH) -> None:
        """Written just now, which an archive has to say."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            member = tarfile.TarInfo(path.removeprefix("/"))
            member.size, member.mtime = len(content), time.time()
            archive.addfile(member, io.BytesIO(content.encode()))
        engine.api.put_archive(replica.container_id, "/", packed.getvalue())

    def read() -> list[int]:
        read_host_logs(world.host.pk)
        return accepted(replica)

    holds(lines(60))
    assert read() == [], "no file was named: standard output alone is read"
    named = FileLogFactory.create(deployment=world.deployment, path="/etc")
    assert read() == []
    cursors = FileLogCursor.objects.filter(replica=replica)
    assert cursors.get().problem == "no_log_file"
    named.path = "/{role}_rank{rank}.log"
    named.save()

    begun = lines(1, 2)
    holds(begun + LINE.format(accepted=3)[:40])
    assert read() == [1, 2], "a line without its end waits"
    assert read() == [1, 2]
    row = cursors.get()
    assert (row.offset, row.zone_s, row.problem) == (len(begun), 0, "")
    sample = AcceptanceSample.objects.filter(replica=replica).earliest("timestamp_ns")
    assert sample.stream == "file"
    assert abs(sample.timestamp_ns / 1e9 - datetime.now(UTC).timestamp()) < 60

    begun += lines(3)
    holds(begun)
    assert read() == [1, 2, 3]
    holds(begun + lines(4), f"{PATH}.1")
    holds(lines(5))
    assert read() == [1, 2, 3, 4, 5], "the rest of the rotated file comes first"
    assert not LogGap.objects.filter(replica=replica).exists()

    holds("")
    assert read() == [1, 2, 3, 4, 5]
    holds(lines(6))
    assert read() == [1, 2, 3, 4, 5, 6]
    gap = LogGap.objects.get(replica=replica)
    assert (gap.reason, gap.to_ns >= gap.from_ns) == ("rotated", True)

    holds(lines(6) + lines(7) + LINE.format(accepted=8))
    signal_container(engine, replica.container_id, "SIGKILL")
    wait_stopped(engine, replica.container_id)
    start_container(engine, replica.container_id)
    assert read()[-2:] == [7, 8], "what stands there at a restart is the run's before"
    runs = AcceptanceSample.objects.filter(replica=replica)
    assert len(set(runs.values_list("run_started_at", flat=True))) == 1
    assert cursors.filter(finished=True).count() == 1
