"""The devices of a host as the last probe left them, asking for another one, and its settings."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from deployments.models import Cluster, Host, HostProbe, Platform, ProbeSettings
from deployments.planning.text import text
from tests.factories import DeviceFactory, HostFactory
from tests.probe_rows import HostProbeFactory
from tests.views.pages import HTMX, parsed, queries_for, text_of

GIB = 1024**3


@pytest.fixture
def host(cluster: Cluster) -> Host:
    """An Atlas A3 host of which one die was looked at and one is held."""
    row: Host = HostFactory.create(
        cluster=cluster, name="a3-01", platform=Platform.ASCEND_A3
    )
    now = timezone.now()
    DeviceFactory.create(
        host=row,
        number=0,
        name="Ascend910",
        memory_bytes=64 * GIB,
        used_bytes=3 * GIB,
        free_bytes=61 * GIB,
        healthy=False,
        read_at=now - timedelta(minutes=7),
    )
    DeviceFactory.create(host=row, number=1, name="", memory_bytes=None)
    HostProbeFactory.create(
        host=row,
        asked_at=now - timedelta(minutes=8),
        begun_at=now - timedelta(minutes=7),
        ended_at=now - timedelta(minutes=7),
        read_at=now - timedelta(minutes=7),
        image="quay.io/ascend/vllm-ascend:v0.23.0-a3",
        driver_version="25.5.2",
        firmware_version="7.8.0.7.220",
        compatible=False,
        cann_version="9.1.0",
        held=[1],
        problem=text("npu-smi was slow."),
    )
    return row


def test_memory_health_driver_and_age(as_dora: Client, host: Host) -> None:
    page = parsed(as_dora.get(f"/fleet/hosts/{host.pk}/"))
    section = page.select_one("#host-devices")
    assert section is not None
    words = " ".join(section.get_text(" ").split())
    for expected in (
        *("Driver 25.5.2", "Firmware 7.8.0.7.220 does not fit the driver"),
        *("CANN in the image 9.1.0", "Not looked at, since held 1"),
        *("looked at", "npu-smi was slow.", "unhealthy"),
    ):
        assert expected in words
    rows = [
        [cell.get_text(" ").strip() for cell in row.select("td")]
        for row in section.select("tbody tr")
    ]
    assert [row[2:5] for row in rows] == [
        ["64\u00a0GiB", "3\u00a0GiB", "61\u00a0GiB"],
        ["no data"] * 3,
    ]
    assert (rows[0][1], rows[1][1], rows[1][5]) == ("unhealthy", "no data", "no data")


def test_the_page_waits_for_a_worker_and_no_longer(as_dora: Client, host: Host) -> None:
    path = f"/fleet/hosts/{host.pk}/probe/"
    assert as_dora.post(path).status_code == 302
    assert HostProbe.objects.filter(asked_at__isnull=False).exists()
    section = parsed(as_dora.get(f"/fleet/hosts/{host.pk}/")).select_one(
        "#host-devices"
    )
    assert section is not None
    polled = str(section["hx-get"])
    assert "A worker is looking at the devices." in section.get_text()
    assert section.select("button") == []
    assert as_dora.get(polled, headers=HTMX).status_code == 204
    HostProbe.objects.update(
        begun_at=timezone.now(), ended_at=timezone.now(), problem=""
    )
    done = as_dora.get(polled, headers=HTMX)
    assert "hx-get" not in done.content.decode()
    assert "Look at the devices" in done.content.decode()


def test_only_an_admin_asks(as_alice: Client, host: Host) -> None:
    page = as_alice.get(f"/fleet/hosts/{host.pk}/")
    assert "Look at the devices" not in text_of(page)
    assert as_alice.post(f"/fleet/hosts/{host.pk}/probe/").status_code == 403


def test_an_admin_decides_how_hosts_are_looked_at(
    as_dora: Client, as_alice: Client, cluster: Cluster, host: Host
) -> None:
    path = f"/fleet/clusters/{cluster.pk}/probe/"
    assert "the image of the engine itself" in text_of(as_alice.get(path))
    assert as_alice.post(path, {"image": "a:1"}).status_code == 403
    refused = as_dora.post(path, {"image": "two words"})
    assert refused.status_code == 422
    assert "is no image" in text_of(refused)
    kept = as_dora.post(path, {"image": "acme/probe:1", "repeats": "on"})
    assert kept.status_code == 302
    row = ProbeSettings.objects.get(cluster=cluster)
    assert (row.image, row.repeats, row.privileged) == ("acme/probe:1", True, False)
    assert "acme/probe:1" in text_of(as_alice.get(path))


def test_few_queries(as_dora: Client, cluster: Cluster, host: Host) -> None:
    for number in range(2, 16):
        DeviceFactory.create(host=host, number=number)
    assert queries_for(as_dora, f"/fleet/hosts/{host.pk}/") <= 12
    assert queries_for(as_dora, f"/fleet/clusters/{cluster.pk}/probe/") <= 12
