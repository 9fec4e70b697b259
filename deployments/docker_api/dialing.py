"""Open a connection to where an engine listens; an address is resolved once and its networks are checked.

Loopback, link-local and cloud metadata addresses are refused unless their network is allowed: a host
entered by a person must not lead the panel to itself or to the credentials of its cloud machine.
"""

import errno
import ipaddress
import socket
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from deployments.docker_api.errors import AddressRefusedError, DockerApiError
from deployments.docker_api.way_errors import (
    ConnectTimeoutError,
    NameUnknownError,
    NoRouteError,
    RefusedError,
    SocketForbiddenError,
)
from deployments.planning.engine_address import EngineAddress
from deployments.planning.text import Text, text

CONNECT_TIMEOUT_S = 5.0
Dial = Callable[[float], socket.socket]
"""Open one connection on which every call waits so many seconds at most."""
Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
METADATA: Mapping[Ip, str] = MappingProxyType(
    {
        ipaddress.ip_address(one): cloud
        for one, cloud in (
            ("100.100.100.200", "Alibaba Cloud"),
            ("192.0.0.192", "Oracle Cloud"),
            ("fd00:ec2::254", "AWS"),
        )
    }
)
"""Metadata services outside the link-local networks."""


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
    networks = tuple(ipaddress.ip_network(one) for one in allowed)
    addresses = [_unwrapped(ipaddress.ip_address(row[4][0])) for row in found]
    for one in addresses:
        kind = None if any(one in network for network in networks) else _closed(one)
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


def _unwrapped(ip: Ip) -> Ip:
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return mapped or ip


def _closed(ip: Ip) -> Text | None:
    """What kind of address it is that nobody may enter."""
    if ip in METADATA:
        return text("the metadata service of {cloud}", cloud=METADATA[ip])
    if ip.is_loopback:
        return text("an address of the panel's own machine")
    if ip.is_link_local:
        return text("a link-local address, where clouds serve their metadata")
    if ip.is_unspecified or ip.is_multicast or ip.is_reserved:
        return text("no address of a machine")
    return None


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
