"""A whole panel as ``make run`` starts it, in a folder of its own, for browser tests."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
PASSWORD = re.compile(r"one-time password (\S+)")
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 40.0


def free_port() -> int:
    """A port of the loopback address that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class RunningPanel:
    """Supervisor, Redis, web, worker and beat, with the Docker Engine of ``DOCKER_HOST``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = free_port()
        self.output: list[str] = []
        self.password = ""
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if key not in {"DATABASE_URL", "REDIS_URL", "DEBUG", "SECRET_KEY"}
        } | {"LAB_DIRECTORY": str(directory), "PORT": str(self.port)}
        self._child: subprocess.Popen[str] | None = None
        self._listener: threading.Thread | None = None
        self._ready = threading.Event()

    def start(self) -> None:
        """Start, and wait until it says that it is ready."""
        self._ready.clear()
        self._child = subprocess.Popen(
            [sys.executable, "-m", "panel.supervisor"],
            cwd=TOP,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        if not self._ready.wait(START_TIMEOUT_S):
            said = "".join(self.output)
            self.stop()
            raise AssertionError(f"The panel did not start. It said:\n{said}")

    def _listen(self) -> None:
        child = self._child
        if child is None or child.stdout is None:
            return
        with child.stdout as said:
            for line in said:
                self.output.append(line)
                if found := PASSWORD.search(line):
                    self.password = found.group(1)
                if "Ctrl-C" in line:
                    self._ready.set()

    def stop(self) -> int:
        """Press Ctrl-C, wait for the end, and return the exit status."""
        child = self._child
        if child is None:
            return 0
        child.send_signal(signal.SIGINT)
        try:
            return child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        finally:
            if self._listener is not None:
                self._listener.join(STOP_TIMEOUT_S)

    def manage(self, *arguments: str) -> str:
        """Run a management command in this lab and return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=TOP,
            env=self.environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise AssertionError(f"{arguments} failed:\n{done.stderr}")
        return done.stdout

    def kill_worker(self) -> None:
        """Kill -9 the Celery worker and its children, as a machine without memory would."""
        marker = f"LAB_DIRECTORY={self.directory}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                command = (entry / "cmdline").read_bytes()
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if marker in environment and b"celery" in command and b"worker" in command:
                os.kill(int(entry.name), signal.SIGKILL)


def wait_for(what: str, check: Callable[[], object], timeout_s: float = 60.0) -> None:
    """Poll until the check is true.

    Raises:
        AssertionError: it was not within the time, in seconds.
    """
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if check():
            return
        time.sleep(0.25)
    raise AssertionError(f"{what} did not happen within {timeout_s:.0f} seconds")
