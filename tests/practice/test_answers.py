"""The HTTP side: what clients and the panel ask for."""

import json
import urllib.error
from collections.abc import Iterator

import pytest

from tests.practice.running import Running, speculation

QUIET = {"PRACTICE_TRAFFIC": "0", "PRACTICE_STEP_TIME": "0"}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with Running("--served-model-name", "glm", *speculation("mtp", 3), **QUIET) as run:
        yield run.ready()


def test_health_has_an_empty_body(server: Running) -> None:
    assert server.get("/health") == (200, "")


def test_models_names_the_served_model(server: Running) -> None:
    status, body = server.get("/v1/models")
    assert status == 200
    assert [model["id"] for model in json.loads(body)["data"]] == ["glm"]


def test_version_is_that_of_the_recordings(server: Running) -> None:
    assert json.loads(server.get("/version")[1]) == {"version": "0.32.0"}


def test_completion_says_that_it_is_practice(server: Running) -> None:
    body = {"model": "glm", "prompt": "one two", "max_tokens": 20}
    answer = json.loads(server.post("/v1/completions", body)[1])
    assert "practice" in answer["choices"][0]["text"]
    assert answer["usage"]["completion_tokens"] == 20


def test_chat_answers_as_the_assistant(server: Running) -> None:
    body = {"model": "glm", "messages": [{"role": "user", "content": "hello"}]}
    answer = json.loads(server.post("/v1/chat/completions", body)[1])
    assert answer["choices"][0]["message"]["role"] == "assistant"


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions"])
def test_streamed_answer_ends_with_done(server: Running, path: str) -> None:
    body = {"prompt": "a", "messages": ["a"], "max_tokens": 12, "stream": True}
    status, text = server.post(path, body)
    events = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert status == 200
    assert events[-1] == "[DONE]"
    parts = [json.loads(event)["choices"][0] for event in events[:-1]]
    words = "".join(
        part.get("text", "") + part.get("delta", {}).get("content", "")
        for part in parts
    )
    assert len(words.split()) == 12


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/completions", {"model": "other", "prompt": "a"}, 404),
        ("/v1/completions", {"prompt": "a", "max_tokens": 0}, 400),
        ("/v1/chat/completions", {"model": "glm"}, 400),
        ("/v1/nothing", {}, 404),
    ],
)
def test_bad_requests_are_refused_as_json(
    server: Running, path: str, body: dict[str, object], status: int
) -> None:
    got, text = server.post(path, body)
    assert got == status
    assert json.loads(text)["error"]["code"] == status


def test_nothing_listens_before_it_is_ready() -> None:
    with Running(PRACTICE_READY_AFTER="2") as server:
        server.wait_for(lambda output: b"Starting to load model" in output)
        assert b"Starting vLLM server" not in server.output
        server.ready()
        assert server.get("/health")[0] == 200


def test_stopped_server_refuses_connections() -> None:
    with Running(**QUIET) as server:
        server.ready()
        address = server.address
        assert server.terminate()[0] == 0
        with pytest.raises(urllib.error.URLError):
            server.get("/health")
        assert address


def test_with_a_key_only_health_and_metrics_answer_everybody() -> None:
    with Running("--served-model-name", "glm", VLLM_API_KEY="k-1", **QUIET) as run:
        run.ready()
        assert run.get("/health")[0] == 200
        assert run.get("/metrics")[0] == 200
        assert run.get("/v1/models")[0] == 401
        assert run.post("/v1/completions", {"prompt": "a"})[0] == 401
