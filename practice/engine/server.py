"""Server: the HTTP side of the practice engine."""

import hmac
import json
import os
import socket
import socketserver
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from practice.engine.answers import (
    DEFAULT_CHAT_TOKENS,
    DEFAULT_COMPLETION_TOKENS,
    LAST_EVENT,
    Answer,
    BadRequestError,
    event,
    pieces,
    wanted_tokens,
)
from practice.engine.arguments import VERSION, ServeArguments
from practice.engine.exposition import exposition
from practice.engine.modes import Modes
from practice.engine.output import Output
from practice.engine.state import ServerState

LARGEST_BODY_BYTES = 8 * 1024 * 1024


class Server(ThreadingHTTPServer):
    """Binds at once, listens when the engine is ready: until then connections are refused."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, arguments: ServeArguments, modes: Modes, output: Output) -> None:
        host = arguments.text("host") or ""
        if ":" in host:
            self.address_family = socket.AF_INET6
        port = arguments.integer("port", 8000)
        super().__init__((host, port), Handler, bind_and_activate=False)
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = host or "0.0.0.0", self.server_address[1]  # noqa: S104
        self.arguments = arguments
        self.modes = modes
        self.output = output
        self.state: ServerState | None = None
        self.ready_at = 0.0
        self.api_key = os.environ.get("VLLM_API_KEY") or ""

    @property
    def address(self) -> str:
        """``host:port`` as vLLM prints it."""
        name = f"[{self.server_name}]" if ":" in self.server_name else self.server_name
        return f"{name}:{self.server_port}"

    def open(self, state: ServerState) -> None:
        """Start to listen."""
        self.state = state
        self.ready_at = time.monotonic()
        self.server_activate()

    @property
    def healthy(self) -> bool:
        """What ``/health`` says now, given the mode."""
        up_for = time.monotonic() - self.ready_at
        if self.modes.unhealthy_toggle_s is not None:
            return int(up_for / self.modes.unhealthy_toggle_s) % 2 == 0
        after = self.modes.unhealthy_after_s
        return after is None or up_for < after

    @property
    def names(self) -> tuple[str, ...]:
        """The model names that this server answers to."""
        wrong = self.modes.wrong_model
        return (wrong,) if wrong else self.arguments.served_names

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent when a client goes away in the middle of an answer."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "uvicorn"
    sys_version = ""
    timeout = 60
    routes: ClassVar[dict[str, str]] = {
        "GET /health": "health",
        "GET /ping": "health",
        "GET /v1/models": "models",
        "GET /version": "version",
        "GET /metrics": "metrics",
        "POST /v1/completions": "completion",
        "POST /v1/chat/completions": "chat",
    }

    def do_GET(self) -> None:
        """Answer a GET request."""
        self._dispatch()

    def do_POST(self) -> None:
        """Answer a POST request."""
        self._dispatch()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Drop the standard library's own lines; ``log_request`` writes uvicorn's."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002
        """Write an access line in uvicorn's shape, on standard output as recorded."""
        if self.server.arguments.given.get("disable_uvicorn_access_log"):
            return
        status = HTTPStatus(int(code))
        host, port = self.client_address[:2]
        self.server.output.out(
            f'INFO:     {host}:{port} - "{self.requestline}" {status.value} {status.phrase}'
        )

    def health(self) -> None:
        """Answer 200 or, when the mode says so, 503; always without a body."""
        healthy = self.server.healthy
        self._send(
            HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE, b"", None
        )

    def version(self) -> None:
        """Answer the version that the recordings are from."""
        self._json(HTTPStatus.OK, {"version": VERSION})

    def models(self) -> None:
        """Answer the served names."""
        data: list[dict[str, object]] = [
            {
                "id": name,
                "object": "model",
                "created": int(time.time()),
                "owned_by": "vllm",
                "root": self.server.arguments.model,
                "parent": None,
                "max_model_len": self.server.arguments.max_model_len,
                "permission": [],
            }
            for name in self.server.names
        ]
        self._json(HTTPStatus.OK, {"object": "list", "data": data})

    def metrics(self) -> None:
        """Answer the Prometheus text."""
        state = self._state()
        with_stats = not self.server.arguments.given.get("disable_log_stats")
        text = exposition(state, self.server.names[0], with_stats=with_stats)
        kind = "text/plain; version=1.0.0; charset=utf-8"
        self._send(HTTPStatus.OK, text.encode(), kind)

    def completion(self) -> None:
        """Answer ``/v1/completions``."""
        body = self._body()
        words = wanted_tokens(body, DEFAULT_COMPLETION_TOKENS)
        prompt = len(str(body.get("prompt") or "").split())
        self._answer(body, prompt, words, chat=False)

    def chat(self) -> None:
        """Answer ``/v1/chat/completions``."""
        body = self._body()
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadRequestError(
                HTTPStatus.BAD_REQUEST, "BadRequestError", "messages: Field required"
            )
        prompt = sum(len(str(message).split()) for message in messages)
        self._answer(body, prompt, wanted_tokens(body, DEFAULT_CHAT_TOKENS), chat=True)

    def unknown(self) -> None:
        """Refuse a path that is not served."""
        raise BadRequestError(HTTPStatus.NOT_FOUND, "NotFoundError", "Not Found")

    def _dispatch(self) -> None:
        path = self.path.partition("?")[0]
        name = self.routes.get(f"{self.command} {path}", "unknown")
        if path.startswith("/v1") and not self._has_key():
            self.close_connection = True
            self._json(HTTPStatus.UNAUTHORIZED, {"error": "Unauthorized"})
            return
        try:
            getattr(self, name)()
        except BadRequestError as error:
            self._json(
                error.status,
                {
                    "error": {
                        "message": str(error),
                        "type": error.kind,
                        "param": None,
                        "code": error.status.value,
                    }
                },
            )

    def _has_key(self) -> bool:
        """Whether the request carries VLLM_API_KEY, where that is set; as vLLM 0.32.0 asks for it."""
        wanted = self.server.api_key
        given = str(self.headers.get("Authorization") or "")
        return not wanted or hmac.compare_digest(
            given.encode(), f"Bearer {wanted}".encode()
        )

    def _state(self) -> ServerState:
        if self.server.state is None:
            raise BadRequestError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                "Engine is starting",
            )
        return self.server.state

    def _body(self) -> dict[str, object]:
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= LARGEST_BODY_BYTES:
            self.close_connection = True
            raise BadRequestError(
                HTTPStatus.BAD_REQUEST, "BadRequestError", "Field required: body"
            )
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise BadRequestError(
                HTTPStatus.BAD_REQUEST, "BadRequestError", "JSON decode error"
            )
        model = body.get("model")
        if model is not None and model not in self.server.names:
            raise BadRequestError(
                HTTPStatus.NOT_FOUND,
                "NotFoundError",
                f"The model `{model}` does not exist.",
            )
        return body

    def _answer(
        self, body: dict[str, object], prompt: int, tokens: int, *, chat: bool
    ) -> None:
        model = str(body.get("model") or self.server.names[0])
        answer = Answer(model, prompt, tokens, chat=chat)
        step_time_s = self.server.modes.step_time_s
        steps = self._state().generate(prompt, tokens)
        if not body.get("stream"):
            text = "".join(pieces(steps, step_time_s))
            self._json(HTTPStatus.OK, answer.whole(text))
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces(steps, step_time_s):
            self._chunk(event(answer.part(piece)))
        self._chunk(event(answer.last()))
        self._chunk(LAST_EVENT)
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _json(self, status: HTTPStatus, value: dict[str, object]) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(self, status: HTTPStatus, data: bytes, kind: str | None) -> None:
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
