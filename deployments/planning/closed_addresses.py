"""Addresses that the panel never contacts because somebody typed them, unless a setting allows their network.

Loopback, link-local and metadata addresses: an address entered by a person must not lead the panel
to itself or to the credentials of its cloud machine. Private networks (RFC 1918) are no such
addresses: that is where people serve models.
"""

import ipaddress
from collections.abc import Collection, Mapping
from types import MappingProxyType

from deployments.planning.text import Text, text

Ip = ipaddress.IPv4Address | ipaddress.IPv6Address
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


def unwrapped(ip: Ip) -> Ip:
    """The IPv4 address inside an IPv6 one that only carries it."""
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return mapped or ip


def closed(ip: Ip, allowed: Collection[str]) -> Text | None:
    """What kind of address it is that nobody may enter; ``None`` where it may be contacted.

    ``allowed`` are networks such as ``127.0.0.0/8``.
    """
    ip = unwrapped(ip)
    if any(ip in ipaddress.ip_network(one) for one in allowed):
        return None
    if ip in METADATA:
        return text("the metadata service of {cloud}", cloud=METADATA[ip])
    if ip.is_loopback:
        return text("an address of the panel's own machine")
    if ip.is_link_local:
        return text("a link-local address, where clouds serve their metadata")
    if ip.is_unspecified or ip.is_multicast or ip.is_reserved:
        return text("no address of a machine")
    return None
