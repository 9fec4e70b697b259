"""Refuse connections to closed addresses where they are made: at the socket.

A name can lead elsewhere at the second look, and a service can redirect. An audit hook of the
interpreter (PEP 578) sees each connection with the address that it really goes to, whatever library
opens it, and refuses it before a packet leaves.
"""

import ipaddress
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.conf import settings

from deployments.planning.closed_addresses import closed
from deployments.planning.text import Text, text


class ClosedAddressError(OSError):
    """A connection that was refused before it was made."""


@dataclass(slots=True)
class Watch:
    """What one sending met: the sentence of the first refused connection, or nothing."""

    allowed: tuple[str, ...]
    refused: Text | None = None


_watch: ContextVar[Watch | None] = ContextVar("notice_connections", default=None)
_hooked: list[bool] = []


@contextmanager
def guarded_connections() -> Iterator[Watch]:
    """Refuse connections of this thread to addresses that the panel never contacts."""
    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_look)
    watch = Watch(allowed=tuple(settings.NOTICE_NETWORKS_ALLOWED))
    token = _watch.set(watch)
    try:
        yield watch
    finally:
        _watch.reset(token)


def refusal(ip: str, allowed: tuple[str, ...]) -> Text | None:
    """Why the panel does not contact an address; ``None`` where it may.

    Raises:
        ValueError: these words are no IP address.
    """
    kind = closed(ipaddress.ip_address(ip.partition("%")[0]), allowed)
    if kind is None:
        return None
    return text(
        "The address leads to {ip}, {kind}, which the panel does not contact: enter another, or "
        "have an operator allow the network in NOTICE_NETWORKS_ALLOWED.",
        ip=ip,
        kind=kind,
    )


def _look(event: str, args: tuple[object, ...]) -> None:
    if event != "socket.connect":
        return
    watch = _watch.get()
    if watch is None:
        return
    address = args[1]
    try:
        said = refusal(str(address[0]), watch.allowed)  # type: ignore[index]
    except (ValueError, TypeError, IndexError):
        said = text("The address leads to no machine of a network.")
    if said is not None:
        watch.refused = watch.refused or said
        raise ClosedAddressError(said)
