"""A proxy before a Docker Engine that forwards requests and treats the answers badly."""

import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

DELAY_S = 3.0
CUT_AFTER_BYTES = 40


class LossyProxy:
    """Forwards to an engine, and drops the first answer to each of some requests."""

    def __init__(self, engine_socket: str, path: Path, *lose: bytes) -> None:
        self.address = f"unix://{path}"
        self.lost: list[bytes] = []
        self._to_lose = list(lose)
        self._engine_socket = engine_socket
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self, *requests: bytes) -> None:
        """Drop the answer to each of these too."""
        self._to_lose += requests

    def close(self) -> None:
        """Take no more connections."""
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _address = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as engine:
            engine.connect(self._engine_socket)
            back = threading.Thread(
                target=self._pump, args=(engine, client), daemon=True
            )
            back.start()
            while data := self._receive(client):
                self._seen(data)
                lose = next((part for part in self._to_lose if part in data), None)
                if lose is not None:
                    self._to_lose.remove(lose)
                    self.lost.append(lose)
                    client.shutdown(socket.SHUT_WR)
                engine.sendall(data)
                if lose is not None:
                    engine.settimeout(10)
                    time.sleep(0.5)
                    return
            engine.shutdown(socket.SHUT_WR)
            back.join(10)

    def _seen(self, request: bytes) -> None:
        """Called with what a client sends, before it is forwarded."""

    def _pump(self, engine: socket.socket, client: socket.socket) -> None:
        while data := self._receive(engine):
            try:
                client.sendall(data)
            except OSError:
                return
        with suppress(OSError):
            client.shutdown(socket.SHUT_WR)

    @staticmethod
    def _receive(source: socket.socket) -> bytes:
        try:
            return source.recv(65536)
        except OSError:
            return b""


class FaultyProxy(LossyProxy):
    """One fault at a time, for the first request that it fits; ``heal`` ends it."""

    def __init__(self, engine_socket: str, path: Path) -> None:
        super().__init__(engine_socket, path)
        self._fault, self._request = "", b""
        self._due = threading.Event()

    def plan(self, fault: str, request: bytes) -> None:
        """``drop``, ``cut`` or ``delay`` the answer to the next such request."""
        if fault == "drop":
            self._to_lose.append(request)
            return
        self._fault, self._request = fault, request

    def heal(self) -> None:
        """Treat answers well again."""
        self._to_lose.clear()
        self._fault = ""
        self._due.clear()

    def _seen(self, request: bytes) -> None:
        if self._fault and self._request in request:
            self._due.set()

    def _pump(self, engine: socket.socket, client: socket.socket) -> None:
        cut = False
        while data := self._receive(engine):
            if self._due.is_set():
                self._due.clear()
                fault, self._fault = self._fault, ""
                if fault == "delay":
                    time.sleep(DELAY_S)
                cut = fault == "cut"
            try:
                client.sendall(data[:CUT_AFTER_BYTES] if cut else data)
            except OSError:
                return
            if cut:
                break
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)
