"""Walk the way to a Docker Engine one step at a time, so that a person sees how far it leads."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from deployments.docker_api.client import Access, checked_address
from deployments.docker_api.dialing import CONNECT_TIMEOUT_S, connect_tcp, resolve
from deployments.docker_api.ssh import (
    SshCredentials,
    offered_host_key,
    prove_host_key,
    ssh_tunnel,
)
from deployments.docker_api.tls import server_certificate_end, spelled, tls_dial
from deployments.docker_api.way_errors import CredentialsMissingError
from deployments.planning.engine_address import Way, fingerprint_of
from deployments.planning.text import Text, text


class Step(StrEnum):
    """The steps in their order; which of them there are depends on the address."""

    NAME = "name"
    ROUTE = "route"
    CERTIFICATE = "certificate"
    HOST_KEY = "host_key"
    LOGIN = "login"
    API = "api"
    RIGHTS = "rights"
    IDENTITY = "identity"
    CLOCK = "clock"


class StepState(StrEnum):
    """What came of a step; ``noted`` succeeded with something that a person should know."""

    PASSED = "passed"
    NOTED = "noted"
    FAILED = "failed"
    NOT_REACHED = "not_reached"


_LAST = (Step.API, Step.RIGHTS, Step.IDENTITY, Step.CLOCK)
_STEPS = {
    Way.SOCKET: _LAST,
    Way.TLS: (Step.NAME, Step.ROUTE, Step.CERTIFICATE, *_LAST),
    Way.SSH: (Step.NAME, Step.ROUTE, Step.HOST_KEY, Step.LOGIN, *_LAST),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A step that was taken; ``ends`` is until when the host's certificate holds."""

    step: Step
    sentence: Text
    state: StepState = StepState.PASSED
    ends: datetime | None = None


def steps_to(address: str) -> tuple[Step, ...]:
    """The steps to an address.

    Raises:
        AddressRefusedError: it is none that the panel opens.
    """
    return _STEPS[checked_address(address).way]


def walk(address: str, *, host: str, access: Access) -> Iterator[Passed]:
    """Every step before the Docker API, each as soon as it has succeeded.

    Raises:
        DockerApiError: the next step fails, with the reason.
    """
    place = checked_address(address)
    if place.way is Way.SOCKET:
        return
    ip = resolve(host, place, access.allowed_networks)
    named = text("{name} is {ip}.", name=place.name, ip=ip)
    plain = text("The panel connects to {ip}.", ip=ip)
    yield Passed(step=Step.NAME, sentence=plain if ip == place.name else named)
    connect_tcp(host, ip, place.port).close()
    yield Passed(
        step=Step.ROUTE,
        sentence=text("Port {port} takes connections.", port=place.port),
    )
    if place.way is Way.TLS:
        if access.tls is None:
            raise CredentialsMissingError(
                text("The panel has no certificates for {host}.", host=host)
            )
        dial = tls_dial(host, place, ip, access.tls)
        with dial(CONNECT_TIMEOUT_S) as connection:
            ends = server_certificate_end(connection)
        yield Passed(
            step=Step.CERTIFICATE,
            sentence=text(
                "The host's certificate is of the pinned authority, names {name} and holds until "
                "{moment}.",
                name=place.name,
                moment=spelled(ends),
            ),
            ends=ends,
        )
        return
    ssh = access.ssh or SshCredentials(key="")
    shown = offered_host_key(host, place, ip, ssh.host_key)
    prove_host_key(host, ssh.host_key, shown)
    yield Passed(
        step=Step.HOST_KEY,
        sentence=text(
            "The host shows the confirmed key {fingerprint}.",
            fingerprint=fingerprint_of(ssh.host_key),
        ),
    )
    with ssh_tunnel(host, place, ip, ssh):
        pass
    yield Passed(
        step=Step.LOGIN,
        sentence=text("The host lets {user} in.", user=place.user),
    )
