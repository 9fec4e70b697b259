"""Child processes that never outlive their parent, each in a process group of its own."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Child", "LabError", "die_with", "free_port", "port_is_free", "wait_until"]

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class LabError(Exception):
    """Why the lab cannot start or go on, as one sentence that says how to mend it."""


@dataclass(kw_only=True)
class Child:
    """A process to start, with its log file and how long it may take to stop.

    To stop it, the process gets ``signals`` one after the other, each ``patience_s``
    seconds after the last, until it has ended; then its whole group gets SIGKILL.
    """

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    patience_s: float = 10.0
    signals: tuple[signal.Signals, ...] = (signal.SIGTERM,)
    user: str | None = None
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; must be called by the main thread, or it dies with its thread.

        Raises:
            LabError: the program cannot be executed.
        """
        with self.log.open("ab") as log:
            try:
                self.process = subprocess.Popen(
                    list(self.command),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=dict(self.environment),
                    start_new_session=True,
                    preexec_fn=die_with(os.getpid()),  # noqa: PLW1509
                    user=self.user,
                    group=self.user,
                    extra_groups=[] if self.user else None,
                )
            except OSError as error:
                raise LabError(
                    f"{self.name} cannot start: {self.command[0]}: {error.strerror}."
                ) from error

    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self.process is not None and self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process, which passes it on to its own children."""
        if self.process is not None:
            self.process.send_signal(number)

    def stop(self) -> None:
        """End the whole group, gently first; returns when nothing of it is left."""
        process = self.process
        if process is None:
            return
        for number in self.signals:
            if process.poll() is None:
                self.send(number)
                _wait(process, self.patience_s)
        _kill_group(process.pid)
        process.wait()
        self.process = None

    def last_words(self, lines: int = 8) -> str:
        """Return the end of its log, indented, for an error message."""
        try:
            text = self.log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])


def wait_until(
    condition: Callable[[], bool], *, timeout_s: float, interval_s: float = 0.05
) -> bool:
    """Return whether the condition came true in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(interval_s)
    return True


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a loopback port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return


def _kill_group(leader: int) -> None:
    # macOS answers "not permitted" for a group of which only zombies are left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def die_with(parent: int) -> Callable[[], None] | None:
    """Return what makes Linux end a new child when its parent is killed.

    For ``preexec_fn``; None on other systems, which cannot promise that.
    """
    libc = _LIBC
    if libc is None:
        return None

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before we could ask
            os._exit(1)

    return ask
