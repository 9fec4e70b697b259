"""``make run``: a whole panel starts, is used, stops without a trace, and starts again."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from panel.lab.processes import free_port, wait_until

pytestmark = [pytest.mark.docker]

START_S = 180.0


@dataclass
class Lab:
    """A supervisor with a folder of its own."""

    folder: Path
    port: int
    process: subprocess.Popen[str]
    output: Path

    def text(self) -> str:
        """Return what it has printed."""
        return self.output.read_text(encoding="utf-8")

    def ready(self) -> bool:
        """Whether it has said where it is, or has ended."""
        return "ready:" in self.text() or self.process.poll() is not None

    def worker_ready(self, queue: str) -> bool:
        """Whether the worker of a queue has said that it takes messages."""
        log = self.folder / "log" / f"worker-{queue}.log"
        return " ready." in log.read_text(encoding="utf-8")

    def group(self) -> set[int]:
        """Return the processes that belong to the lab, by its folder's name."""
        found = set()
        for file in Path("/proc").glob("[0-9]*/environ"):
            try:
                environment = file.read_bytes()
            except OSError:
                continue
            if f"LAB_DIRECTORY={self.folder}\0".encode() in environment:
                found.add(int(file.parent.name))
        return found

    def stop(self) -> int:
        """Press Ctrl-C and wait."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


def start(
    folder: Path,
    repository: Path,
    port: int,
    *,
    command: Sequence[str] = (sys.executable, "-m", "panel.supervisor"),
    timeout_s: float = START_S,
) -> Lab:
    """Start a supervisor and wait until it is ready or has given up."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in {"REDIS_URL", "DATABASE_URL", "DEBUG"}
    }
    output = folder / f"output-{time.monotonic_ns()}"
    with output.open("w") as file:
        process = subprocess.Popen(
            command,
            cwd=repository,
            env={**environment, "LAB_DIRECTORY": str(folder), "PORT": str(port)},
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
        )
    lab = Lab(folder=folder, port=port, process=process, output=output)
    wait_until(lab.ready, timeout_s=timeout_s, interval_s=0.1)
    return lab


@pytest.fixture
def lab(tmp_path: Path, repository: Path, docker_host: str) -> Iterator[Lab]:
    """A lab that runs, and is gone afterwards whatever the test did."""
    running = start(tmp_path, repository, free_port())
    yield running
    if running.process.poll() is None:
        running.stop()
    for pid in running.group():
        os.kill(pid, signal.SIGKILL)


def password_in(text: str) -> str | None:
    """Return the one-time password that was printed, if one was."""
    found = re.search(r"one-time password (\S+)", text)
    return found and found[1]


def test_a_lab_starts_refuses_a_second_one_stops_and_keeps_its_data(
    lab: Lab, repository: Path
) -> None:
    """One story, since each start takes seconds."""
    assert f"http://127.0.0.1:{lab.port}/" in lab.text(), lab.text()
    assert password_in(lab.text())
    page = f"http://127.0.0.1:{lab.port}/accounts/login/"
    with urllib.request.urlopen(page, timeout=5) as answer:
        assert answer.status == 200
    assert wait_until(lambda: lab.worker_ready("default"), timeout_s=30)
    assert wait_until(lambda: lab.worker_ready("rollout"), timeout_s=30)

    again = start(lab.folder, repository, free_port())
    assert again.process.wait(timeout=10) == 2
    assert "already runs from this folder" in again.text()

    (lab.folder / "other").mkdir()
    other = start(lab.folder / "other", repository, lab.port)
    assert other.process.wait(timeout=10) == 2
    assert other.text().startswith(f"Port {lab.port} is taken: choose another one")

    assert len(lab.group()) > 8
    assert lab.stop() == 0
    assert lab.group() == set()

    second = start(lab.folder, repository, lab.port)
    try:
        assert "ready:" in second.text(), second.text()
        assert password_in(second.text()) is None
    finally:
        assert second.stop() == 0
    assert second.group() == set()


def test_parts_end_when_the_supervisor_is_killed_and_come_back_when_they_are(
    lab: Lab,
) -> None:
    """Nothing is left that would hold the port or the database."""
    assert "ready:" in lab.text(), lab.text()
    pids = {pid for pid in lab.group() if "gunicorn" in command_of(pid)}
    os.kill(min(pids), signal.SIGKILL)
    assert wait_until(
        lambda: "web ended; starting it again" in lab.text(), timeout_s=20
    )
    lab.process.kill()
    lab.process.wait()
    assert wait_until(lambda: lab.group() == set(), timeout_s=40), lab.group()


@pytest.mark.slow
def test_fresh_clone_runs_with_nothing_but_what_the_runtime_lock_installs(
    tmp_path: Path, repository: Path
) -> None:
    """The environment of the tests holds more, which hides what is missing."""
    clone = tmp_path / "clone"
    clone_it = ["git", "clone", "--quiet", str(repository), str(clone)]
    subprocess.run(clone_it, check=True)
    make = ("make", "run", f"PYTHON={sys.executable}")
    lab = start(tmp_path, clone, free_port(), command=make, timeout_s=600)
    try:
        assert "ready:" in lab.text(), lab.text()
        assert wait_until(lambda: lab.worker_ready("default"), timeout_s=60)
    finally:
        for pid in lab.group():
            if "panel.supervisor" in command_of(pid):
                os.kill(pid, signal.SIGINT)
        lab.process.wait(timeout=60)
    assert wait_until(lambda: lab.group() == set(), timeout_s=20)


def command_of(pid: int) -> str:
    """Return the arguments of a process, or nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return ""
