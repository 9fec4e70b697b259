"""Addresses of Docker Engines: a socket of this machine, TCP with TLS, or SSH; anything else is refused.

Numbers are read strictly, since resolvers take ``2130706433``, ``127.1`` and ``0x7f000001`` as
loopback, and no part may begin with a dash, which a program would take as an option.
"""

import base64
import binascii
import hashlib
import ipaddress
import posixpath
import re
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.errors import PlanningError
from deployments.planning.text import text

TLS_PORT = 2376
SSH_PORT = 22
DOCKER_SOCKET = "/var/run/docker.sock"
LARGEST_PORT = 65535
_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_NUMBER_LIKE = re.compile(r"\d+|0[xX][0-9a-fA-F]*")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_SOCKET = re.compile(r"/[A-Za-z0-9_./-]{1,100}")
_REMOTE = re.compile(
    r"(?:(?P<user>[^@/:]*)@)?(?P<name>\[[^\]]*\]|[^:/@]*)(?::(?P<port>\d{1,5}))?(?P<path>/.*)?"
)


class Way(StrEnum):
    """How an engine is reached."""

    SOCKET = "unix"
    TLS = "tcp"
    SSH = "ssh"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAddress:
    """A checked address; ``path`` is the engine's socket, here or behind SSH."""

    way: Way
    name: str = ""
    port: int = 0
    user: str = ""
    path: str = ""

    def __str__(self) -> str:
        if self.way is Way.SOCKET:
            return f"unix://{self.path}"
        name = f"[{self.name}]" if ":" in self.name else self.name
        if self.way is Way.TLS:
            return f"tcp://{name}:{self.port}"
        path = "" if self.path == DOCKER_SOCKET else self.path
        return f"ssh://{self.user}@{name}:{self.port}{path}"


def read_address(words: str) -> EngineAddress:
    """The address of ``unix:///path``, ``tcp://name:2376`` or ``ssh://user@name:22``.

    Raises:
        PlanningError: none of the three, or a part that is no plain name, number or path.
    """
    scheme, _separator, rest = words.partition("://")
    if scheme == Way.SOCKET:
        return EngineAddress(way=Way.SOCKET, path=_path(words, rest))
    parts = _REMOTE.fullmatch(rest)
    if scheme not in {Way.TLS, Way.SSH} or parts is None:
        raise PlanningError(
            text(
                "{address} is no address of a Docker Engine: write tcp://gpu-01.example:2376, "
                "ssh://docker@gpu-01.example or unix:///var/run/docker.sock.",
                address=words or "“”",
            )
        )
    way = Way(scheme)
    name = read_name(parts["name"].removeprefix("[").removesuffix("]"))
    port = read_port(parts["port"] or (TLS_PORT if way is Way.TLS else SSH_PORT))
    if way is Way.TLS:
        if parts["user"] is not None or parts["path"] not in {None, "/"}:
            raise PlanningError(
                text(
                    "{address} has parts that Docker over TLS does not know: "
                    "write tcp://name:port.",
                    address=words,
                )
            )
        return EngineAddress(way=way, name=name, port=port)
    return EngineAddress(
        way=way,
        name=name,
        port=port,
        user=read_user(parts["user"] or ""),
        path=_path(words, parts["path"] or DOCKER_SOCKET),
    )


def read_name(words: str) -> str:
    """A host name, or an IP address in its usual form.

    Raises:
        PlanningError: it is neither.
    """
    try:
        return str(ipaddress.ip_address(words))
    except ValueError:
        labels = words.split(".")
    plain = all(_LABEL.fullmatch(label) for label in labels) and len(words) <= 253
    if not plain or _NUMBER_LIKE.fullmatch(labels[-1]):
        raise PlanningError(
            text(
                "{name} is neither a host name nor an IP address: write gpu-01.example or "
                "192.0.2.10.",
                name=words or "“”",
            )
        )
    return words.lower()


def read_port(words: str | int) -> int:
    """A TCP port.

    Raises:
        PlanningError: not a number from 1 to 65535.
    """
    plain = str(words)
    if (
        not (plain.isascii() and plain.isdecimal())
        or not 1 <= int(plain) <= LARGEST_PORT
    ):
        raise PlanningError(
            text("{port} is no port: write a number from 1 to 65535.", port=plain)
        )
    return int(plain)


def read_user(words: str) -> str:
    """The name of an account on Linux.

    Raises:
        PlanningError: Linux has no such names.
    """
    if not _USER.fullmatch(words):
        raise PlanningError(
            text(
                "{user} is no account name: lower-case letters, digits, dash and underscore.",
                user=words or "“”",
            )
        )
    return words


def fingerprint_of(key: str) -> str:
    """The SHA-256 fingerprint of ``type base64`` as ssh-keygen prints it; empty if it is no key."""
    try:
        blob = base64.b64decode(key.split()[1], validate=True)
    except (IndexError, binascii.Error):
        return ""
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


def _path(words: str, path: str) -> str:
    if not _SOCKET.fullmatch(path) or posixpath.normpath(path) != path:
        raise PlanningError(
            text(
                "{address} names no plain absolute path of a socket: "
                "write unix:///path/to/docker.sock.",
                address=words,
            )
        )
    return path
