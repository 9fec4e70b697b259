"""What lets devices of several Ascend hosts reach each other: links, addresses, TLS, MTU and ports.

Sources: the multi-node tutorials of vllm-ascend v0.23.0 (links, addresses, ping between hosts, TLS), and
the environment variables of HCCL in CANN 9 (HCCL_IF_BASE_PORT and the ports that it wants reserved).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from deployments.planning.text import NOTHING, Text, listed, text

HCCL_BASE_PORT = 60_000
HCCL_PORTS = 16
"""HCCL listens on so many ports of the host from its base port on."""
HEALTHY = "success"
MOST_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLink:
    """One device as the driver's tool tells it; ``None`` and an empty text where it did not say.

    ``address`` is where other hosts reach it, ``tls`` whether it encrypts, ``mtu`` in bytes.
    """

    number: int
    up: bool | None = None
    health: str = ""
    address: str = ""
    tls: bool | None = None
    mtu: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Whether a device reached an address of another host; ``None`` where the tool did not say."""

    number: int
    address: str
    reached: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFabric:
    """One host of a plan.

    ``routed`` says that its devices reach others over Ethernet and need addresses of their own (A2),
    not over the bus of a super node (A3). ``configured`` are the addresses in ``/etc/hccn.conf`` by
    device. ``ephemeral`` are the ports that the kernel gives to outgoing connections, ``reserved``
    those that it never does, both inclusive. ``interfaces`` are MTUs by name, ``interface`` the one
    that the plan uses, ``ports`` those that it listens on in the host's network.
    """

    host: str
    routed: bool
    devices: tuple[DeviceLink, ...] = ()
    pings: tuple[Ping, ...] = ()
    configured: Mapping[int, str] = field(default_factory=dict)
    ephemeral: tuple[int, int] | None = None
    reserved: tuple[tuple[int, int], ...] = ()
    interfaces: Mapping[str, int] = field(default_factory=dict)
    interface: str = ""
    ports: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricFinding:
    """What is wrong on one host; ``fails`` where ranks cannot talk, else it may do harm."""

    host: str
    fails: bool
    sentence: Text
    fix: Text = NOTHING


def pings_to_try(hosts: Sequence[HostFabric]) -> dict[str, tuple[tuple[int, str], ...]]:
    """For each host, (device, address) pairs: every device asks one of the next host, in a ring."""
    found: dict[str, tuple[tuple[int, str], ...]] = {}
    for index, host in enumerate(hosts):
        other = hosts[(index + 1) % len(hosts)]
        addresses = [one.address for one in other.devices if one.address]
        if other is host or not addresses:
            continue
        found[host.host] = tuple(
            (one.number, addresses[place % len(addresses)])
            for place, one in enumerate(host.devices)
        )
    return found


def judge_fabric(hosts: Sequence[HostFabric]) -> list[FabricFinding]:
    """Everything that keeps the devices of these hosts from each other, or may."""
    return [
        *_tls(hosts),
        *_doubled(hosts),
        *_device_mtus(hosts),
        *_interface_mtus(hosts),
        *(finding for one in hosts for finding in _host(one)),
    ]


def _host(one: HostFabric) -> Iterator[FabricFinding]:
    yield from _addresses(one)
    yield from _pings(one)
    yield from _ports(one)


def _tls(hosts: Sequence[HostFabric]) -> Iterator[FabricFinding]:
    known = [
        (one.host, link.tls)
        for one in hosts
        for link in one.devices
        if link.tls is not None
    ]
    if len({tls for _host, tls in known}) < 2:
        return
    usual = Counter(tls for _host, tls in known).most_common(1)[0][0]
    for name in dict.fromkeys(host for host, tls in known if tls is not usual):
        yield FabricFinding(
            host=name,
            fails=True,
            sentence=text(
                "TLS of the devices of {host} is {here} and elsewhere in this plan {there}: HCCL connects "
                "only where it is the same everywhere.",
                host=name,
                here=text("off") if usual else text("on"),
                there=text("on") if usual else text("off"),
            ),
            fix=text(
                "Set it alike on every device: hccn_tool -i DEVICE -tls -s enable 0 (off) or 1 (on)."
            ),
        )


def _doubled(hosts: Sequence[HostFabric]) -> Iterator[FabricFinding]:
    """Addresses on Ethernet; those of super nodes may be alike in two of them."""
    owners: dict[str, list[str]] = {}
    for one in hosts:
        for link in one.devices if one.routed else ():
            if link.address:
                owners.setdefault(link.address, []).append(f"{one.host}:{link.number}")
    for address, names in owners.items():
        if len(names) > 1:
            yield FabricFinding(
                host=names[-1].partition(":")[0],
                fails=True,
                sentence=text(
                    "The address {address} belongs to several devices: {names}.",
                    address=address,
                    names=listed(names[:MOST_NAMED]),
                ),
                fix=text("Give each device an address of its own in /etc/hccn.conf."),
            )


def _device_mtus(hosts: Sequence[HostFabric]) -> Iterator[FabricFinding]:
    known = {
        one.host: sorted({link.mtu for link in one.devices if link.mtu is not None})
        for one in hosts
    }
    if len({mtu for each in known.values() for mtu in each}) > 1:
        yield _mtu(known, text("the devices"), "hccn_tool -i DEVICE -mtu -s size BYTES")


def _interface_mtus(hosts: Sequence[HostFabric]) -> Iterator[FabricFinding]:
    known = {
        one.host: [one.interfaces[one.interface]]
        for one in hosts
        if one.interface in one.interfaces
    }
    if len({mtu for each in known.values() for mtu in each}) > 1:
        yield _mtu(
            known,
            text("the interfaces that the plan names"),
            "ip link set dev INTERFACE mtu BYTES",
        )


def _mtu(known: Mapping[str, Sequence[int]], what: Text, command: str) -> FabricFinding:
    told = [
        f"{host} {', '.join(map(str, each))}" for host, each in known.items() if each
    ]
    return FabricFinding(
        host=next(host for host, each in known.items() if each),
        fails=False,
        sentence=text(
            "The MTU of {what} differs ({told} bytes): large packets may be lost.",
            what=what,
            told=listed(told[:MOST_NAMED]),
        ),
        fix=text("Set the same everywhere: {command}.", command=command),
    )


def _addresses(one: HostFabric) -> Iterator[FabricFinding]:
    without = [link.number for link in one.devices if not link.address]
    if without and one.routed:
        yield FabricFinding(
            host=one.host,
            fails=True,
            sentence=text(
                "No address for other hosts is set on {devices} of {host}.",
                devices=_numbers(without),
                host=one.host,
            ),
            fix=text(
                "Set one for each: hccn_tool -i DEVICE -ip -s address ADDRESS netmask MASK."
            ),
        )
    other = [
        link.number
        for link in one.devices
        if link.address
        and one.configured.get(link.number, link.address) != link.address
    ]
    if other and one.routed:
        yield FabricFinding(
            host=one.host,
            fails=False,
            sentence=text(
                "/etc/hccn.conf of {host} names other addresses than the driver has for {devices}.",
                host=one.host,
                devices=_numbers(other),
            ),
            fix=text("Write the addresses of the driver into /etc/hccn.conf."),
        )


def _pings(one: HostFabric) -> Iterator[FabricFinding]:
    """A link is judged by what gets through: drivers were seen to call working ones down."""
    lost = [ping for ping in one.pings if ping.reached is False]
    reached = {ping.number for ping in one.pings if ping.reached}
    down = [
        link.number
        for link in one.devices
        if link.up is False or link.health.lower() not in {"", HEALTHY}
    ]
    if lost:
        bad = sorted({ping.number for ping in lost} & set(down))
        yield FabricFinding(
            host=one.host,
            fails=True,
            sentence=text(
                "From {devices} of {host} nothing reaches {addresses} on the next host{links}.",
                devices=_numbers(ping.number for ping in lost),
                host=one.host,
                addresses=listed([ping.address for ping in lost][:MOST_NAMED]),
                links=text(
                    " (the driver calls the link of {devices} down)",
                    devices=_numbers(bad),
                )
                if bad
                else NOTHING,
            ),
            fix=text("Look at cables, switch ports and VLANs of these devices."),
        )
    silent = [number for number in down if number not in reached]
    silent = [number for number in silent if number not in {one.number for one in lost}]
    if silent:
        yield FabricFinding(
            host=one.host,
            fails=False,
            sentence=text(
                "The driver of {host} calls the link of {devices} down or ill, and no ping says otherwise.",
                host=one.host,
                devices=_numbers(silent),
            ),
            fix=text("Look at cables, switch ports and VLANs of these devices."),
        )


def _ports(one: HostFabric) -> Iterator[FabricFinding]:
    if one.ephemeral is None:
        return
    low, high = one.ephemeral
    open_to_all = sorted(
        port
        for port in set(one.ports)
        if low <= port <= high
        and not any(first <= port <= last for first, last in one.reserved)
    )
    if open_to_all:
        ranges = ",".join(_ranges(open_to_all))
        yield FabricFinding(
            host=one.host,
            fails=False,
            sentence=text(
                "The kernel of {host} may give ports that this plan listens on ({ports}) to any outgoing "
                "connection, since they lie in {low} to {high} and are not reserved.",
                host=one.host,
                ports=ranges,
                low=low,
                high=high,
            ),
            fix=text(
                "Reserve them there, beside those that are: sysctl -w "
                "net.ipv4.ip_local_reserved_ports={ports}",
                ports=",".join((*(_range(*each) for each in one.reserved), ranges)),
            ),
        )


def _ranges(ports: Sequence[int]) -> Iterator[str]:
    first = last = ports[0]
    for port in ports[1:]:
        if port != last + 1:
            yield _range(first, last)
            first = port
        last = port
    yield _range(first, last)


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _numbers(numbers: Iterable[int]) -> Text:
    every = sorted(set(numbers))
    return text("device {numbers}", numbers=",".join(_ranges(every)))
