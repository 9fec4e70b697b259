"""Ask a replica over HTTP: health, model list, one completion. Short time-outs, no redirects."""

import http.client
import json
from dataclasses import dataclass, field
from http import HTTPStatus

from pydantic import JsonValue as Json

from deployments.planning.plan import HEALTH_PATH
from deployments.planning.text import text
from deployments.services.rollout.rollout import Member

HEALTH_TIMEOUT_S = 3.0
COMPLETION_TIMEOUT_S = 20.0
"""Less than the lease of a command, which is renewed just before."""
LONGEST_BODY = 1 << 20
ANY_ADDRESS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared, not bound


class ProbeError(Exception):
    """The replica did not give a usable answer; the message says what came instead."""


class NoAnswerError(ProbeError):
    """It did not answer in time, or the connection broke; a later answer may be good."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a replica answers; ``key`` is what it wants for everything below /v1."""

    address: str
    port: int
    health_path: str = HEALTH_PATH
    key: str | None = field(default=None, repr=False)


def endpoint_of(member: Member) -> Endpoint | None:
    """Where the panel reaches a replica; ``None`` for one that has no HTTP.

    An engine behind a socket is on this machine, so its published ports are on loopback.
    """
    port = member.planned.health_port
    if port is None:
        return None
    published = next(
        (
            one.host_address
            for one in member.planned.container.ports
            if one.host == port
        ),
        "",
    )
    if published not in ANY_ADDRESS:
        return Endpoint(published, port, member.planned.health_path)
    local = member.host.docker_address.startswith("unix://")
    address = "127.0.0.1" if local else member.host.address
    return Endpoint(address or "127.0.0.1", port, member.planned.health_path)


def is_healthy(endpoint: Endpoint) -> bool:
    """Whether its health path answers 200; a refused or cut connection is simply no."""
    try:
        return (
            _ask(endpoint, "GET", endpoint.health_path, HEALTH_TIMEOUT_S)[0]
            == HTTPStatus.OK
        )
    except ProbeError:
        return False


def served_models(endpoint: Endpoint) -> tuple[str, ...]:
    """The names in ``/v1/models``.

    Raises:
        NoAnswerError: no answer.
        ProbeError: another status, or no list of models.
    """
    document = _json(endpoint, "GET", "/v1/models", HEALTH_TIMEOUT_S)
    rows = document.get("data")
    if not isinstance(rows, list):
        raise ProbeError(text("/v1/models answered without a list of models"))
    return tuple(
        str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row
    )


def complete(endpoint: Endpoint, model: str) -> str:
    """Generate a few tokens for real: an engine can be healthy and die of its first request.

    Raises:
        NoAnswerError: no answer.
        ProbeError: another status, or an answer without a completion.
    """
    document = _json(
        endpoint,
        "POST",
        "/v1/completions",
        COMPLETION_TIMEOUT_S,
        {"model": model, "prompt": "1 2 3 4", "max_tokens": 8, "temperature": 0},
    )
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict) or not isinstance(first.get("text"), str):
        raise ProbeError(text("/v1/completions answered without a completion"))
    return str(first["text"])


def _json(
    endpoint: Endpoint,
    method: str,
    path: str,
    timeout_s: float,
    body: Json = None,
) -> dict[str, Json]:
    status, data = _ask(endpoint, method, path, timeout_s, body)
    if status != HTTPStatus.OK:
        words = " ".join(data[:300].decode("utf-8", "replace").split())
        if endpoint.key:
            words = words.replace(endpoint.key, "***")
        raise ProbeError(
            text(
                "{path} answered {status}: {words}",
                path=path,
                status=status,
                words=words,
            )
        )
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ProbeError(
            text("{path} answered something that is no JSON", path=path)
        ) from error
    if not isinstance(document, dict):
        raise ProbeError(text("{path} answered no JSON object", path=path))
    return document


def _ask(
    endpoint: Endpoint, method: str, path: str, timeout_s: float, body: Json = None
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(
        endpoint.address, endpoint.port, timeout=timeout_s
    )
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    try:
        connection.request(
            method,
            path,
            body=None if body is None else json.dumps(body),
            headers=headers,
        )
        answer = connection.getresponse()
        return answer.status, answer.read(LONGEST_BODY)
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
        raise NoAnswerError(
            text("{path} did not answer: {reason}", path=path, reason=reason)
        ) from error
    finally:
        connection.close()
