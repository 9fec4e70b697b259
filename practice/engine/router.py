"""Router: what stands in front of prefill and decode; a small stand-in for vllm-router 0.1.16.

Each completion goes to prefill with one token first, then to decode, whose answer the client gets.
It takes the flags that a plan gives vllm-router, and passes the client's key on.
"""

import argparse
import itertools
import json
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO

LARGEST_BODY_BYTES = 8 * 1024 * 1024
PIECE = 16 * 1024
TIMEOUT_S = 60
COMPLETIONS = frozenset({"/v1/completions", "/v1/chat/completions"})


class Router(ThreadingHTTPServer):
    """Takes the next of each side for each request."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self, address: tuple[str, int], prefill: Sequence[str], decode: Sequence[str]
    ) -> None:
        super().__init__(address, Handler)
        self.prefill, self.decode = itertools.cycle(prefill), itertools.cycle(decode)

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent when a client goes away in the middle of an answer."""


class Handler(BaseHTTPRequestHandler):
    """One request of a client; each answer ends its connection."""

    server: Router
    timeout = TIMEOUT_S

    def do_GET(self) -> None:
        """Answer for health here, and hand the rest to decode."""
        if self.path == "/health":
            self._send(HTTPStatus.OK, b"", "text/plain")
        elif self.path == "/metrics":
            # Those of an engine would be taken for those of all: vllm-router hands none on.
            self._send(HTTPStatus.NOT_FOUND, b"", "text/plain")
        else:
            self._relay("GET", next(self.server.decode), None)

    def do_POST(self) -> None:
        """Have prefill read the prompt, then hand the request to decode."""
        length = int(self.headers.get("Content-Length") or 0)
        if self.path not in COMPLETIONS or not 0 < length <= LARGEST_BODY_BYTES:
            self._send(HTTPStatus.NOT_FOUND, b"", "text/plain")
            return
        body = self.rfile.read(length)
        try:
            asked = json.loads(body)
            first = {**asked, "max_tokens": 1, "stream": False}
        except (TypeError, ValueError):
            self._send(HTTPStatus.BAD_REQUEST, b"", "text/plain")
            return
        try:
            with self._open(
                "POST", next(self.server.prefill), json.dumps(first).encode()
            ) as answer:
                answer.read()
        except urllib.error.HTTPError as error:
            self._send(error.code, error.read(), "application/json")
            return
        except OSError as error:
            self._send(HTTPStatus.BAD_GATEWAY, str(error).encode(), "text/plain")
            return
        self._relay("POST", next(self.server.decode), body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say one line for each request, as a router does."""
        sys.stdout.write(f"INFO vllm_router: {format % args}\n")
        sys.stdout.flush()

    def _open(self, method: str, backend: str, body: bytes | None) -> IO[bytes]:
        headers = {"Content-Type": "application/json"}
        key = self.headers.get("Authorization")
        if key:
            headers["Authorization"] = key
        request = urllib.request.Request(  # noqa: S310 - the plan's own addresses
            backend + self.path, data=body, headers=headers, method=method
        )
        opened: IO[bytes] = urllib.request.urlopen(request, timeout=TIMEOUT_S)  # noqa: S310
        return opened

    def _relay(self, method: str, backend: str, body: bytes | None) -> None:
        try:
            with self._open(method, backend, body) as answer:
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", answer.headers["Content-Type"])  # type: ignore[attr-defined]
                self.end_headers()
                while piece := answer.read1(PIECE):  # type: ignore[attr-defined]
                    self.wfile.write(piece)
                    self.wfile.flush()
        except urllib.error.HTTPError as error:
            self._send(error.code, error.read(), "application/json")
        except OSError as error:
            self._send(HTTPStatus.BAD_GATEWAY, str(error).encode(), "text/plain")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main(argv: Sequence[str]) -> int:
    """Serve until a signal ends the process."""
    parser = argparse.ArgumentParser(prog="vllm-router")
    parser.add_argument("--policy", default="round_robin", choices=["round_robin"])
    parser.add_argument("--vllm-pd-disaggregation", action="store_true", required=True)
    parser.add_argument("--kv-connector", default="nixl")
    parser.add_argument("--prefill", action="append", required=True)
    parser.add_argument("--decode", action="append", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=30000)
    given = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, lambda _number, _frame: os._exit(0))
    router = Router((given.host, given.port), given.prefill, given.decode)
    sys.stdout.write(f"INFO vllm_router: listening on {given.host}:{given.port}\n")
    sys.stdout.flush()
    router.serve_forever()
    return 0
