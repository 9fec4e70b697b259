"""Debian's sshd with a configuration, keys and port of its own."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from panel.lab.processes import Child, free_port, wait_until

OPENSSH = serialization.Encoding.OpenSSH


def new_key() -> tuple[str, str]:
    """A private key in OpenSSH's form, and its public key as ``type base64``."""
    key = ed25519.Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(OPENSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), public.decode()


class SshServer:
    """One sshd in one folder that lets root in with the keys of ``authorized``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.host_key = ""
        self.authorized = folder / "authorized"
        self.authorized.write_text("", "ascii")
        self.change_host_key()
        self.log = folder / "sshd.log"

    def change_host_key(self) -> None:
        """Have another host key from the next start on."""
        private, self.host_key = new_key()
        file = self.folder / "host_key"
        file.write_text(private, "ascii")
        file.chmod(0o600)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Answer while the block lasts."""
        program = shutil.which("sshd", path=f"{os.defpath}:/usr/sbin:/sbin")
        assert program, "install openssh-server"
        Path("/run/sshd").mkdir(exist_ok=True)
        settings = {
            "AuthorizedKeysFile": str(self.authorized),
            "HostKey": str(self.folder / "host_key"),
            "ListenAddress": f"127.0.0.1:{self.port}",
            "LogLevel": "DEBUG1",
            "PasswordAuthentication": "no",
            "PermitRootLogin": "prohibit-password",
            "PidFile": "none",
            "StrictModes": "no",
            "UsePAM": "no",
        }
        options = [f"-o{name}={value}" for name, value in settings.items()]
        child = Child(
            name="sshd",
            command=(program, "-D", "-e", "-f", "/dev/null", *options),
            log=self.log,
            patience_s=5,
        )
        child.start()
        try:
            assert wait_until(self._answers, timeout_s=10), child.last_words(12)
            yield
        finally:
            child.stop()

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


def listening_children(word: str) -> list[str]:
    """The command lines of running programs that contain the word."""
    done = subprocess.run(
        ["ps", "-ww", "-eo", "args"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if word in line]
