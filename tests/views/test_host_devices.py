"""Devices that a team admin enters, counted or read from a tool's output."""

from pathlib import Path

import pytest
from django.test import Client

from deployments.models import Cluster, Host
from tests.factories import BookingFactory, DeviceFactory, HostFactory, ReplicaFactory
from tests.views.pages import queries_for, text_of

OUTPUTS = Path(__file__).parent.parent / "telemetry" / "fixtures" / "accelerators"


@pytest.fixture
def host(cluster: Cluster) -> Host:
    """A host that nobody knows the devices of."""
    return HostFactory.create(cluster=cluster, name="a3-07")


def shown(host: Host) -> list[tuple[int, str, int | None, bool | None]]:
    return [
        (one.number, one.name, one.memory_bytes, one.healthy)
        for one in host.devices.order_by("number")
    ]


def test_the_output_of_npu_smi_makes_devices(as_dora: Client, host: Host) -> None:
    DeviceFactory.create(host=host, number=5)
    output = (OUTPUTS / "npu-smi-26.0.rc2-a3.txt").read_text("utf-8")
    answer = as_dora.post(f"/fleet/hosts/{host.pk}/devices/", {"output": output})
    assert answer.status_code == 302
    assert shown(host) == [
        (0, "Ascend910", 65536 * 1024**2, True),
        (1, "Ascend910", 65536 * 1024**2, True),
    ]


def test_devices_are_counted_and_unknown_stays_unknown(
    as_dora: Client, host: Host
) -> None:
    path = f"/fleet/hosts/{host.pk}/devices/"
    as_dora.post(path, {"count": "2", "name": "H200", "memory": "141"})
    assert shown(host) == [(n, "H200", 141 * 1024**3, None) for n in (0, 1)]
    as_dora.post(path, {"count": "1"})
    assert shown(host) == [(0, "", None, None)]
    as_dora.post(path, {"count": "0"})
    assert shown(host) == []


def test_a_device_that_a_replica_holds_stays(as_dora: Client, host: Host) -> None:
    for number in (0, 3):
        DeviceFactory.create(host=host, number=number)
    replica = ReplicaFactory.create(
        host=host, release__deployment__cluster=host.cluster
    )
    BookingFactory.create(replica=replica, device=3)
    answer = as_dora.post(f"/fleet/hosts/{host.pk}/devices/", {"count": "2"})
    assert answer.status_code == 409
    assert "hold device 3" in text_of(answer)
    assert [number for number, *_ in shown(host)] == [0, 3]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "Paste an output, or say how many"),
        ({"output": "hello"}, "No devices can be read from this"),
        ({"count": "-1"}, "greater than or equal to 0"),
        ({"count": "9999"}, "less than or equal to 128"),
    ],
)
def test_what_cannot_be_read_is_said(
    form: dict[str, str], words: str, as_dora: Client, host: Host
) -> None:
    answer = as_dora.post(f"/fleet/hosts/{host.pk}/devices/", form)
    assert answer.status_code == 422
    assert words in text_of(answer)


def test_only_admins_enter_devices(as_alice: Client, host: Host) -> None:
    path = f"/fleet/hosts/{host.pk}/devices/"
    assert as_alice.post(path, {"count": "8"}).status_code == 403
    assert "enter the devices" in text_of(as_alice.get(path))
    assert queries_for(as_alice, path) <= 12
