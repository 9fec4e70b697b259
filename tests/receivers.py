"""Receivers of notices for tests: an HTTP server and a mail server, real ones, on the loopback address."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWERS = {b"QUIT": "221 bye"}


@dataclass(slots=True)
class Post:
    """One request that came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class HttpReceiver:
    """Answers each POST with the next of ``answers``, the last one for ever; (status, Location), with ``said`` as body."""

    port: int = 0
    answers: list[tuple[int, str]] = field(default_factory=lambda: [(200, "")])
    said: bytes = b""
    posts: list[Post] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}/notices"


@contextmanager
def http_receiver() -> Iterator[HttpReceiver]:
    """An HTTP server until the end of the block."""
    receiver = HttpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.posts.append(Post(self.path, dict(self.headers), body))
            known = receiver.answers
            status, place = known.pop(0) if len(known) > 1 else known[0]
            self.send_response(status)
            if place:
                self.send_header("Location", place)
            self.send_header("Content-Length", str(len(receiver.said)))
            self.end_headers()
            self.wfile.write(receiver.said)

        def log_message(self, *_words: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.port = server.server_address[1]
        with _served(server):
            yield receiver


@dataclass(slots=True)
class MailReceiver:
    """Keeps every mail; refuses all where ``refuses`` is set."""

    port: int = 0
    refuses: bool = False
    mails: list[EmailMessage] = field(default_factory=list)


@contextmanager
def mail_receiver() -> Iterator[MailReceiver]:
    """A mail server that speaks as much SMTP as one sender needs."""
    receiver = MailReceiver()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 sink")
            while line := self.rfile.readline():
                word = line.strip().upper()[:4]
                if word == b"DATA":
                    self._say("354 go on")
                    self._take()
                    continue
                refused = word == b"MAIL" and receiver.refuses
                self._say("550 refused" if refused else ANSWERS.get(word, "250 sink"))

        def _take(self) -> None:
            lines = []
            while (line := self.rfile.readline()) not in {b".\r\n", b""}:
                lines.append(line)
            mail = message_from_bytes(b"".join(lines), policy=policy.default)
            assert isinstance(mail, EmailMessage)
            receiver.mails.append(mail)
            self._say("250 kept")

        def _say(self, words: str) -> None:
            self.wfile.write(f"{words}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        receiver.port = server.server_address[1]
        with _served(server):
            yield receiver


@contextmanager
def _served(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
