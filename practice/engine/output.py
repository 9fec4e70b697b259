"""Output: whole lines, flushed one by one, in the shape of vLLM's logger."""

import os
import threading
import time
from typing import BinaryIO


class Output:
    """The two streams of the process; safe to use from every thread."""

    def __init__(self, stdout: BinaryIO, stderr: BinaryIO) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._lock = threading.Lock()

    def raw(self, data: bytes) -> None:
        """Write bytes to standard output as they are."""
        with self._lock:
            self._stdout.write(data)
            self._stdout.flush()

    def out(self, text: str) -> None:
        """Write one line to standard output, as vLLM's Python side does."""
        self.raw(text.encode() + b"\n")

    def err(self, text: str) -> None:
        """Write one line to standard error, as uvicorn and tracebacks do."""
        with self._lock:
            self._stderr.write(text.encode() + b"\n")
            self._stderr.flush()

    def log(self, place: str, text: str, *, level: str = "INFO") -> None:
        """Write one API server line: ``(APIServer pid=N) LEVEL MM-DD HH:MM:SS [place] text``."""
        self.out(f"{api_prefix()} {level} {log_time()} [{place}] {text}")


def api_prefix() -> str:
    """The process prefix of the API server; pid 1 in a container without an init process."""
    return f"(APIServer pid={os.getpid()})"


def log_time() -> str:
    """The time stamp of vLLM's log format: no year, no zone, no milliseconds."""
    return time.strftime("%m-%d %H:%M:%S")
