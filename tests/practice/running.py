"""Running: a practice server as a process of its own, with its output read as it comes."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAM = Path(__file__).resolve().parents[2] / "practice" / "vllm"
DEADLINE_S = 20.0
_ADDRESS = re.compile(rb"Starting vLLM server on http://[^\s]*:(\d+)")


def command(*arguments: str) -> list[str]:
    """Return the command line; the program has no extension and needs the interpreter."""
    return [sys.executable, str(PROGRAM), *arguments]


def run(
    *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the program to its end."""
    return subprocess.run(
        command(*arguments),
        env=_environment(env),
        capture_output=True,
        check=False,
        timeout=DEADLINE_S,
    )


def _environment(env: dict[str, str] | None) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PRACTICE_READY_AFTER": "0.1", **(env or {})}


class Running:
    """One server; ``output`` is both streams as they arrived."""

    def __init__(self, *arguments: str, **env: str) -> None:
        self._process = subprocess.Popen(
            command("serve", "/models/target", "--port", "0", *arguments),
            env=_environment(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._chunks: list[bytes] = []
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()

    def _collect(self) -> None:
        stream = self._process.stdout
        while stream is not None and (chunk := stream.read1(65536)):  # type: ignore[attr-defined]
            self._chunks.append(chunk)

    def __enter__(self) -> "Running":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def output(self) -> bytes:
        """Everything written so far."""
        return b"".join(self._chunks)

    def wait_for(self, condition: Callable[[bytes], object]) -> bytes:
        """Wait until the output fulfils a condition, and return it."""
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            output = self.output
            if condition(output):
                return output
            time.sleep(0.02)
        raise AssertionError(f"not in time; the output ends: {self.output[-2000:]!r}")

    def ready(self) -> "Running":
        """Wait until the server listens."""
        self.wait_for(lambda output: b"Application startup complete." in output)
        return self

    @property
    def address(self) -> str:
        """Where the server listens."""
        match = _ADDRESS.search(self.wait_for(_ADDRESS.search))
        if match is None:
            raise AssertionError("no address was printed")
        return f"http://127.0.0.1:{match[1].decode()}"

    def get(self, path: str) -> tuple[int, str]:
        """Return status and body of a GET request."""
        return _open(urllib.request.Request(self.address + path))  # noqa: S310

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        """Return status and body of a POST request with JSON."""
        data = json.dumps(body).encode()
        return _open(urllib.request.Request(self.address + path, data=data))  # noqa: S310

    def terminate(self) -> tuple[int, float]:
        """Send SIGTERM; return the exit code and the seconds until it ended."""
        start = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        return self.exit_code(), time.monotonic() - start

    def exit_code(self) -> int:
        """Wait for the end."""
        code = self._process.wait(DEADLINE_S)
        self._thread.join()
        return code

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None


def _open(request: urllib.request.Request) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:  # noqa: S310
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def speculation(method: str, count: int, **more: str) -> tuple[str, str]:
    """Return the flag and its JSON value."""
    config = {"method": method, "num_speculative_tokens": count, **more}
    return "--speculative-config", json.dumps(config)
