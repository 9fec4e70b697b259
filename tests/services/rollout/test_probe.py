"""What a replica answers over HTTP is bounded, and every odd answer is one clear sentence."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from deployments.services.rollout import probe
from deployments.services.rollout.probe import (
    Endpoint,
    ProbeError,
    complete,
    is_healthy,
    served_models,
)

Answers = dict[str, tuple[int, bytes]]


@pytest.fixture
def answers() -> Answers:
    return {}


@pytest.fixture
def endpoint(answers: Answers) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.get(self.path, (404, b""))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - name of the base class

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Endpoint("127.0.0.1", server.server_address[1])
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "healthy"), [(200, True), (503, False), (302, False)]
)
def test_only_200_is_healthy(
    endpoint: Endpoint, answers: Answers, status: int, *, healthy: bool
) -> None:
    answers["/health"] = (status, b"")
    answers["/elsewhere"] = (200, b"")
    assert is_healthy(endpoint) is healthy


def test_router_is_healthy_by_its_own_path(
    endpoint: Endpoint, answers: Answers
) -> None:
    answers["/healthcheck"] = (200, b"")
    assert not is_healthy(endpoint)
    assert is_healthy(replace(endpoint, health_path="/healthcheck"))


def test_nobody_there_is_not_healthy() -> None:
    assert not is_healthy(Endpoint("127.0.0.1", 1))


def test_models_are_listed(endpoint: Endpoint, answers: Answers) -> None:
    answers["/v1/models"] = (200, json.dumps({"data": [{"id": "chat"}]}).encode())
    assert served_models(endpoint) == ("chat",)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"EngineCore encountered an issue", "answered 500: EngineCore"),
        (200, b"<html>", "no JSON"),
        (200, b"[" * 100_000, "no JSON"),
        (200, b"[]", "no JSON object"),
        (200, b'{"data": 1}', "without a list"),
    ],
)
def test_odd_model_lists_are_named(
    endpoint: Endpoint, answers: Answers, status: int, body: bytes, words: str
) -> None:
    answers["/v1/models"] = (status, body)
    with pytest.raises(ProbeError, match=words):
        served_models(endpoint)


def test_a_completion_is_text(endpoint: Endpoint, answers: Answers) -> None:
    answers["/v1/completions"] = (200, b'{"choices": [{"text": " 5"}]}')
    assert complete(endpoint, "chat") == " 5"


@pytest.mark.parametrize("body", [b"{}", b'{"choices": []}', b'{"choices": [{}]}'])
def test_an_answer_without_a_completion_is_named(
    endpoint: Endpoint, answers: Answers, body: bytes
) -> None:
    answers["/v1/completions"] = (200, body)
    with pytest.raises(ProbeError, match="without a completion"):
        complete(endpoint, "chat")


def test_a_body_without_end_is_cut(
    endpoint: Endpoint, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "LONGEST_BODY", 10)
    answers["/v1/models"] = (200, json.dumps({"data": [{"id": "x" * 50}]}).encode())
    with pytest.raises(ProbeError, match="no JSON"):
        served_models(endpoint)
