"""The way to an engine: which addresses, how long, and what a broken way is called."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deployments.docker_api.client import NO_CREDENTIALS, Engine, open_engine
from deployments.docker_api.engine import engine_facts
from deployments.docker_api.errors import (
    AddressRefusedError,
    DockerApiError,
    EngineTimeoutError,
    EngineUnreachableError,
)

VERSION = (
    b'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"ApiVersion":"1.41"}'
)
Answer = Callable[[socket.socket], None]


@contextmanager
def fake_engine(path: Path, *answers: Answer) -> Iterator[str]:
    """A socket that gives one prepared answer per connection."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            for answer in answers:
                connection, _address = server.accept()
                with connection:
                    connection.recv(65536)
                    answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"unix://{path}"
        thread.join(5)


def say(data: bytes) -> Answer:
    return lambda connection: connection.sendall(data)


@pytest.mark.parametrize(
    "address",
    [
        "tcp://127.0.0.1:2376",
        "tcp://127.1:2376",
        "tcp://2130706433:2376",
        "tcp://[::ffff:127.0.0.1]:2376",
        "tcp://169.254.169.254:80",
        "tcp://100.100.100.200:80",
        "tcp://[fe80::1]:2376",
        "tcp://0.0.0.0:2376",
        "ssh://root@127.0.0.1",
        "ssh://-oProxyCommand=id@gpu-1",
        "ssh://root@gpu-1;id",
        "ssh://root@-gpu-1",
        "http://gpu-1:2375",
        "unix://relative.sock",
        "unix:///var/../etc/x",
        "/var/run/docker.sock",
        "",
    ],
)
def test_addresses_that_the_panel_never_opens(address: str) -> None:
    with pytest.raises(AddressRefusedError), open_engine(address):
        pass


def test_a_socket_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(EngineUnreachableError, match="Start Docker") as caught,
        open_engine(f"unix://{tmp_path}/none.sock", host="gpu-1"),
    ):
        pass
    assert caught.value.retryable
    assert not caught.value.outcome_unknown
    assert "gpu-1" in str(caught.value)


def test_an_engine_that_hangs_is_given_up_in_time(tmp_path: Path) -> None:
    released = threading.Event()

    def hang(_connection: socket.socket) -> None:
        released.wait(5)

    with fake_engine(tmp_path / "s", hang) as address:
        with (
            pytest.raises(EngineTimeoutError) as caught,
            open_engine(address, timeout_s=1),
        ):
            pass
        released.set()
    assert caught.value.outcome_unknown


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{",
        b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"Id"',
    ],
)
def test_an_answer_that_breaks_off_leaves_the_outcome_unknown(
    tmp_path: Path, answer: bytes
) -> None:
    with (
        fake_engine(tmp_path / "s", say(VERSION), say(answer)) as address,
        open_engine(address, timeout_s=2) as engine,
        pytest.raises(EngineUnreachableError) as caught,
    ):
        engine.call("POST", "/containers/create", act="create")
    assert caught.value.outcome_unknown
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("status", "message", "code", "retryable"),
    [
        (500, "port is already allocated", "port_taken", False),
        (500, "listen tcp4 0.0.0.0:80: bind: address already in use", "port_taken", False),
        (500, "write /x: no space left on device", "disk_full", False),
        (500, 'could not select device driver "nvidia" with capabilities: [[gpu]]',
         "device_unavailable", False),
        (500, 'error gathering device information while adding custom device "/dev/x"',
         "device_unavailable", False),
        (400, "unknown or invalid runtime name: nvidia", "device_unavailable", False),
        (400, 'invalid mount config for type "bind": bind source path does not exist: /x',
         "mount_missing", False),
        (409, "Conflict. The container name \"/a\" is already in use by container \"b\".",
         "name_taken", False),
        (409, "Container b is not running", "conflict", False),
        (404, "No such image: x", "image_missing", False),
        (404, "No such container: x", "not_found", False),
        (400, "something else", "engine_refused", False),
        (503, "something else", "engine_fault", True),
    ],
)  # fmt: skip
def test_answers_of_the_engine_have_stable_codes(
    tmp_path: Path, status: int, message: str, code: str, *, retryable: bool
) -> None:
    body = b'{"message":' + repr(message).replace("'", '"').encode() + b"}"
    if '"' in message:
        body = b'{"message":"' + message.replace('"', '\\"').encode() + b'"}'
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with (
        fake_engine(tmp_path / "s", say(VERSION), say(head + body)) as address,
        open_engine(address, host="gpu-1") as engine,
        pytest.raises(DockerApiError) as caught,
    ):
        engine.call("POST", "/containers/x/start", act="start it")
    assert (caught.value.code, caught.value.retryable) == (code, retryable)
    assert not caught.value.outcome_unknown
    assert message.split(":", maxsplit=1)[0] in str(caught.value)


@pytest.mark.docker
def test_nothing_is_taken_from_the_environment(
    docker_host: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker/config.json").write_text('{"auths":{"x":{"auth":"YTpi"}}}')
    with open_engine(docker_host) as engine:
        assert engine_facts(engine).engine_id
        assert not engine.api.trust_env
    assert os.environ["DOCKER_CONFIG"] == str(NO_CREDENTIALS)


@pytest.mark.docker
def test_facts_of_the_engine(engine: Engine) -> None:
    facts = engine_facts(engine)
    assert facts.architecture in {"amd64", "arm64"}
    assert "runc" in facts.runtimes
    assert facts.system_time is not None
