"""Docker over SSH: a real sshd and a real engine, and one sentence for each way it fails."""

import getpass
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.docker_api.client import Access, open_engine
from deployments.docker_api.containers import list_containers
from deployments.docker_api.engine import engine_facts
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.ssh import SshCredentials, offered_host_key
from deployments.docker_api.way_errors import HostKeyError
from deployments.planning.engine_address import fingerprint_of, read_address
from panel.lab.processes import free_port
from tests.docker_api.ssh_server import SshServer, listening_children, new_key

pytestmark = pytest.mark.docker
LOOPBACK = ("127.0.0.0/8",)


@pytest.fixture(scope="module")
def key() -> tuple[str, str]:
    """The panel's key pair."""
    return new_key()


@pytest.fixture(scope="module")
def server(
    key: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SshServer]:
    """An SSH server that lets the panel's key in."""
    if os.environ.get("REQUIRE_DOCKER") != "1":
        pytest.skip("needs root for an SSH server of its own: run `make test`.")
    if getpass.getuser() != "root":
        pytest.fail("An SSH server of its own needs root: sudo make test.")
    made = SshServer(tmp_path_factory.mktemp("sshd"))
    made.authorized.write_text(f"{key[1]}\n", "ascii")
    with made.running():
        yield made


def address(server: SshServer, socket_path: str) -> str:
    return f"ssh://root@127.0.0.1:{server.port}{socket_path}"


def access(key: str, host_key: str) -> Access:
    ssh = SshCredentials(key=key, host_key=host_key)
    return Access(ssh=ssh, allowed_networks=LOOPBACK)


def failure(where: str, given: Access) -> tuple[str, str]:
    """The code and the sentence with which opening the engine fails."""
    with (
        pytest.raises(DockerApiError) as caught,
        open_engine(where, host="gpu-1", access=given, timeout_s=3),
    ):
        pass
    return caught.value.code, re.sub(r":\d{4,5}|port \d+", "PORT", str(caught.value))


@pytest.fixture
def engine_socket(docker_host: str) -> str:
    """Where the real engine listens."""
    return docker_host.removeprefix("unix://")


def test_a_real_engine_is_asked_over_ssh(
    server: SshServer,
    key: tuple[str, str],
    engine_socket: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An agent of the environment is not asked, and nothing is left running."""
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere")
    where = address(server, engine_socket)
    with open_engine(where, access=access(key[0], server.host_key)) as engine:
        assert engine_facts(engine).engine_id
        assert isinstance(list_containers(engine), tuple)
        running = listening_children(f"-p {server.port}")
        assert len(running) == 1
        assert "PRIVATE" not in running[0]
    assert listening_children(f"-p {server.port}") == []


def test_a_host_key_that_nobody_confirmed(
    server: SshServer, key: tuple[str, str], engine_socket: str
) -> None:
    fingerprint = fingerprint_of(server.host_key)
    assert fingerprint.startswith("SHA256:")
    assert failure(address(server, engine_socket), access(key[0], "")) == (
        "host_key",
        (
            f"Nobody has confirmed the SSH host key of gpu-1 yet. It shows {fingerprint}: compare it "
            "with `ssh-keygen -lf` of the key in /etc/ssh on the host, then confirm it."
        ),
    )


def test_a_host_key_that_changed(
    server: SshServer, key: tuple[str, str], engine_socket: str
) -> None:
    earlier = new_key()[1]
    code, sentence = failure(address(server, engine_socket), access(key[0], earlier))
    assert code == "host_key"
    assert sentence == (
        f"The SSH host key of gpu-1 changed from {fingerprint_of(earlier)} to "
        f"{fingerprint_of(server.host_key)}. If nobody installed the machine anew, somebody may be "
        "in between; if somebody did, confirm the new key."
    )


def test_the_changed_key_comes_with_the_error(
    server: SshServer, key: tuple[str, str], engine_socket: str
) -> None:
    with (
        pytest.raises(HostKeyError) as caught,
        open_engine(address(server, engine_socket), access=access(key[0], "")),
    ):
        pass
    assert caught.value.offered == server.host_key
    where = read_address(address(server, engine_socket))
    assert offered_host_key("gpu-1", where, "127.0.0.1") == server.host_key


def test_a_key_that_the_account_does_not_know(
    server: SshServer, engine_socket: str
) -> None:
    given = access(new_key()[0], server.host_key)
    assert failure(address(server, engine_socket), given) == (
        "login_refused",
        (
            "gpu-1 does not let root in with the panel's key: append the public key to "
            "~root/.ssh/authorized_keys there."
        ),
    )


def test_no_engine_behind_ssh(
    server: SshServer, key: tuple[str, str], tmp_path: Path
) -> None:
    where = address(server, str(tmp_path / "no.sock"))
    code, sentence = failure(where, access(key[0], server.host_key))
    assert code == "socket_closed"
    assert sentence == (
        f"gpu-1 let root in, but {tmp_path / 'no.sock'} does not open: start Docker there, or add "
        "root to the group docker."
    )


def test_nothing_listens(
    server: SshServer, key: tuple[str, str], engine_socket: str
) -> None:
    where = f"ssh://root@127.0.0.1:{free_port()}{engine_socket}"
    assert failure(where, access(key[0], server.host_key)) == (
        "connection_refused",
        (
            "gpu-1 refuses the connection to 127.0.0.1 PORT: nothing listens there. Start Docker "
            "with that port, or correct the port."
        ),
    )


def test_another_service_on_the_port(key: tuple[str, str], server: SshServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def hang_up() -> None:
            while True:
                try:
                    connection, _address = other.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"220 mail\r\n")

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        where = f"ssh://root@127.0.0.1:{other.getsockname()[1]}"
        assert failure(where, access(key[0], server.host_key)) == (
            "ssh",
            (
                "What answers on PORT of gpu-1 is no SSH server, or it shows no host key that is "
                "still safe: correct the port."
            ),
        )
        other.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_the_key_of_the_panel_is_never_on_disk(
    server: SshServer, key: tuple[str, str], engine_socket: str, tmp_path: Path
) -> None:
    """A copy in a temporary file would outlive a killed worker."""
    given = access(key[0], server.host_key)
    assert "PRIVATE" not in repr(given)
    with open_engine(address(server, engine_socket), access=given):
        command = listening_children(f"-p {server.port}")[0]
        identity = re.search(r"IdentityFile=(\S+)", command)
        assert identity is not None
        assert "memfd:" in str(Path(identity[1]).readlink())
