"""Links between Ascend hosts: what the driver's tool prints, as its source and manuals give it, and what follows."""

from dataclasses import replace

import pytest

from deployments.planning.fabric import (
    DeviceLink,
    FabricFinding,
    HostFabric,
    Ping,
    judge_fabric,
    pings_to_try,
)
from deployments.telemetry.device_probe import parts_of
from deployments.telemetry.fabric import read_fabric, read_pings

TLS = (
    "dev_id:0, tls switch[{}](0:disable, 1:enable), tls preconfigured[1](0:non-preset, "
    "1:preset), tls alarm time threshold[60]days"
)
KERNEL = [
    "#probe conf",
    "address_0=10.0.0.10",
    "netmask_0=255.255.255.0",
    "#probe ports",
    "32768\t60999",
    "#probe reserved",
    "60000-60007,61000",
    "#probe interfaces",
    "enp67s0f5 1500",
    "lo 65536",
    "#probe end",
]


def a2(tls: int = 0) -> list[str]:
    return [
        *("#probe 0 link", "link status: UP"),
        *("#probe 0 net_health", "net health status: Success"),
        *("#probe 0 ip", "ipaddr:10.0.0.10", "netmask:255.255.255.0"),
        *("#probe 0 tls", TLS.format(tls)),
        *("#probe 0 mtu", "mtu:8192"),
        *("#probe 1 link", "link status: DOWN"),
        *("#probe 1 net_health", "net health status: Receive timeout"),
        *("#probe 1 ip", "ipaddr:10.0.0.11", "netmask:255.255.255.0"),
        *("#probe 1 tls", "[Error]: no certificate found"),
        "#probe 1 mtu",
        *KERNEL,
    ]


def test_an_a2_host_tells_links_addresses_tls_mtu_and_port_ranges() -> None:
    read = read_fabric(parts_of(a2()), host="h-1", numbers=(0, 1), routed=True)
    assert read.devices == (
        DeviceLink(
            number=0,
            up=True,
            health="Success",
            address="10.0.0.10",
            tls=False,
            mtu=8192,
        ),
        DeviceLink(
            number=1, up=False, health="Receive timeout", address="10.0.0.11", tls=False
        ),
    )
    assert read.configured == {0: "10.0.0.10"}
    assert read.ephemeral == (32768, 60999)
    assert read.reserved == ((60000, 60007), (61000, 61000))
    assert read.interfaces["enp67s0f5"] == 1500


def test_an_a3_host_is_reached_over_the_bus_of_its_super_node() -> None:
    lines = [
        *("#probe 8 link", "link status: DOWN"),
        *("#probe 8 net_health", "net health status: Init"),
        *("#probe 8 vnic", "vnic link status: UP", "vnic ipaddr: 192.168.2.199"),
        *("vnic netmask: 255.255.255.0", "#probe 8 tls", TLS.format(1)),
        "#probe end",
    ]
    read = read_fabric(parts_of(lines), host="h-1", numbers=(8, 9), routed=False)
    assert read.devices == (
        DeviceLink(number=8, up=True, address="192.168.2.199", tls=True),
        DeviceLink(number=9),
    )
    assert read.ephemeral is None


@pytest.mark.parametrize(
    ("answer", "reached"),
    [
        (
            [
                "device 0 PING 192.168.2.199",
                "This pkt ping success!",
                "recv seq 0, time = 12.345us, L1 plane check result = 0x0",
                "3 packets transmitted, 3 received, 0.00% packets loss",
            ],
            True,
        ),
        (["recv time out seq=0", "3 packets transmitted, 0 received"], False),
        (["3 packets transmitted, 0 received, 100.00% packet loss"], False),
        (["3 packets transmitted, 1 received, 66.67% packet loss"], True),
        (["This pkt send fail!"], False),
        (["This device does not support this function."], None),
        ([], None),
    ],
)
def test_whether_a_ping_came_through(
    answer: list[str], *, reached: bool | None
) -> None:
    parts = parts_of(["#probe 0:192.168.2.199", *answer, "#probe end"])
    assert read_pings(parts) == (
        Ping(number=0, address="192.168.2.199", reached=reached),
    )


def host(name: str, *addresses: str, **changes: object) -> HostFabric:
    made = HostFabric(
        host=name,
        routed=True,
        devices=tuple(
            DeviceLink(
                number=number,
                up=True,
                health="Success",
                address=one,
                tls=False,
                mtu=1500,
            )
            for number, one in enumerate(addresses)
        ),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_every_device_asks_one_of_the_next_host() -> None:
    ring = (host("a", "10.0.0.1", "10.0.0.2"), host("b", "10.0.1.1"), host("c"))
    assert pings_to_try(ring) == {
        "a": ((0, "10.0.1.1"), (1, "10.0.1.1")),
        "c": (),
    }
    assert pings_to_try(ring[:1]) == {}


def only(*hosts: HostFabric) -> FabricFinding:
    (found,) = judge_fabric(hosts)
    return found


def test_hosts_that_are_alike_and_reach_each_other_have_no_finding() -> None:
    pings = (Ping(number=0, address="10.0.0.2", reached=True),)
    assert (
        judge_fabric((host("a", "10.0.0.1", pings=pings), host("b", "10.0.0.2"))) == []
    )


def test_what_keeps_ranks_apart_fails_with_a_fix() -> None:
    a, b = host("a", "10.0.0.1"), host("b", "10.0.0.2")
    secure = replace(b, devices=(replace(b.devices[0], tls=True),))
    found = only(
        a,
        replace(
            a,
            host="c",
            devices=(DeviceLink(number=0, address="10.0.0.3", tls=False, mtu=1500),),
        ),
        secure,
    )
    assert found.fails
    assert found.host == "b"
    assert (
        "TLS of the devices of b is on and elsewhere in this plan off" in found.sentence
    )
    assert "-tls -s enable 0" in found.fix
    found = only(a, host("b", "10.0.0.1"))
    assert found.fails
    assert "10.0.0.1 belongs to several devices: a:0, b:0" in found.sentence
    found = only(a, host("b", ""))
    assert found.fails
    assert "No address for other hosts is set on device 0 of b" in found.sentence


def test_a_ping_decides_and_a_link_that_is_called_down_explains() -> None:
    down = DeviceLink(number=0, up=False, address="10.0.0.1", tls=False, mtu=1500)
    lost = (Ping(number=0, address="10.0.0.2", reached=False),)
    there = (Ping(number=0, address="10.0.0.2", reached=True),)
    b = host("b", "10.0.0.2")
    found = only(host("a", devices=(down,), pings=lost), b)
    assert found.fails
    assert found.sentence == (
        "From device 0 of a nothing reaches 10.0.0.2 on the next host (the driver calls the link of "
        "device 0 down)."
    )
    assert judge_fabric((host("a", devices=(down,), pings=there), b)) == []
    found = only(host("a", devices=(down,)), b)
    assert not found.fails
    assert "no ping says otherwise" in found.sentence


def test_mtus_addresses_on_file_and_open_ports_are_told_and_stop_nothing() -> None:
    a = host("a", "10.0.0.1", interface="eth0", interfaces={"eth0": 1500})
    b = host("b", "10.0.0.2", interface="eth1", interfaces={"eth1": 9000})
    found = only(a, b)
    assert not found.fails
    assert "differs (a 1500, b 9000 bytes)" in found.sentence
    other = replace(b, devices=(replace(b.devices[0], mtu=9000),), interfaces={})
    assert "The MTU of the devices differs" in only(a, other).sentence
    found = only(a, host("b", "10.0.0.2", configured={0: "10.9.9.9"}))
    assert "/etc/hccn.conf of b names other addresses" in found.sentence
    found = only(
        a,
        host(
            "b",
            "10.0.0.2",
            ephemeral=(32768, 60999),
            reserved=((60000, 60007),),
            ports=(8000, *range(60000, 60016), 60999),
        ),
    )
    assert not found.fails
    assert "(60008-60015,60999)" in found.sentence
    assert found.fix.rstrip(".").endswith("=60000-60007,60008-60015,60999")
