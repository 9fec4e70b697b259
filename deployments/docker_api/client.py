"""Open a Docker Engine: explicit address, explicit time-outs, nothing taken from the environment."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from docker.api.client import APIClient
from pydantic import JsonValue as Json

from deployments.docker_api.errors import AddressRefusedError
from deployments.docker_api.translation import from_answer, message_of, translated
from deployments.docker_api.transport import get_json
from deployments.planning.text import Text, text

CALL_TIMEOUT_S = 10
"""How long one control call may take; pulls have limits of their own."""

NO_CREDENTIALS = Path(__file__).with_name("no_credentials")
"""A configuration without logins: the SDK would else read that of the user it runs as."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An open Docker Engine; belongs to the thread that opened it.

    ``host`` is the name people know it by, for messages; ``socket_path`` where it listens.
    """

    host: str
    socket_path: str
    api: APIClient

    def url(self, path: str) -> str:
        """The address of an API path in the version that both sides speak."""
        return f"{self.api.base_url}/v{self.api.api_version}{path}"

    def call(
        self,
        method: str,
        path: str,
        *,
        act: Text | str,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Json] | None = None,
    ) -> Json:
        """One control call; returns the JSON answer, ``None`` for an empty one.

        ``act`` completes the sentence "The Docker Engine of HOST could not ...".

        Raises:
            DockerApiError: no answer in time, half an answer, or an answer with an error status.
        """
        with translated(self.host, act):
            answer = self.api.request(
                method,
                self.url(path),
                params=params,
                json=body,
                timeout=self.api.timeout,
            )
            if answer.status_code >= HTTPStatus.BAD_REQUEST:
                raise from_answer(
                    self.host, act, answer.status_code, message_of(answer.content)
                )
            document: Json = answer.json() if answer.content else None
            return document


def socket_of(address: str) -> str:
    """The socket path of an engine address.

    Raises:
        AddressRefusedError: anything but ``unix://`` and an absolute, plain path.
    """
    scheme, _separator, path = address.partition("://")
    if scheme != "unix":
        raise AddressRefusedError(
            text(
                "The panel opens Docker Engines through unix:///path/to/docker.sock, not {address}.",
                address=address,
            )
        )
    if not path.startswith("/") or os.path.normpath(path) != path:
        raise AddressRefusedError(
            text(
                "{address} is no plain absolute path of a socket: write unix:///path/to/docker.sock.",
                address=address,
            )
        )
    return path


@contextmanager
def open_engine(
    address: str, *, host: str = "local", timeout_s: int = CALL_TIMEOUT_S
) -> Iterator[Engine]:
    """Connect, agree on the API version, and close afterwards.

    Raises:
        AddressRefusedError: the address is none that the panel may open.
        EngineUnreachableError: nothing answers there.
        EngineTimeoutError: something took the call and did not answer.
    """
    path = socket_of(address)
    os.environ["DOCKER_CONFIG"] = str(NO_CREDENTIALS)
    # Asked for here: the SDK's own negotiation would still trust proxies of the environment.
    version = get_json(
        host, path, "/version", act=text("name its version"), timeout_s=timeout_s
    ).get("ApiVersion")
    with translated(host, text("agree on a version")):
        api = APIClient(base_url=address, version=str(version), timeout=timeout_s)
    api.trust_env = False
    try:
        yield Engine(host=host, socket_path=path, api=api)
    finally:
        api.close()
