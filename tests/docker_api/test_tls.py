"""Docker over TLS: a real engine with an authority of its own, and one sentence for each way it fails."""

import os
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from deployments.docker_api.client import Access, open_engine
from deployments.docker_api.containers import list_containers
from deployments.docker_api.engine import engine_facts
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.tls import TlsCredentials
from deployments.docker_api.walking import Step, walk
from panel.lab.processes import free_port
from tests.docker_api.certificates import EXPIRED, TO_COME, Authority, Issued
from tests.environment.docker_engine import PrivateEngine

LOOPBACK = ("127.0.0.0/8",)
Serve = Callable[[socket.socket], None]


@pytest.fixture(scope="module")
def ours() -> Authority:
    """The authority of the fleet."""
    return Authority("fleet")


@pytest.fixture(scope="module")
def foreign() -> Authority:
    """Somebody else's authority."""
    return Authority("elsewhere")


@pytest.fixture(scope="module")
def port(ours: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a real Docker Engine asks for certificates of our authority."""
    if os.environ.get("REQUIRE_DOCKER") != "1":
        pytest.skip("needs the right to start a Docker Engine: run `make test`.")
    folder = tmp_path_factory.mktemp("tls")
    issued = ours.server("127.0.0.1")
    for name, words in (
        ("ca", ours.pem),
        ("cert", issued.certificate),
        ("key", issued.key),
    ):
        (folder / f"{name}.pem").write_text(words, "ascii")
    chosen = free_port()
    engine = PrivateEngine(
        folder / "engine",
        options=(
            f"--host=tcp://127.0.0.1:{chosen}",
            "--tlsverify",
            f"--tlscacert={folder / 'ca.pem'}",
            f"--tlscert={folder / 'cert.pem'}",
            f"--tlskey={folder / 'key.pem'}",
        ),
    )
    engine.start()
    yield chosen
    engine.stop()


@contextmanager
def tls_server(issued: Issued, serve: Serve) -> Iterator[int]:
    """A TLS server that treats each connection as told."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with socket.create_server(("127.0.0.1", 0)) as server:
        _load(context, issued)
        thread = threading.Thread(
            target=_serve_all, args=(server, context, serve), daemon=True
        )
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def _load(context: ssl.SSLContext, issued: Issued) -> None:
    handle = os.memfd_create("test")
    os.write(handle, f"{issued.certificate}\n{issued.key}".encode())
    context.load_cert_chain(f"/proc/self/fd/{handle}")
    os.close(handle)


def _serve_all(
    server: socket.socket, context: ssl.SSLContext | None, serve: Serve
) -> None:
    while True:
        try:
            connection, _address = server.accept()
        except OSError:
            return
        try:
            with connection:
                connection.settimeout(3)
                if context is None:
                    serve(connection)
                    continue
                with context.wrap_socket(connection, server_side=True) as secure:
                    serve(secure)
        except OSError:
            continue


def answer(words: bytes) -> Serve:
    """Read the request and give this answer."""

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(words)

    return serve


def http(status: str, body: bytes) -> Serve:
    """An HTTP answer."""
    return answer(response(status, body))


def response(status: str, body: bytes) -> bytes:
    """The bytes of an HTTP answer."""
    return f"HTTP/1.0 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def failure(
    port: int, credentials: TlsCredentials | None, name: str = "127.0.0.1"
) -> tuple[str, str]:
    """The code and the sentence with which opening the engine fails."""
    access = Access(tls=credentials, allowed_networks=LOOPBACK)
    with (
        pytest.raises(DockerApiError) as caught,
        open_engine(f"tcp://{name}:{port}", host="gpu-1", access=access, timeout_s=2),
    ):
        pass
    assert not caught.value.outcome_unknown
    sentence = str(caught.value).replace(f"{port}", "PORT")
    return caught.value.code, re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "TIME", sentence)


@pytest.mark.docker
def test_a_real_engine_is_asked_over_tls(
    port: int, ours: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither CA bundles nor proxies of the environment have a say."""
    for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.setenv(variable, "/nowhere")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    access = Access(tls=ours.credentials(), allowed_networks=LOOPBACK)
    with open_engine(f"tcp://127.0.0.1:{port}", host="gpu-1", access=access) as engine:
        assert engine_facts(engine).engine_id
        assert list_containers(engine) == ()


@pytest.mark.docker
def test_the_way_to_a_real_engine_step_by_step(port: int, ours: Authority) -> None:
    access = Access(tls=ours.credentials(), allowed_networks=LOOPBACK)
    steps = list(walk(f"tcp://127.0.0.1:{port}", host="gpu-1", access=access))
    assert [one.step for one in steps] == [Step.NAME, Step.ROUTE, Step.CERTIFICATE]
    ends = steps[-1].ends
    assert ends is not None
    assert 29 <= (ends - datetime.now(UTC)).days <= 30


@pytest.mark.docker
def test_a_real_engine_of_another_authority(port: int, foreign: Authority) -> None:
    assert failure(port, foreign.credentials()) == (
        "certificate_authority",
        (
            "The certificate of gpu-1 was not issued by the authority that was entered (unable to get "
            "local issuer certificate): enter the CA that signed it. The panel trusts no other."
        ),
    )


@pytest.mark.docker
def test_a_real_engine_refuses_a_foreign_client_certificate(
    port: int, ours: Authority, foreign: Authority
) -> None:
    code, sentence = failure(port, ours.credentials(foreign.client()))
    assert code == "client_certificate"
    assert sentence.startswith("gpu-1 refuses the panel's client certificate (")
    assert "bad certificate" in sentence or "unknown ca" in sentence


@pytest.mark.docker
def test_a_real_engine_under_another_name_than_its_certificate_has(
    port: int, ours: Authority
) -> None:
    assert failure(port, ours.credentials(), "localhost") == (
        "certificate_name",
        (
            "The certificate of gpu-1 is not for localhost but for 127.0.0.1: enter one of these "
            "names, or renew it with subjectAltName localhost."
        ),
    )


def test_a_certificate_that_expired(ours: Authority) -> None:
    issued = ours.server("127.0.0.1", time=EXPIRED)
    with tls_server(issued, answer(b"")) as port:
        assert failure(port, ours.credentials()) == (
            "certificate_expired",
            (
                "The certificate of gpu-1 expired on TIME: renew it there and restart Docker. Running "
                "containers are not touched by this."
            ),
        )


def test_a_certificate_of_the_future(ours: Authority) -> None:
    issued = ours.server("127.0.0.1", time=TO_COME)
    with tls_server(issued, answer(b"")) as port:
        assert failure(port, ours.credentials()) == (
            "certificate_expired",
            (
                "The certificate of gpu-1 is only valid from TIME on: correct the clocks of the two "
                "machines, or renew it."
            ),
        )


def test_an_expired_certificate_of_a_foreign_authority_is_foreign(
    ours: Authority, foreign: Authority
) -> None:
    """The second look, which ignores the time, still trusts nobody else."""
    issued = foreign.server("127.0.0.1", time=EXPIRED)
    with tls_server(issued, answer(b"")) as port:
        assert failure(port, ours.credentials())[0] == "certificate_authority"


def test_our_own_certificate_that_expired(ours: Authority) -> None:
    client = ours.client(time=EXPIRED)
    assert failure(free_port(), ours.credentials(client)) == (
        "client_certificate",
        "The panel's client certificate for gpu-1 expired on TIME: enter a new one.",
    )


def test_no_certificates_at_all() -> None:
    assert failure(free_port(), None) == (
        "credentials_missing",
        (
            "The panel has no certificates for gpu-1: enter the authority, the client certificate "
            "and its key."
        ),
    )


def test_a_key_of_another_certificate(ours: Authority) -> None:
    mixed = Issued(certificate=ours.client().certificate, key=ours.client().key)
    assert failure(free_port(), ours.credentials(mixed))[0] == "credentials_missing"


def test_nothing_listens(ours: Authority) -> None:
    assert failure(free_port(), ours.credentials()) == (
        "connection_refused",
        (
            "gpu-1 refuses the connection to 127.0.0.1 port PORT: nothing listens there. Start Docker "
            "with that port, or correct the port."
        ),
    )


def test_a_name_that_nobody_knows(ours: Authority) -> None:
    assert failure(2376, ours.credentials(), "gpu-1.invalid") == (
        "name_unknown",
        (
            "The panel's resolver does not know the name gpu-1.invalid: correct the address of gpu-1, "
            "or add the name to DNS."
        ),
    )


def test_plain_http(ours: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(
            target=_serve_all,
            args=(server, None, answer(b"HTTP/1.0 400 Bad Request\r\n\r\n")),
            daemon=True,
        )
        thread.start()
        assert failure(server.getsockname()[1], ours.credentials()) == (
            "no_tls",
            (
                "Port PORT of gpu-1 answers without TLS, and the panel does not speak to Docker in "
                "plain text: start dockerd with --tlsverify, or correct the port."
            ),
        )
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_something_that_takes_the_connection_and_says_nothing(ours: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert failure(server.getsockname()[1], ours.credentials()) == (
            "timeout",
            (
                "gpu-1 took the connection and then said nothing: what listens on port PORT may not "
                "speak TLS, or Docker hangs."
            ),
        )


@pytest.mark.parametrize(
    "serve",
    [
        http("404 Not Found", b"<html>"),
        http("200 OK", b'{"name": "registry"}'),
        http("200 OK", b'{"ApiVersion": "yes"}'),
        http("200 OK", b"<html>hello</html>"),
        answer(b"SSH-2.0-none\r\n"),
    ],
)
def test_another_service_behind_the_right_certificate(
    ours: Authority, serve: Serve
) -> None:
    with tls_server(ours.server("127.0.0.1"), serve) as port:
        assert failure(port, ours.credentials()) == (
            "not_docker",
            (
                "What answers at tcp://127.0.0.1:PORT is no Docker Engine: correct the address or the "
                "port of gpu-1."
            ),
        )


def test_an_engine_that_is_too_old(ours: Authority) -> None:
    old = http("200 OK", b'{"ApiVersion": "1.39"}')
    with tls_server(ours.server("127.0.0.1"), old) as port:
        assert failure(port, ours.credentials()) == (
            "api_too_old",
            (
                "Docker on gpu-1 speaks API 1.39, and the panel needs 1.41 (Docker 20.10) or newer: "
                "upgrade Docker there."
            ),
        )


def test_an_engine_whose_rules_refuse_the_panel(ours: Authority) -> None:
    closed = http("403 Forbidden", b'{"message": "authorization denied by plugin"}')
    with tls_server(ours.server("127.0.0.1"), closed) as port:
        code, sentence = failure(port, ours.credentials())
    assert code == "engine_refused"
    assert "authorization denied by plugin" in sentence


def test_a_redirect_leads_nowhere_else(ours: Authority) -> None:
    """Whatever a host answers, the next request goes to the same host."""
    seen: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        request = connection.recv(65536)
        seen.append(request.splitlines()[0])
        if b"/version" in request:
            connection.sendall(response("200 OK", b'{"ApiVersion": "1.41"}'))
        elif b"/elsewhere" in request:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        else:
            connection.sendall(
                b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/elsewhere\r\n"
                b"Content-Length: 0\r\nConnection: close\r\n\r\n"
            )

    access = Access(tls=ours.credentials(), allowed_networks=LOOPBACK)
    with (
        tls_server(ours.server("127.0.0.1"), serve) as port,
        open_engine(f"tcp://127.0.0.1:{port}", access=access, timeout_s=2) as engine,
    ):
        assert engine.call("GET", "/info", act="describe itself") == {}
    assert [line.split()[1] for line in seen] == [
        b"/version",
        b"/v1.41/info",
        b"/elsewhere",
    ]


def test_credentials_show_nothing_of_the_key(ours: Authority) -> None:
    held = ours.credentials()
    assert "PRIVATE KEY" in held.key
    assert "PRIVATE KEY" not in repr(Access(tls=held))
