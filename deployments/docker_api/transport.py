"""Plain HTTP/1.0 over a connection to the engine, for answers that are read while they arrive.

HTTP/1.0 has no chunk framing, which the engine would put around every single log line; reading a log
this way takes a tenth of the processor time of the SDK (measured with Docker Engine 20.10).
"""

import io
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import cast

from deployments.docker_api.dialing import Dial
from deployments.docker_api.errors import EngineUnreachableError
from deployments.docker_api.translation import from_answer, message_of, translated
from deployments.docker_api.way_errors import NotHttpError
from deployments.planning.text import Text, text

READ_SIZE = 256 * 1024
LONGEST_ANSWER = 4 * 1024 * 1024
LONG_BYTES = 64 * 1024
GATHER_BYTES = 24 * 1024
SHORTEST_S, LONGEST_S = 0.00025, 0.002
"""The engine sends every log line by itself: of a long answer some are let gather before each read.

A local socket holds some 50 kB, and what does not fit waits: so much is let gather as fills half
of it, however fast the engine writes.
"""


class _Arriving(io.RawIOBase):
    """What arrives on a connection, as a file; of a long answer it takes large pieces."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection
        self._taken = 0
        self._last = GATHER_BYTES
        self._pause_s = SHORTEST_S

    def readable(self) -> bool:
        """It is only read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Wait for the next piece, at most as long as the connection does."""
        if self._taken > LONG_BYTES and self._last < GATHER_BYTES:
            time.sleep(self._pause_s)
        self._last = self._connection.recv_into(buffer)
        pause_s = self._pause_s * (2 if self._last < GATHER_BYTES else 0.5)
        self._pause_s = min(LONGEST_S, max(SHORTEST_S, pause_s))
        self._taken += self._last
        return self._last


@contextmanager
def get(
    host: str, dial: Dial, path: str, *, act: Text | str, timeout_s: float
) -> Iterator[io.BufferedReader]:
    """Send a GET and yield the body as a file; each read waits ``timeout_s`` at most.

    Raises:
        DockerApiError: no connection, no answer in time, or an answer with an error status.
    """
    with translated(host, act), dial(timeout_s) as connection:
        connection.settimeout(timeout_s)
        request = f"GET {path} HTTP/1.0\r\nHost: docker\r\n\r\n"
        with suppress(OSError):  # why the other side closed is what is read next
            connection.sendall(request.encode("ascii"))
        with io.BufferedReader(_Arriving(connection), READ_SIZE) as opened:
            answer = cast("io.BufferedReader", opened)
            status = _status(host, act, answer)
            if status != HTTPStatus.OK:
                raise from_answer(
                    host, act, status, message_of(answer.read(LONGEST_ANSWER))
                )
            yield answer


def _status(host: str, act: Text | str, answer: io.BufferedReader) -> int:
    """Read the head of the answer and return its status."""
    first = answer.readline(1024).split()
    if first and not first[0].startswith(b"HTTP/1."):
        raise NotHttpError(
            text(
                "What answers as {host} does not speak HTTP: correct its address.",
                host=host,
            )
        )
    if len(first) < 2 or not first[1].isdigit():
        raise EngineUnreachableError(
            text(
                "The Docker Engine of {host} broke the connection when asked to {act}.",
                host=host,
                act=act,
            ),
            outcome_unknown=True,
        )
    while answer.readline(64 * 1024) not in {b"\r\n", b"\n", b""}:
        pass
    return int(first[1])
