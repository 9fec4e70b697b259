"""Open a connection to where an engine listens; an address is resolved once and its networks are checked.

Loopback, link-local and cloud metadata addresses are refused unless their network is allowed: a host
entered by a person must not lead the panel to itself or to the credentials of its cloud machine.
"""

import errno
import ipaddress
import socket
from collections.abc import Callable, Collection

from deployments.docker_api.errors import AddressRefusedError, DockerApiError
from deployments.docker_api.way_errors import (
    ConnectTimeoutError,
    NameUnknownError,
    NoRouteError,
    RefusedError,
    SocketForbiddenError,
)
from deployments.planning.closed_addresses import closed, unwrapped
from deployments.planning.engine_address import EngineAddress
from deployments.planning.text import text

CONNECT_TIMEOUT_S = 5.0
Dial = Callable[[float], socket.socket]
"""Open one connection on which every call waits so many seconds at most."""


def resolve(host: str, address: EngineAddress, allowed: Collection[str]) -> str:
    """The one IP address that every connection to the engine uses.

    Raises:
        NameUnknownError: the name leads nowhere.
        AddressRefusedError: it leads to a network that the panel never contacts.
    """
    try:
        found = socket.getaddrinfo(address.name, address.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise NameUnknownError(
            text(
                "The panel's resolver does not know the name {name}: correct the address of {host}, "
                "or add the name to DNS.",
                name=address.name,
                host=host,
            )
        ) from error
    addresses = [unwrapped(ipaddress.ip_address(row[4][0])) for row in found]
    for one in addresses:
        kind = closed(one, allowed)
        if kind is not None:
            raise AddressRefusedError(
                text(
                    "{name} leads to {ip}, {kind}, which the panel does not contact: enter the "
                    "address of {host} itself, or allow the network in HOST_NETWORKS_ALLOWED.",
                    name=address.name,
                    ip=str(one),
                    kind=kind,
                    host=host,
                )
            )
    return str(addresses[0])


def connect_tcp(
    host: str, ip: str, port: int, timeout_s: float = CONNECT_TIMEOUT_S
) -> socket.socket:
    """A TCP connection.

    Raises:
        RefusedError: nothing listens there.
        ConnectTimeoutError: nobody answered in time.
        NoRouteError: no packet gets there.
    """
    try:
        return socket.create_connection(
            (ip, port), timeout=min(timeout_s, CONNECT_TIMEOUT_S)
        )
    except OSError as error:
        raise _connect_error(host, f"{ip} port {port}", error) from error


def _connect_error(host: str, place: str, error: OSError) -> DockerApiError:
    if isinstance(error, ConnectionRefusedError):
        return RefusedError(
            text(
                "{host} refuses the connection to {place}: nothing listens there. Start Docker "
                "with that port, or correct the port.",
                host=host,
                place=place,
            )
        )
    if isinstance(error, TimeoutError) or error.errno == errno.ETIMEDOUT:
        return ConnectTimeoutError(
            text(
                "{host} did not answer at {place} within {seconds} seconds: the machine is off, "
                "or a firewall drops the connection.",
                host=host,
                place=place,
                seconds=int(CONNECT_TIMEOUT_S),
            )
        )
    return NoRouteError(
        text(
            "There is no way from the panel to {host} at {place} ({reason}): look at the network "
            "between the two machines.",
            host=host,
            place=place,
            reason=str(error.strerror or error),
        )
    )


def unix_dial(host: str, path: str) -> Dial:
    """Connections to a socket of this machine."""

    def dial(timeout_s: float) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout_s)
            connection.connect(path)
        except PermissionError as error:
            connection.close()
            raise SocketForbiddenError(
                text(
                    "The panel may not open {path} of {host}: add its account to the group that "
                    "owns the socket, then start the panel again.",
                    path=path,
                    host=host,
                )
            ) from error
        except BaseException:
            connection.close()
            raise
        return connection

    return dial
