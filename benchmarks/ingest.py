"""Reading the logs of a real Docker Engine, beside the SDK's stream and a socket that is only emptied.

``python -m benchmarks.ingest [--lines 1000000] [--rounds 3] [--small 10] [--big 256]`` starts a private
engine (needs root) and gives exited containers logs of so many lines and megabytes. The lines are
written into the engine's json files instead of being printed, which would take longer than all of
the rest; the engine reads them as any others. Clients take turns and are processes of their own,
which measure themselves from when they have imported what they need. ``ingest`` reads increments and
finds their samples, as the worker does: a log of 100,000 lines is one increment, a longer one takes
several.
"""

import argparse
import io
import json
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.pages import Result
from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.containers import (
    create_container,
    inspect_container,
    start_container,
)
from deployments.docker_api.frames import RawLine, since_argument
from deployments.docker_api.images import import_image
from deployments.docker_api.increments import StreamCursor, increment_of
from deployments.docker_api.logs import LogRange, read_since, read_tail
from deployments.docker_api.policy import ContainerPolicy
from deployments.planning.container import ContainerSpec, ImageReference
from tests.environment.docker_engine import PrivateEngine

FIRST_S = 1_795_780_800
"""When the logs begin: 2026-11-27 12:00 UTC; a thousand lines a second follow."""
LINES_A_SECOND = 1000
ONE_INCREMENT = 100_000
BLOCK = 10_000
LINE_BYTES = 176
"""About what a line takes in the engine's file."""
TARGET_MEGABYTES = 1024
POLLS = 7
PLAIN = (
    '(APIServer pid=1) INFO:     10.0.{0}.{1}:40000 - "POST /v1/chat/completions HTTP/1.1" '
    "200 OK {2:07d}"
)
ACCEPTANCE = (
    "(APIServer pid=1) INFO 11-27 12:00:00 [metrics.py:101] SpecDecoding metrics: Mean acceptance "
    "length: 2.50, Accepted throughput: 15.00 tokens/s, Drafted throughput: 30.00 tokens/s, "
    "Accepted: 150 tokens, Drafted: 300 tokens, Per-position acceptance rate: 0.800, 0.500, 0.200, "
    "Avg Draft acceptance rate: 50.0%"
)


@dataclass(frozen=True, slots=True)
class Client:
    """A program that reads a whole log: what it needs, and what is measured of it."""

    imports: str
    work: str


RAW = Client(
    "import socket",
    """
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
path = f"/containers/{sys.argv[2]}/logs?stdout=1&stderr=1&timestamps=1"
connection.sendall(f"GET {path} HTTP/1.0\\r\\nHost: docker\\r\\n\\r\\n".encode())
buffer = bytearray(1 << 18)
while connection.recv_into(buffer):
    pass
""",
)
SDK = Client(
    "import docker",
    """
client = docker.DockerClient("unix://" + sys.argv[1], timeout=900)
lines = client.containers.get(sys.argv[2]).logs(stream=True, timestamps=True)
sum(b"SpecDecoding metrics: " in line for line in lines)
""",
)
INGEST = Client(
    """
from deployments.docker_api.client import open_engine
from deployments.docker_api.logs import LogRange, read_since
from deployments.services.log_samples import MARKS, samples_of
""",
    """
with open_engine("unix://" + sys.argv[1]) as engine:
    increments = read_since(engine, sys.argv[2], {}, LogRange(final=True), marks=MARKS)
    sum(len(list(samples_of(increment))) for increment in increments)
""",
)
MEASURED = """
import sys, time
{client.imports}
wall, cpu = time.perf_counter(), time.process_time()
{client.work}
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
CLIENTS = {"raw socket": RAW, "SDK stream": SDK, "ingest": INGEST}


@dataclass(frozen=True, slots=True)
class Spent:
    """What one run of a client took, in seconds."""

    cpu_s: float
    wall_s: float


def main() -> int:
    """Start an engine, measure, print; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", type=int, default=10, help="megabytes")
    parser.add_argument("--big", type=int, default=256, help="megabytes")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ingest-") as folder:
        private = PrivateEngine(Path(folder) / "docker")
        try:
            private.start()
            with open_engine(private.url) as engine:
                results = _measured(engine, private, asked)
        finally:
            private.stop()
    for result in results:
        sys.stdout.write(f"{result}\n")
    return 0 if all(result.kept for result in results) else 1


def _measured(
    engine: Engine, private: PrivateEngine, asked: argparse.Namespace
) -> list[Result]:
    image = import_image(engine, _busybox(), repository="ingest", tag="1", changes=())

    def container(lines: int) -> str:
        return _container(engine, private, image, lines)

    results = []
    for lines in (ONE_INCREMENT, asked.lines):
        name, found = f"{lines:,} lines", container(lines)
        results += _streams(name, _clients(private, found, asked.rounds))
    small, big = (
        container(size * 1_000_000 // LINE_BYTES) for size in (asked.small, asked.big)
    )
    return [*results, *_polls(engine, small, big, asked)]


def _streams(name: str, spent: Mapping[str, Spent]) -> list[Result]:
    """What every client took for the whole log; the limits are those of one pass over it."""
    cpu = {one: spent[one].cpu_s for one in CLIENTS}
    wall = {one: spent[one].wall_s for one in CLIENTS}
    return [
        *(
            Result(name=f"{name}: {one}, CPU", value=cpu[one], unit="s")
            for one in CLIENTS
        ),
        *(
            Result(name=f"{name}: {one}, wall", value=wall[one], unit="s")
            for one in CLIENTS
        ),
        Result(
            name=f"{name}: CPU, ingest / SDK",
            value=cpu["ingest"] / cpu["SDK stream"],
            unit="x",
            limit=0.2,
        ),
        Result(
            name=f"{name}: wall, ingest / raw",
            value=wall["ingest"] / wall["raw socket"],
            unit="x",
            limit=1.15,
        ),
    ]


def _clients(private: PrivateEngine, container: str, rounds: int) -> dict[str, Spent]:
    """The median of the rounds of each client, in turns."""
    address = private.url.removeprefix("unix://")
    turns = [
        {one: _timed(client, address, container) for one, client in CLIENTS.items()}
        for _ in range(rounds)
    ]
    return {
        one: Spent(
            statistics.median(turn[one].cpu_s for turn in turns),
            statistics.median(turn[one].wall_s for turn in turns),
        )
        for one in CLIENTS
    }


def _timed(client: Client, *arguments: str) -> Spent:
    script = MEASURED.format(client=client)
    done = subprocess.run(  # noqa: S603 - scripts of this file
        [sys.executable, "-c", script, *arguments], check=True, capture_output=True
    )
    cpu_s, wall_s = map(float, done.stdout.split())
    return Spent(cpu_s, wall_s)


def _polls(
    engine: Engine, small: str, big: str, asked: argparse.Namespace
) -> list[Result]:
    """A poll that returns one new line, and what a plain ``since`` costs that returns the same."""
    polls = {one: _cursor_before_the_last(engine, one) for one in (small, big)}
    times: dict[str, list[float]] = {small: [], big: []}
    for _ in range(POLLS):
        for one, cursor in polls.items():
            begin = time.perf_counter()
            (increment,) = read_since(engine, one, {"stdout": cursor}, LogRange())
            times[one].append(time.perf_counter() - begin)
            if len(increment.lines) != 1 or increment.lost:
                raise RuntimeError(f"One new line was expected: {increment}")
    poll = {one: 1000 * statistics.median(taken) for one, taken in times.items()}
    plain = 1000 * _plain_since_s(engine, big, polls[big])
    larger = TARGET_MEGABYTES / asked.big
    return [
        Result(
            name=f"poll of one new line, {asked.small} MB", value=poll[small], unit="ms"
        ),
        Result(
            name=f"poll of one new line, {asked.big} MB", value=poll[big], unit="ms"
        ),
        Result(
            name="poll, big / small log",
            value=poll[big] / poll[small],
            unit="x",
            limit=20,
        ),
        Result(name=f"plain since, {asked.big} MB", value=plain, unit="ms"),
        Result(
            name=f"plain since, {TARGET_MEGABYTES} MB (extrapolated)",
            value=plain * larger,
            unit="ms",
        ),
        Result(
            name=f"poll / plain since of {TARGET_MEGABYTES} MB (extrapolated), in 1000",
            value=1000 * poll[big] / (plain * larger),
            unit="",
            limit=1000 / 500,
        ),
    ]


def _cursor_before_the_last(engine: Engine, container: str) -> StreamCursor:
    """Where a reader stands who has read all lines but one."""
    lines = read_tail(engine, container, lines=2)
    last = RawLine("stdout", lines[0].ts_ns, lines[0].text.encode(), truncated=False)
    nothing: dict[str, StreamCursor] = {}
    return increment_of([last], nothing).cursors["stdout"]


def _plain_since_s(engine: Engine, container: str, cursor: StreamCursor) -> float:
    """Once, since it reads the whole file."""
    since = since_argument(cursor.timestamp_ns)
    path = f"/containers/{container}/logs?stdout=1&timestamps=1&since={since}"
    begin = time.perf_counter()
    engine.api.get(engine.url(path), timeout=900).raise_for_status()
    return time.perf_counter() - begin


def _container(engine: Engine, private: PrivateEngine, image: str, lines: int) -> str:
    """A container that has ended and whose log has so many lines, one in 200 of acceptance."""
    spec = ContainerSpec(
        name=f"log-{uuid.uuid4().hex[:8]}",
        image=ImageReference(reference="ingest:1"),
        command=("/busybox", "true"),
        shm_size_bytes=1 << 20,
    )
    made = create_container(
        engine, spec, image_id=image, labels={}, policy=ContainerPolicy()
    )
    start_container(engine, made)
    while (facts := inspect_container(engine, made)) is not None and facts.running:
        time.sleep(0.05)
    (log,) = (private.folder / "data" / "containers" / made).glob("*-json.log")
    with log.open("w") as file:
        for first in range(0, lines, BLOCK):
            file.write("".join(map(_stored, range(first, min(first + BLOCK, lines)))))
    return made


def _busybox() -> io.BytesIO:
    """A file system with one static program."""
    program = shutil.which("busybox")
    if program is None:
        raise RuntimeError("The package busybox-static is missing.")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as file:
        file.add(Path(program).resolve(), "busybox")
    archive.seek(0)
    return archive


def _stored(number: int) -> str:
    """A line as the engine stores it."""
    seconds, part = divmod(number, LINES_A_SECOND)
    at = datetime.fromtimestamp(FIRST_S + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    text = (
        ACCEPTANCE
        if number % 200 == 0
        else PLAIN.format(number % 251, number % 241, number)
    )
    words = json.dumps(f"{text}\n")
    return f'{{"log":{words},"stream":"stdout","time":"{at}.{part:03d}000001Z"}}\n'


if __name__ == "__main__":
    sys.exit(main())
