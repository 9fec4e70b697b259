"""Open a Docker Engine: explicit address, explicit time-outs, nothing taken from the environment."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from docker.api.client import APIClient
from pydantic import JsonValue as Json

from deployments.docker_api.adapter import NAME, DialAdapter
from deployments.docker_api.dialing import Dial, resolve, unix_dial
from deployments.docker_api.errors import (
    AddressRefusedError,
    EngineUnreachableError,
    NotFoundError,
)
from deployments.docker_api.reading import as_object
from deployments.docker_api.ssh import SshCredentials, ssh_tunnel
from deployments.docker_api.tls import TlsCredentials, tls_dial
from deployments.docker_api.translation import from_answer, message_of, translated
from deployments.docker_api.transport import LONGEST_ANSWER, get
from deployments.docker_api.way_errors import (
    ApiTooOldError,
    CredentialsMissingError,
    NotDockerError,
    NotHttpError,
    SocketClosedError,
)
from deployments.planning.engine_address import EngineAddress, Way, read_address
from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, text

CALL_TIMEOUT_S = 10
"""How long one control call may take; pulls have limits of their own."""

OLDEST_API = (1, 41)
"""Docker Engine 20.10, the oldest that the contract tests run against."""
_VERSION = re.compile(r"\d{1,3}\.\d{1,3}")

NO_CREDENTIALS = Path(__file__).with_name("no_credentials")
"""A configuration without logins: the SDK would else read that of the user it runs as."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An open Docker Engine; belongs to the thread that opened it.

    ``host`` is the name people know it by, for messages; ``dial`` opens connections
    to it that are read while they answer.
    """

    host: str
    address: str
    dial: Dial
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """With what an engine is opened. ``allowed_networks`` are the closed ones that may be contacted."""

    tls: TlsCredentials | None = None
    ssh: SshCredentials | None = None
    allowed_networks: tuple[str, ...] = ()


NO_ACCESS = Access()


@contextmanager
def open_engine(
    address: str,
    *,
    host: str = "local",
    access: Access = NO_ACCESS,
    timeout_s: int = CALL_TIMEOUT_S,
    version: str | None = None,
) -> Iterator[Engine]:
    """Connect, agree on the API version, and close afterwards.

    ``version`` is what was agreed on a moment ago with the same engine, which is not asked again.

    Raises:
        AddressRefusedError: the address is none that the panel may open.
        EngineUnreachableError: nothing answers there, or nothing that the panel trusts.
        EngineTimeoutError: something took the call and did not answer.
    """
    with way_to(address, host=host, access=access) as dial:
        if version is None:
            version = agreed_version(host, dial, address=address, timeout_s=timeout_s)
        os.environ["DOCKER_CONFIG"] = str(NO_CREDENTIALS)
        with translated(host, text("agree on a version")):
            api = APIClient(
                base_url=f"tcp://{NAME}:80", version=version, timeout=timeout_s
            )
        api.trust_env = False
        adapter = DialAdapter(dial)
        api.mount("http://", adapter)
        api.mount("https://", adapter)
        try:
            yield Engine(host=host, address=address, dial=dial, api=api)
        finally:
            api.close()


@contextmanager
def way_to(address: str, *, host: str, access: Access) -> Iterator[Dial]:
    """How to open connections to the engine, while the block lasts.

    Raises:
        DockerApiError: the address, the name, the network or the credentials do not allow it.
    """
    place = checked_address(address)
    if place.way is Way.SOCKET:
        yield unix_dial(host, place.path)
        return
    ip = resolve(host, place, access.allowed_networks)
    if place.way is Way.TLS:
        if access.tls is None:
            raise CredentialsMissingError(
                text(
                    "The panel has no certificates for {host}: enter the authority, the client "
                    "certificate and its key.",
                    host=host,
                )
            )
        yield tls_dial(host, place, ip, access.tls)
        return
    ssh = access.ssh or SshCredentials(key="")
    with ssh_tunnel(host, place, ip, ssh) as path:
        yield unix_dial(host, path)


def checked_address(address: str) -> EngineAddress:
    """The parts of an engine's address.

    Raises:
        AddressRefusedError: it is none that the panel opens.
    """
    try:
        return read_address(address)
    except PlanningError as error:
        raise AddressRefusedError(error.text) from error


def agreed_version(host: str, dial: Dial, *, address: str, timeout_s: float) -> str:
    """The version of the API that both sides speak.

    Asked for here: the SDK's own negotiation would still trust proxies of the environment.

    Raises:
        NotDockerError: what answers is no Docker Engine.
        ApiTooOldError: the engine is too old.
        DockerApiError: no answer.
    """
    act = text("name its version")
    place = read_address(address)
    try:
        with get(host, dial, "/version", act=act, timeout_s=timeout_s) as answer:
            document = _object(answer.read(LONGEST_ANSWER))
    except (NotFoundError, NotHttpError) as error:
        raise _no_docker(host, address) from error
    except EngineUnreachableError as error:
        if place.way is Way.SSH and error.outcome_unknown:
            raise _closed_socket(host, place) from error
        raise
    version = str(document.get("ApiVersion") or "")
    if not _VERSION.fullmatch(version):
        raise _no_docker(host, address)
    if tuple(map(int, version.split("."))) < OLDEST_API:
        raise ApiTooOldError(
            text(
                "Docker on {host} speaks API {version}, and the panel needs {oldest} (Docker "
                "20.10) or newer: upgrade Docker there.",
                host=host,
                version=version,
                oldest=".".join(map(str, OLDEST_API)),
            )
        )
    return version


def _object(body: bytes) -> dict[str, Json]:
    """The JSON object of an answer; empty for anything else."""
    try:
        return as_object(json.loads(body))
    except ValueError:
        return {}


def _closed_socket(host: str, place: EngineAddress) -> SocketClosedError:
    return SocketClosedError(
        text(
            "{host} let {user} in, but {path} does not open: start Docker there, or add {user} "
            "to the group docker.",
            host=host,
            user=place.user,
            path=place.path,
        )
    )


def _no_docker(host: str, address: str) -> NotDockerError:
    return NotDockerError(
        text(
            "What answers at {address} is no Docker Engine: correct the address or the port of "
            "{host}.",
            address=address,
            host=host,
        )
    )
