"""Exceptions of the Docker SDK and of requests, turned into ``DockerApiError`` at the boundary.

The texts are those of Docker Engine 20.10 to 29 (moby ``daemon/`` and runc); the contract tests in
``tests/docker_api`` hold them against a real engine.
"""

import json
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import requests
from docker.errors import DockerException

from deployments.docker_api.errors import (
    DeviceUnavailableError,
    DiskFullError,
    DockerApiError,
    EngineFaultError,
    EngineTimeoutError,
    EngineUnreachableError,
    ImageMissingError,
    MountMissingError,
    NameTakenError,
    NoEntrypointError,
    NotFoundError,
    PortTakenError,
    RegistryDeniedError,
    RegistryUnavailableError,
    StateConflictError,
)
from deployments.docker_api.tls import refused_certificate
from deployments.planning.text import Text, text

_KNOWN_TEXTS: tuple[tuple[re.Pattern[str], type[DockerApiError]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"no space left on device", DiskFullError),
        (
            r"no such image|manifest unknown|repository does not exist",
            ImageMissingError,
        ),
        (r"manifest for .* not found|reference does not exist", ImageMissingError),
        (r"unauthorized|authentication required|access .* denied", RegistryDeniedError),
        (r"toomanyrequests|too many requests", RegistryUnavailableError),
        (r"no such host|i/o timeout|tls handshake timeout", RegistryUnavailableError),
        (r"dial tcp|error pinging .* registry", RegistryUnavailableError),
        (r"name .* is already in use by container", NameTakenError),
        (r"bind source path does not exist", MountMissingError),
        (r"executable file not found|exec: .*no such file", NoEntrypointError),
        (
            r"could not select device driver|nvidia-container-cli",
            DeviceUnavailableError,
        ),
        (r"error gathering device information", DeviceUnavailableError),
        (
            r"unknown or invalid runtime|unknown runtime specified",
            DeviceUnavailableError,
        ),
    )
)
_PORT_TAKEN = re.compile(
    r"(?::(?P<port>\d+) failed: )?port is already allocated|"
    r"listen tcp\d? \S*:(?P<listen>\d+): bind: address already in use",
    re.IGNORECASE,
)
_NEVER_SENT = (ConnectionRefusedError, FileNotFoundError, PermissionError)


@contextmanager
def translated(host: str, act: Text | str) -> Iterator[None]:
    """Turn every failure of the enclosed call into a ``DockerApiError``.

    ``act`` completes the sentence "The Docker Engine of HOST could not ...".
    """
    try:
        yield
    except DockerApiError:
        raise
    except (requests.RequestException, DockerException, ValueError, OSError) as error:
        raise _from_transport(host, act, error) from error


def from_answer(
    host: str, act: Text | str, status: int | None, words: str
) -> DockerApiError:
    """The error for an answer of the engine with an error status."""
    sentence = text(
        "The Docker Engine of {host} could not {act}: {reason}",
        host=host,
        act=act,
        reason=words or text("no reason given"),
    )
    taken = _PORT_TAKEN.search(words)
    if taken is not None:
        port = taken["port"] or taken["listen"]
        return PortTakenError(sentence, port=int(port) if port else None)
    for pattern, kind in _KNOWN_TEXTS:
        if pattern.search(words):
            return kind(sentence)
    by_status = {404: NotFoundError, 409: StateConflictError}
    if status in by_status:
        return by_status[status](sentence)
    if status is not None and status >= 500:
        return EngineFaultError(sentence)
    return DockerApiError(sentence)


def message_of(body: bytes) -> str:
    """The engine's own words in the body of an error answer, on one line."""
    try:
        words = str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        words = body.decode(errors="replace")
    return " ".join(words.split())


def _from_transport(host: str, act: Text | str, error: Exception) -> DockerApiError:
    chain = list(_causes(error))
    own = next((cause for cause in chain if isinstance(cause, DockerApiError)), None)
    if own is not None:
        return own
    for cause in chain:
        refused = (
            refused_certificate(host, cause)
            if isinstance(cause, ssl.SSLError)
            else None
        )
        if refused is not None:
            return refused
    if any(isinstance(cause, requests.Timeout | TimeoutError) for cause in chain):
        return EngineTimeoutError(
            text(
                "The Docker Engine of {host} did not answer in time when asked to {act}.",
                host=host,
                act=act,
            ),
            outcome_unknown=True,
        )
    never_sent = next(
        (cause for cause in chain if isinstance(cause, _NEVER_SENT)), None
    )
    if never_sent is not None:
        return EngineUnreachableError(
            text(
                "The Docker Engine of {host} does not answer: {reason}. Start Docker on that host, "
                "or correct the host's address.",
                host=host,
                reason=str(never_sent.strerror),
            )
        )
    return EngineUnreachableError(
        text(
            "The connection to the Docker Engine of {host} broke when it was asked to {act}.",
            host=host,
            act=act,
        ),
        outcome_unknown=True,
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, what it was raised from, and what requests and urllib3 hide in ``args``."""
    todo: list[BaseException] = [error]
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        linked = (
            one.__cause__,
            one.__context__,
            getattr(one, "reason", None),
            *one.args,
        )
        todo.extend(item for item in linked if isinstance(item, BaseException))
