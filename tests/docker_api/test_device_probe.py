"""The probe, and the check of links, on a real Docker Engine with stand-in Ascend nodes and tools.

The hardware cannot exist here: nodes are /dev/null, npu-smi and hccn_tool are scripts that print what
they see mapped, so the tests prove what is mapped, for how long and what is kept or made of it, and
nothing about NPUs.
"""

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.containers import (
    create_container,
    list_containers,
    start_container,
)
from deployments.docker_api.held_devices import HeldDevices, held_devices
from deployments.docker_api.images import ImageFacts, find_image, import_image
from deployments.docker_api.policy import ContainerPolicy
from deployments.docker_api.reading import as_object
from deployments.docker_api.short_containers import create_short_container
from deployments.models import (
    Host,
    HostProbe,
    Platform,
    Preflight,
    Release,
    Replica,
)
from deployments.planning.container import (
    ContainerSpec,
    DeviceNode,
    ImageReference,
    Mount,
    NetworkMode,
)
from deployments.planning.text import text_from_document
from deployments.services import device_probe
from deployments.services.host_probe import probe_is_running, run_probe
from deployments.services.rollout import fabric_check
from deployments.services.rollout.checklist import Checklist
from deployments.services.rollout.fabric_check import prove_fabric
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Layout, Member
from deployments.services.short_run import ShortAnswer, ShortRun, run_short
from deployments.services.throwaway import OWNER, PURPOSE, remove_for_good
from deployments.telemetry.fabric import CONFIGURATION, TOOL
from tests.docker_api import stand_in_host
from tests.docker_api.busybox import busybox_archive
from tests.environment.docker_engine import PrivateEngine
from tests.factories import (
    BookingFactory,
    ClusterFactory,
    DeviceFactory,
    HostFactory,
    ReleaseFactory,
)
from tests.plan_values import plan_value, planned_replica
from tests.probe_rows import ProbeSettingsFactory

pytestmark = [pytest.mark.docker, pytest.mark.django_db]

REPOSITORY, TAG = "draftboard-test/busybox", "1"
IMAGE = f"{REPOSITORY}:{TAG}"
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine on a host with stand-in device nodes, and an image with a shell."""
    if os.environ.get("REQUIRE_DOCKER") != "1":
        pytest.skip("needs the right to start a Docker Engine: run `make test`.")
    folder = tmp_path_factory.mktemp("probed")
    surroundings = (
        *("unshare", "--mount", "--propagation", "private"),
        *(sys.executable, stand_in_host.__file__, str(folder)),
    )
    private = PrivateEngine(folder, within=surroundings)
    private.start()
    try:
        with open_engine(private.url, host="a3-01") as opened:
            yield opened
    finally:
        private.stop()


@pytest.fixture(scope="module")
def image_id(engine: Engine) -> str:
    """The id of the image that probes and holders are made of."""
    return import_image(
        engine, busybox_archive(), repository=REPOSITORY, tag=TAG, changes=()
    )


@pytest.fixture
def host(engine: Engine, image_id: str) -> Iterator[Host]:
    """That host, registered; nothing of a probe is left on it."""
    row: Host = HostFactory.create(
        name="a3-01", platform=Platform.ASCEND_A3, docker_address=engine.address
    )
    ProbeSettingsFactory.create(cluster=row.cluster, image=IMAGE)
    yield row
    assert list_containers(engine, label=f"{PURPOSE}=probe") == ()
    assert not probe_is_running(row)


@contextmanager
def holding(engine: Engine, image_id: str, *numbers: int) -> Iterator[str]:
    """A container of somebody else that holds devices."""
    paths = [f"/dev/davinci{number}" for number in numbers]
    spec = ContainerSpec(
        name=f"holder-{uuid.uuid4().hex[:8]}",
        image=ImageReference(reference=IMAGE),
        command=("/bin/sh", "-c", "exec sleep 600"),
        devices=tuple(DeviceNode(host_path=one, container_path=one) for one in paths),
        shm_size_bytes=1 << 20,
    )
    container_id = create_container(
        engine, spec, image_id=image_id, labels={}, policy=ContainerPolicy()
    )
    try:
        start_container(engine, container_id)
        yield spec.name
    finally:
        remove_for_good(engine, container_id)


def probed(host: Host) -> HostProbe:
    run_probe(host.pk)
    return HostProbe.objects.get(host=host)


def test_free_devices_are_read_and_held_ones_are_never_mapped(
    host: Host, engine: Engine, image_id: str
) -> None:
    for number in range(16):
        DeviceFactory.create(host=host, number=number, name="", memory_bytes=None)
    BookingFactory.create(host=host, device=5, port=None)
    with holding(engine, image_id, 2) as name:
        assert held_devices(engine).numbers == {2}
        found = probed(host)
        assert name in [one.name for one in list_containers(engine) if one.running]
    # Both dies of a card are left alone when one of them is held.
    assert found.held == [2, 3, 4, 5]
    assert found.problem == ""
    assert (found.driver_version, found.firmware_version) == ("26.0.rc2", "7.9.0.1.2")
    assert found.compatible is True
    rows = {row.number: row for row in host.devices.all()}
    assert {number for number, row in rows.items() if row.read_at is None} == {
        *(2, 3, 4, 5)
    }
    assert rows[5].healthy is None
    assert rows[8].used_bytes == 3008 * MIB
    assert rows[8].free_bytes == (65536 - 3008) * MIB
    assert (rows[8].name, rows[8].memory_bytes) == ("Ascend910", 65536 * MIB)
    assert [number for number, row in rows.items() if row.healthy is False] == [9]


def test_what_was_entered_by_hand_changes_only_when_all_was_seen(
    host: Host, engine: Engine, image_id: str
) -> None:
    for number in range(16):
        DeviceFactory.create(host=host, number=number, name="910C", memory_bytes=MIB)
    with holding(engine, image_id, 0):
        run_probe(host.pk)
    assert set(host.devices.values_list("name", "memory_bytes")) == {("910C", MIB)}
    assert host.devices.exclude(read_at=None).count() == 14
    run_probe(host.pk)
    assert set(host.devices.values_list("name", "memory_bytes")) == {
        ("Ascend910", 65536 * MIB)
    }


def test_a_device_without_its_node_is_told_apart(host: Host) -> None:
    for number in range(18):
        DeviceFactory.create(host=host, number=number)
    found = probed(host)
    assert found.problem == ""
    ill = host.devices.filter(healthy=False).values_list("number", flat=True)
    assert list(ill) == [9, 16, 17]


def test_a_privileged_container_may_hold_any_device(
    host: Host, engine: Engine, image_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped: list[object] = []

    def spied(*arguments: object) -> object:
        run = arguments[2]
        assert isinstance(run, ShortRun)
        mapped.extend(run.devices)
        return run_short(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(device_probe, "run_short", spied)
    monkeypatch.setattr(
        device_probe,
        "held_devices",
        lambda _engine: HeldDevices(unclear=("exporter",)),
    )
    found = probed(host)
    assert "exporter" in found.problem
    assert len(found.held) == 16
    assert mapped == []
    assert not host.devices.exists()


def test_a_privileged_probe_sees_everything_where_a_cluster_allows_it(
    host: Host, engine: Engine, image_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ShortRun] = []

    def without_privileges(
        engine: Engine, image: ImageFacts, run: ShortRun
    ) -> ShortAnswer:
        """Not every machine of tests may start privileged containers; this one maps all instead."""
        asked.append(run)
        if run.privileged:
            assert run.devices == ()
            nodes = tuple(
                DeviceNode(host_path=one, container_path=one)
                for one in stand_in_host.NODES
            )
            run = replace(run, privileged=False, devices=nodes)
        return run_short(engine, image, run)

    monkeypatch.setattr(device_probe, "run_short", without_privileges)
    host.cluster.probe_settings.privileged = True
    host.cluster.probe_settings.save()
    with holding(engine, image_id, 2):
        found = probed(host)
    assert [run.privileged for run in asked] == [False, True]
    assert (found.problem, found.held) == ("", [])
    assert host.devices.exclude(read_at=None).count() == 16


@pytest.mark.parametrize("privileged", [False, True])
def test_a_short_container_is_read_only_and_privileged_on_request_alone(
    engine: Engine,
    image_id: str,
    privileged: bool,  # noqa: FBT001
) -> None:
    spec = ContainerSpec(
        name=f"short-{uuid.uuid4().hex[:8]}",
        image=ImageReference(reference=IMAGE),
        command=("/bin/sh",),
        shm_size_bytes=1 << 20,
    )
    container_id = create_short_container(
        engine,
        spec,
        image_id=image_id,
        labels={},
        policy=ContainerPolicy(),
        privileged=privileged,
    )
    row = as_object(engine.call("GET", f"/containers/{container_id}/json", act="look"))
    remove_for_good(engine, container_id)
    settings = as_object(row["HostConfig"])
    assert settings["Privileged"] is privileged
    assert settings["ReadonlyRootfs"] is True


def test_an_image_that_is_not_there_is_said(host: Host) -> None:
    host.cluster.probe_settings.image = "acme/nowhere:1"
    host.cluster.probe_settings.save()
    assert "acme/nowhere:1 of the probe is not on a3-01" in probed(host).problem
    host.cluster.probe_settings.image = ""
    host.cluster.probe_settings.save()
    assert "no image of quay.io/ascend/vllm-ascend" in probed(host).problem


def test_a_host_without_the_container_runtime_of_nvidia_is_said(host: Host) -> None:
    Host.objects.filter(pk=host.pk).update(platform=Platform.NVIDIA)
    assert "no accelerator of this kind" in probed(host).problem
    DeviceFactory.create(host=host, number=0)
    assert "could not" in probed(host).problem


def test_what_a_killed_worker_left_is_removed(
    host: Host, engine: Engine, image_id: str
) -> None:
    spec = ContainerSpec(
        name=f"draftboard-probe-{uuid.uuid4().hex[:12]}",
        image=ImageReference(reference=IMAGE),
        command=("/bin/sh", "-c", "exec sleep 600"),
        shm_size_bytes=1 << 20,
    )
    owner = {PURPOSE: "probe", OWNER: device_probe.owner_of(host)}
    left = create_container(
        engine, spec, image_id=image_id, labels=owner, policy=ContainerPolicy()
    )
    start_container(engine, left)
    assert probed(host).problem == ""


def test_a_probe_that_hangs_is_ended_in_time(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_probe, "LONGEST_S", 0.5)
    monkeypatch.setattr(device_probe, "LOOK", "while :; do sleep 1; done")
    assert "took longer than" in probed(host).problem


def test_nothing_can_be_written_in_a_probe_and_nothing_reached(
    host: Host, engine: Engine, image_id: str
) -> None:
    image = find_image(engine, IMAGE)
    assert image is not None
    script = (
        "echo x 2>&1 > /written || echo read-only; cat /proc/net/route | tail -n +2;"
        " echo done"
    )
    run = ShortRun(purpose="probe", owner="t", command=("/bin/sh", "-c", script))
    answer = run_short(engine, image, run)
    assert [line for line in answer.lines if "Read-only" not in line] == [
        "read-only",
        "done",
    ]


class Two(Layout):
    """Two hosts with one replica each."""

    def keep_alive(self) -> None:
        """Nobody waits."""


Make = Callable[[int, int], Two]


@pytest.fixture
def two(engine: Engine, image_id: str) -> Iterator[Make]:
    cluster = ClusterFactory.create()
    hosts = [
        HostFactory.create(
            cluster=cluster,
            name=f"a3-0{number}",
            platform=Platform.ASCEND_A3,
            docker_address=engine.address,
        )
        for number in (1, 2)
    ]
    release: Release = ReleaseFactory.create()

    def make(*devices: int) -> Two:
        members = []
        for host, device in zip(hosts, devices, strict=True):
            plain = planned_replica(host=host.name, devices=(device,), port=8000)
            container = replace(
                plain.container,
                image=ImageReference(reference=IMAGE, image_id=image_id),
                mounts=tuple(
                    Mount(source=one, target=one) for one in (TOOL, CONFIGURATION)
                ),
                network_mode=NetworkMode.HOST,
            )
            row = Replica(release=release, host=host, role="combined")
            members.append(Member(row, replace(plain, container=container)))
        return Two(release, plan_value(), tuple(members))

    yield make
    assert list_containers(engine, label=f"{PURPOSE}=fabric") == ()


def told(layout: Two, *, trial: bool = True) -> list[tuple[str, str]]:
    """State and sentence of each host."""
    found = Checklist(layout.release.request_id, trial=trial)
    try:
        with layout:
            prove_fabric(layout, found)
    finally:
        found.store()
    return [
        (row["state"], str(text_from_document(row["sentence"])))
        for row in Preflight.objects.get(request=layout.release.request_id).results
    ]


def test_dies_that_reach_each_other_pass_and_open_ports_are_noted(two: Make) -> None:
    for state, sentence in told(two(0, 8)):
        assert state in {"passed", "noted"}
        assert "reach those of the next host" in sentence or "60000-60015" in sentence


def test_one_host_alone_and_another_platform_are_asked_nothing(two: Make) -> None:
    layout = two(0, 8)
    layout.members = layout.members[:1]
    assert told(layout) == []


def test_dies_that_do_not_reach_the_next_host_fail_and_end_a_release(two: Make) -> None:
    layout = two(0, 5)
    (first, said), (second, _said) = told(layout)
    assert (first, second != "failed") == ("failed", True)
    assert "From device 0 of a3-01 nothing reaches 10.1.1.5 on the next host." in said
    with pytest.raises(StepFailedError, match=r"nothing reaches 10\.1\.1\.5"):
        told(layout, trial=False)


def test_tls_that_differs_fails_and_held_dies_are_left_alone(
    two: Make, engine: Engine, image_id: str
) -> None:
    layout = two(0, 15)
    states = [state for state, sentence in told(layout) if "TLS" in sentence]
    assert states == ["failed"]
    with holding(engine, image_id, 14):
        _first, (state, said) = told(layout)
    assert state == "unchecked"
    assert "containers hold its devices" in said


def test_a_host_without_addresses_on_file_is_told_before_anything_stops(
    two: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fabric_check, "CONFIGURATION", "/etc/hccn.conf.gone")
    layout = two(0, 8)
    said = (
        "{} has no /etc/hccn.conf.gone, in which the driver keeps the addresses of its devices and which "
        "the containers of this plan mount."
    )
    assert told(layout) == [("failed", said.format(f"a3-0{one}")) for one in (1, 2)]
    with pytest.raises(StepFailedError, match=r"a3-01 has no /etc/hccn\.conf"):
        told(layout, trial=False)
