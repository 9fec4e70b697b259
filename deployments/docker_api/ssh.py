"""SSH to an engine: the system's ssh forwards the engine's socket to one of ours (OpenSSH 8.4 to 10).

Only what stands here counts: no configuration file, agent, password, proxy or known host of the
account, one pinned host key, and a key that lies in memory. Arguments are a list; no shell runs on
either side, and the account needs neither a shell nor Docker's command line on the host.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deployments.docker_api.dialing import CONNECT_TIMEOUT_S, connect_tcp
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.memory_files import memory_file
from deployments.docker_api.way_errors import (
    ConnectTimeoutError,
    CredentialsMissingError,
    HostKeyError,
    LoginRefusedError,
    SshError,
)
from deployments.planning.engine_address import EngineAddress, fingerprint_of
from deployments.planning.text import text

ALIAS = "draftboard"
"""The name under which the pinned key stands, whatever address or port the host has."""
LOGIN_TIMEOUT_S = 8.0
POLL_S = 0.01
KEY_TYPES = {
    "ssh-ed25519": "ssh-ed25519",
    "ecdsa-sha2-nistp256": "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384": "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521": "ecdsa-sha2-nistp521",
    "ssh-rsa": "rsa-sha2-512,rsa-sha2-256",
}
"""Types of host keys by preference, and the signatures accepted of each (none with SHA-1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SshCredentials:
    """The panel's private key, and the host's public key as ``type base64``; empty: not confirmed."""

    key: str = field(repr=False)
    host_key: str = ""


@contextmanager
def ssh_tunnel(
    host: str, address: EngineAddress, ip: str, credentials: SshCredentials
) -> Iterator[str]:
    """The path of a socket here that leads to the engine's there, while the block lasts.

    Raises:
        HostKeyError: the host's key was not confirmed or has changed.
        LoginRefusedError: the account or its key is refused.
        DockerApiError: no connection, or something else than SSH answers.
    """
    program = _program("ssh")
    if not credentials.key:
        raise CredentialsMissingError(
            text(
                "The panel has no SSH key for {host}: enter one, or let the panel make one.",
                host=host,
            )
        )
    if not credentials.host_key:
        raise _not_confirmed(host, offered_host_key(host, address, ip))
    with (
        tempfile.TemporaryDirectory(prefix="draftboard-ssh-") as name,
        memory_file(credentials.key.strip() + "\n") as key,
    ):
        folder = Path(name)
        (folder / "known").write_text(f"{ALIAS} {credentials.host_key}\n", "ascii")
        command = [
            program,
            *_options(folder, key, credentials.host_key),
            *("-p", str(address.port), "-l", address.user),
            *("-L", f"{folder / 'engine'}:{address.path}", "--", ip),
        ]
        with (folder / "said").open("wb") as said:
            process = subprocess.Popen(  # noqa: S603 - a list of checked parts, no shell
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env={"PATH": os.defpath, "LC_ALL": "C", "HOME": name},
                start_new_session=True,
            )
        try:
            _wait_for(process, folder, host, address, ip, credentials)
            yield str(folder / "engine")
        finally:
            process.kill()
            process.wait()


def offered_host_key(
    host: str, address: EngineAddress, ip: str, pinned: str = ""
) -> str:
    """The key that the host shows now, as ``type base64``; the pinned one if that is among several.

    Raises:
        SshError: what answers there is no SSH server.
        DockerApiError: no connection.
    """
    connect_tcp(host, ip, address.port).close()
    done = subprocess.run(  # noqa: S603 - a list of checked parts, no shell
        [
            _program("ssh-keyscan"),
            *("-T", str(int(CONNECT_TIMEOUT_S)), "-p", str(address.port)),
            *("-t", "ed25519,ecdsa,rsa", "--", ip),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=4 * CONNECT_TIMEOUT_S,
        env={"PATH": os.defpath, "LC_ALL": "C"},
    )
    keys = {}
    for line in done.stdout.decode(errors="replace").splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[1] in KEY_TYPES:
            keys[parts[1]] = f"{parts[1]} {parts[2]}"
    if pinned in keys.values():
        return pinned
    for kind in KEY_TYPES:
        if kind in keys:
            return keys[kind]
    raise SshError(
        text(
            "What answers on port {port} of {host} is no SSH server, or it shows no host key that "
            "is still safe: correct the port.",
            port=address.port,
            host=host,
        )
    )


def prove_host_key(host: str, pinned: str, offered: str) -> None:
    """Accept the pinned key only.

    Raises:
        HostKeyError: none was confirmed yet, or the host shows another one.
    """
    if not pinned:
        raise _not_confirmed(host, offered)
    if pinned != offered:
        raise _changed(host, pinned, offered)


def _program(name: str) -> str:
    found = shutil.which(name, path=os.defpath) or shutil.which(name)
    if found is None:
        raise CredentialsMissingError(
            text(
                "The machine of the panel has no program {name}: install openssh-client there.",
                name=name,
            )
        )
    return found


def _options(folder: Path, key: str, host_key: str) -> Iterator[str]:
    settings = {
        "BatchMode": "yes",
        "CanonicalizeHostname": "no",
        "CertificateFile": "none",
        "CheckHostIP": "no",
        "ConnectTimeout": str(int(CONNECT_TIMEOUT_S)),
        "ControlMaster": "no",
        "ControlPath": "none",
        "ExitOnForwardFailure": "yes",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "GlobalKnownHostsFile": "/dev/null",
        "HostKeyAlgorithms": KEY_TYPES[host_key.split(maxsplit=1)[0]],
        "HostKeyAlias": ALIAS,
        "IdentitiesOnly": "yes",
        "IdentityAgent": "none",
        "IdentityFile": key,
        "KbdInteractiveAuthentication": "no",
        "LogLevel": "INFO",
        "PasswordAuthentication": "no",
        "PermitLocalCommand": "no",
        "PreferredAuthentications": "publickey",
        "ProxyCommand": "none",
        "ServerAliveCountMax": "2",
        "ServerAliveInterval": "5",
        "StrictHostKeyChecking": "yes",
        "StreamLocalBindMask": "0177",
        "UpdateHostKeys": "no",
        "UserKnownHostsFile": str(folder / "known"),
    }
    yield from ("-F", "/dev/null", "-N", "-T")
    for name, value in settings.items():
        yield from ("-o", f"{name}={value}")


def _wait_for(  # noqa: PLR0913, PLR0917 - one call, all of it is needed to say what went wrong
    process: subprocess.Popen[bytes],
    folder: Path,
    host: str,
    address: EngineAddress,
    ip: str,
    credentials: SshCredentials,
) -> None:
    """Until the socket is there, which ssh makes once the account is in."""
    end = time.monotonic() + LOGIN_TIMEOUT_S
    while not (folder / "engine").exists():
        ended = process.poll() is not None
        if ended or time.monotonic() > end:
            said = (folder / "said").read_text("utf-8", errors="replace")
            raise _login_error(host, address, ip, credentials, said if ended else "")
        time.sleep(POLL_S)


def _login_error(
    host: str, address: EngineAddress, ip: str, credentials: SshCredentials, said: str
) -> DockerApiError:
    connect_tcp(
        host, ip, address.port
    ).close()  # refused or unreachable say so themselves
    if "Permission denied" in said or "Too many authentication" in said:
        return LoginRefusedError(
            text(
                "{host} does not let {user} in with the panel's key: append the public key to "
                "~{user}/.ssh/authorized_keys there.",
                host=host,
                user=address.user,
            )
        )
    if "Host key verification failed" in said or "no matching host key" in said:
        return _changed(host, credentials.host_key, offered_host_key(host, address, ip))
    if not said:
        return ConnectTimeoutError(
            text(
                "{host} took the SSH connection and did not let the panel in within {seconds} "
                "seconds: look at the load of the machine and into sshd's log.",
                host=host,
                seconds=int(LOGIN_TIMEOUT_S),
            )
        )
    offered_host_key(host, address, ip)  # no SSH server says so itself
    return SshError(
        text(
            "SSH to {host} ended: {reason}.",
            host=host,
            reason=" ".join(said.split())[-300:].rstrip("."),
        )
    )


def _not_confirmed(host: str, offered: str) -> HostKeyError:
    return HostKeyError(
        text(
            "Nobody has confirmed the SSH host key of {host} yet. It shows {fingerprint}: compare "
            "it with `ssh-keygen -lf` of the key in /etc/ssh on the host, then confirm it.",
            host=host,
            fingerprint=fingerprint_of(offered),
        ),
        offered=offered,
    )


def _changed(host: str, pinned: str, offered: str) -> HostKeyError:
    return HostKeyError(
        text(
            "The SSH host key of {host} changed from {old} to {new}. If nobody installed the "
            "machine anew, somebody may be in between; if somebody did, confirm the new key.",
            host=host,
            old=fingerprint_of(pinned),
            new=fingerprint_of(offered),
        ),
        offered=offered,
    )
