"""Open a host's Docker Engine with the credentials that are kept for it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from deployments.docker_api.client import CALL_TIMEOUT_S, Access, Engine, open_engine
from deployments.docker_api.dialing import CONNECT_TIMEOUT_S
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.ssh import SshCredentials
from deployments.docker_api.tls import TlsCredentials, server_certificate_end
from deployments.docker_api.way_errors import (
    CredentialsMissingError,
    DifferentEngineError,
)
from deployments.models import Host, Reachability
from deployments.models.fleet import HostAccess
from deployments.planning.engine_address import Way
from deployments.planning.text import text
from deployments.services.errors import UseCaseError
from deployments.services.host_calls import bounded_calls
from deployments.services.hosts import access_owner
from deployments.services.secrets import unseal

MOST_OPEN = 32
"""Engines at once, each perhaps with a program of its own that forwards to it."""
LOOKED_AT_BEFORE = timedelta(days=31)
"""From when on each look at a host also looks at its certificate; a day before people are warned."""


@contextmanager
def open_host(
    host: Host, *, timeout_s: int = CALL_TIMEOUT_S, insists: bool = False
) -> Iterator[Engine]:
    """The engine of a host, for reading and, where nobody else answers there, for changing.

    Who ``insists`` is not refused while calls to the host rest.

    Raises:
        NotTriedError: calls rest after failures, or enough tasks wait for this slow host.
        DockerApiError: the credentials cannot be used, or the engine does not answer.
    """
    with (
        bounded_calls(host, insists=insists),
        open_engine(
            host.docker_address,
            host=host.name,
            access=access_for(host),
            timeout_s=timeout_s,
        ) as engine,
    ):
        yield engine


class OpenHosts:
    """Engines of hosts that stay open while one piece of work in one thread lasts.

    Opening asks for the version, over TLS and SSH after a handshake; a dozen steps need that once. After
    a failed call an engine is opened anew, and of many hosts only those used last stay open.
    """

    def __init__(self, *, in_turn: bool = False) -> None:
        self._in_turn = in_turn
        self._open: dict[UUID, tuple[ExitStack, Engine]] = {}

    @contextmanager
    def engine(self, host: Host) -> Iterator[Engine]:
        """The engine of a host; calls never rest for whoever works here, and has a budget of its own.

        Raises:
            NotTriedError: ``in_turn``, and enough tasks wait for this host, whose last call failed.
            DockerApiError: the credentials cannot be used, or the engine does not answer.
        """
        with bounded_calls(host, insists=True, in_turn=self._in_turn):
            try:
                yield self._opened(host)
            except DockerApiError:
                self._close(host.pk)
                raise

    def version(self, host: Host) -> str | None:
        """The version of the API that an open engine speaks; ``None`` for one that is not open."""
        known = self._open.get(host.pk)
        return None if known is None else str(known[1].api.api_version)

    def close(self) -> None:
        """Close all of them."""
        for key in list(self._open):
            self._close(key)

    def _opened(self, host: Host) -> Engine:
        known = self._open.pop(host.pk, None)
        if known is None:
            if len(self._open) >= MOST_OPEN:
                self._close(next(iter(self._open)))
            stack = ExitStack()
            engine = stack.enter_context(
                open_engine(
                    host.docker_address, host=host.name, access=access_for(host)
                )
            )
            known = stack, engine
        self._open[host.pk] = known
        return known[1]

    def _close(self, key: UUID) -> None:
        known = self._open.pop(key, None)
        if known is not None:
            known[0].close()


def prove_same_engine(host: Host) -> None:
    """Let nothing be changed where another engine answered at the last look.

    Raises:
        DifferentEngineError: it did, and no team admin has confirmed it.
    """
    if Host.objects.filter(
        pk=host.pk, reachability=Reachability.DIFFERENT_ENGINE
    ).exists():
        raise DifferentEngineError(
            text(
                "Another Docker Engine than the registered one answers at the address of {host}: "
                "nothing is changed there until a team admin confirms it on the host's page.",
                host=host.name,
            )
        )


def note_certificate(host: Host, engine: Engine) -> None:
    """Keep until when the host's certificate holds, as long as that is unknown or soon.

    A renewed certificate so ends its warning without anybody testing the way again.

    Raises:
        DockerApiError: the engine takes no further connection.
    """
    if not host.docker_address.startswith(f"{Way.TLS}:"):
        return
    soon = Q(server_expires_at__lt=timezone.now() + LOOKED_AT_BEFORE)
    rows = HostAccess.objects.filter(soon | Q(server_expires_at=None), host=host)
    if not rows.exists():
        return
    with engine.dial(CONNECT_TIMEOUT_S) as connection:
        ends = server_certificate_end(connection)
    rows.update(server_expires_at=ends)


def access_for(host: Host) -> Access:
    """What the host's engine is opened with; nothing is read for a socket of this machine.

    Raises:
        CredentialsMissingError: the stored credentials cannot be decrypted.
    """
    allowed = tuple(settings.HOST_NETWORKS_ALLOWED)
    if host.docker_address.startswith(f"{Way.SOCKET}:"):
        return Access(allowed_networks=allowed)
    row = HostAccess.objects.filter(host=host).first()
    if row is None:
        return Access(allowed_networks=allowed)
    parts = _unsealed(host, row)
    if host.docker_address.startswith(f"{Way.SSH}:"):
        ssh = SshCredentials(key=parts.get("key", ""), host_key=row.host_key)
        return Access(ssh=ssh, allowed_networks=allowed)
    tls = TlsCredentials(**parts) if parts else None
    return Access(tls=tls, allowed_networks=allowed)


def _unsealed(host: Host, row: HostAccess) -> dict[str, str]:
    if not row.sealed:
        return {}
    try:
        parts: dict[str, str] = json.loads(
            unseal(row.sealed, owner=access_owner(host.pk))
        )
    except UseCaseError as error:
        raise CredentialsMissingError(
            text(
                "The credentials of {host} cannot be decrypted with CREDENTIALS_KEY: put the "
                "earlier key back, or enter them again.",
                host=host.name,
            )
        ) from error
    return parts
