"""When hosts are probed, by whom, and what is kept; the engine itself is in tests/docker_api."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from deployments.models import Host, HostProbe, Platform, Reachability, TeamRole
from deployments.planning.text import text
from deployments.services import host_probe
from deployments.services.device_probe import Found
from deployments.services.errors import NotAllowedError
from deployments.services.host_probe import (
    hosts_to_probe,
    probe_is_running,
    run_probe,
    store_found,
)
from deployments.services.probe_requests import ask_for_probe
from deployments.services.probe_settings import ProbeChoice, change_probe
from deployments.services.short_run import ShortRunError
from deployments.telemetry.accelerators import Accelerator
from deployments.telemetry.device_probe import Look, Told
from tests.factories import DeviceFactory, HostFactory, member
from tests.probe_rows import HostProbeFactory, ProbeSettingsFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def host() -> Host:
    row: Host = HostFactory.create(
        platform=Platform.NVIDIA, reachability=Reachability.REACHABLE
    )
    return row


def test_only_an_admin_asks_and_decides(
    host: Host, django_capture_on_commit_callbacks: object
) -> None:
    viewer = member(host.cluster.team, "vera", TeamRole.OPERATOR)
    with pytest.raises(NotAllowedError):
        ask_for_probe(viewer, host)
    choice = ProbeChoice(image="a:1", repeats=True, privileged=False)
    with pytest.raises(NotAllowedError):
        change_probe(viewer, host.cluster, choice)
    assert hosts_to_probe() == []
    admin = member(host.cluster.team, "alice", TeamRole.ADMIN)
    ask_for_probe(admin, host)
    assert hosts_to_probe() == [host.pk]
    change_probe(admin, host.cluster, choice)
    change_probe(admin, host.cluster, choice)
    assert host.cluster.probe_settings.repeats is True


def test_reachable_hosts_are_probed_again_where_their_cluster_repeats_it(
    host: Host,
) -> None:
    ProbeSettingsFactory.create(cluster=host.cluster, repeats=True)
    HostFactory.create(cluster=host.cluster, platform=Platform.CPU)
    assert hosts_to_probe() == [host.pk]
    row = HostProbeFactory.create(host=host, begun_at=Now(), ended_at=Now())
    assert hosts_to_probe() == []
    HostProbe.objects.filter(pk=row.pk).update(ended_at=Now() - timedelta(minutes=11))
    assert hosts_to_probe() == [host.pk]
    Host.objects.filter(pk=host.pk).update(
        reachability=Reachability.UNREACHABLE, unreachable_since=Now()
    )
    assert hosts_to_probe() == []


def test_a_probe_whose_worker_was_lost_is_taken_over(host: Host) -> None:
    row = HostProbeFactory.create(host=host, begun_at=Now())
    assert probe_is_running(host)
    assert hosts_to_probe() == []
    HostProbe.objects.filter(pk=row.pk).update(begun_at=Now() - timedelta(minutes=4))
    assert not probe_is_running(host)
    assert hosts_to_probe() == [host.pk]


def test_two_workers_do_not_probe_one_host_at_once(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    HostProbeFactory.create(host=host, begun_at=Now())
    monkeypatch.setattr(host_probe, "open_host", lambda _host: pytest.fail("opened"))
    run_probe(host.pk)
    assert probe_is_running(host)


def test_a_failure_ends_the_probe_and_keeps_what_was_known(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    HostProbeFactory.create(host=host, driver_version="580.65.06")

    def refuse(_host: Host) -> object:
        raise ShortRunError(text("No image is there."))

    monkeypatch.setattr(host_probe, "open_host", refuse)
    run_probe(host.pk)
    row = HostProbe.objects.get()
    assert (row.problem, row.driver_version) == ("No image is there.", "580.65.06")
    assert row.ended_at is not None
    assert row.read_at is None


def test_an_unexpected_end_leaves_no_probe_that_runs_for_ever(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_host: Host) -> object:
        raise RuntimeError("time limit")

    monkeypatch.setattr(host_probe, "open_host", broken)
    with pytest.raises(RuntimeError):
        run_probe(host.pk)
    assert not probe_is_running(host)
    assert "ended from outside" in HostProbe.objects.get().problem


def test_names_of_gpus_that_are_held_come_from_the_kernel(host: Host) -> None:
    look = Look(count=2, names=("NVIDIA H100", "NVIDIA H100"), driver_version="580.1.2")
    told = Told(devices=(Accelerator(number=1, name="NVIDIA H100", memory_bytes=80),))
    store_found(host, Found(image="a:1", look=look, told=told, held=(0,)))
    assert list(host.devices.values_list("name", "memory_bytes", "healthy")) == [
        ("NVIDIA H100", None, None),
        ("NVIDIA H100", 80, None),
    ]
    assert host.devices.get(number=0).read_at is None
    row = HostProbe.objects.get()
    assert (row.driver_version, row.held, row.image) == ("580.1.2", [0], "a:1")


def test_a_device_that_is_not_seen_stays_as_it_was(host: Host) -> None:
    DeviceFactory.create(host=host, number=0, name="by hand", memory_bytes=7)
    store_found(host, Found(image="a:1", look=Look()))
    assert host.devices.get().memory_bytes == 7
    cards = (Accelerator(number=0, name="MI300X", memory_bytes=192, used_bytes=2),)
    store_found(host, Found(image="a:1", look=Look(count=1, cards=cards)))
    device = host.devices.get()
    assert (device.name, device.memory_bytes, device.used_bytes) == ("MI300X", 192, 2)
