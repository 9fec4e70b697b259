"""The engine of this machine becomes host local; without one, one sentence says so."""

from pathlib import Path

import pytest

from deployments.models import Booking, Cluster, Host, Reachability, Replica
from deployments.services.bootstrap import bootstrap
from deployments.services.local_host import register_local_host
from tests.factories import DeviceFactory, ReplicaFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    bootstrap()
    return Cluster.objects.get(slug="local")


def test_without_an_engine_nothing_is_registered(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    sentence = register_local_host()
    assert "Everything but deploying works" in sentence
    assert not Host.objects.exists()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:2375", "ssh://root@other"])
def test_an_address_that_is_no_socket_is_refused_in_a_sentence(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    assert "unix://" in register_local_host()
    assert not Host.objects.exists()


def test_without_a_cluster_the_order_of_things_is_said() -> None:
    assert "bootstrap" in register_local_host()


@pytest.mark.docker
def test_the_engine_is_registered_once_and_refreshed(
    cluster: Cluster, docker_host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    assert docker_host in register_local_host()
    host = Host.objects.get()
    register_local_host()
    again = Host.objects.get()
    assert again.pk == host.pk
    assert (host.name, host.cluster, host.docker_address) == (
        "local",
        cluster,
        docker_host,
    )
    assert host.reachability == Reachability.REACHABLE
    assert host.docker_engine_id
    assert host.architecture in {"amd64", "arm64"}


@pytest.mark.docker
def test_devices_that_are_gone_are_taken_away(
    cluster: Cluster, docker_host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    register_local_host()
    host = Host.objects.get()
    DeviceFactory.create(host=host, number=900)
    register_local_host()
    assert not host.devices.filter(number=900).exists()


@pytest.mark.docker
def test_another_engine_takes_the_place_only_if_nothing_is_at_stake(
    cluster: Cluster, docker_host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", docker_host)
    register_local_host()
    host = Host.objects.get()
    Host.objects.update(docker_engine_id="BEFORE")
    replica: Replica = ReplicaFactory.create(host=host)
    booking = Booking.objects.create(host=host, replica=replica, port=8000)
    assert "--replace" in register_local_host()
    assert Host.objects.get().docker_engine_id == "BEFORE"
    assert "Registered" in register_local_host(replace=True)
    assert Host.objects.get().docker_engine_id == host.docker_engine_id
    booking.delete()
    Host.objects.update(docker_engine_id="BEFORE")
    assert "Registered" in register_local_host()
