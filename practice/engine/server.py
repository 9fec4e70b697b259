"""Server: the HTTP side of the practice engine."""

import json
import socket
import socketserver
import time
import uuid
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from practice.engine.arguments import VERSION, ServeArguments
from practice.engine.exposition import exposition
from practice.engine.modes import Modes
from practice.engine.output import Output
from practice.engine.state import ServerState

CANNED = "This is practice text : no model was asked and nothing here means anything ."
LONGEST_ANSWER = 4096
LARGEST_BODY_BYTES = 8 * 1024 * 1024
DEFAULT_COMPLETION_TOKENS = 16
DEFAULT_CHAT_TOKENS = 64


class BadRequestError(Exception):
    """A request that is refused: HTTP status, vLLM's error type and the message."""

    def __init__(self, status: HTTPStatus, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


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
        words = _wanted_tokens(body, DEFAULT_COMPLETION_TOKENS)
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
        self._answer(body, prompt, _wanted_tokens(body, DEFAULT_CHAT_TOKENS), chat=True)

    def unknown(self) -> None:
        """Refuse a path that is not served."""
        raise BadRequestError(HTTPStatus.NOT_FOUND, "NotFoundError", "Not Found")

    def _dispatch(self) -> None:
        path = self.path.partition("?")[0]
        name = self.routes.get(f"{self.command} {path}", "unknown")
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
        pieces = self._pieces(prompt, tokens)
        usage = {
            "prompt_tokens": prompt,
            "total_tokens": prompt + tokens,
            "completion_tokens": tokens,
        }
        frame = {
            "id": f"{'chatcmpl' if chat else 'cmpl'}-{uuid.uuid4().hex[:16]}",
            "object": "chat.completion" if chat else "text_completion",
            "created": int(time.time()),
            "model": body.get("model") or self.server.names[0],
            "system_fingerprint": f"vllm-{VERSION}-practice",
        }
        if body.get("stream"):
            self._stream(frame, pieces, usage, chat=chat)
            return
        text = "".join(pieces)
        answer = (
            {"message": {"role": "assistant", "content": text}}
            if chat
            else {"text": text}
        )
        choice = {"index": 0, **answer, "logprobs": None, "finish_reason": "length"}
        self._json(HTTPStatus.OK, {**frame, "choices": [choice], "usage": usage})

    def _pieces(self, prompt: int, tokens: int) -> Iterator[str]:
        words, position = CANNED.split(), 0
        for emitted in self._state().generate(prompt, tokens):
            time.sleep(self.server.modes.step_time_s)
            taken = [words[(position + step) % len(words)] for step in range(emitted)]
            position += emitted
            yield "".join(f"{word} " for word in taken)

    def _stream(
        self,
        frame: dict[str, object],
        pieces: Iterator[str],
        usage: dict[str, int],
        *,
        chat: bool,
    ) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if chat:
            frame = {**frame, "object": "chat.completion.chunk"}
        for piece in pieces:
            part = {"delta": {"content": piece}} if chat else {"text": piece}
            choice = {"index": 0, **part, "finish_reason": None}
            self._event({**frame, "choices": [choice]})
        last: dict[str, object] = {"delta": {}} if chat else {"text": ""}
        choice = {"index": 0, **last, "finish_reason": "length"}
        self._event({**frame, "choices": [choice], "usage": usage})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, value: dict[str, object]) -> None:
        self._chunk(b"data: " + json.dumps(value).encode() + b"\n\n")

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


def _wanted_tokens(body: dict[str, object], default: int) -> int:
    wanted = body.get("max_completion_tokens", body.get("max_tokens"))
    if wanted is None:
        return default
    if not isinstance(wanted, int) or wanted < 1:
        raise BadRequestError(
            HTTPStatus.BAD_REQUEST,
            "BadRequestError",
            f"max_tokens must be at least 1, got {wanted}.",
        )
    return min(wanted, LONGEST_ANSWER)
