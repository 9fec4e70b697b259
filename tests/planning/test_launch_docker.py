"""The launch script and the Engine API body make the same container on a real Docker Engine."""

import io
import os
import shutil
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from docker import APIClient

from deployments.planning.container import (
    ContainerSpec,
    HealthCheck,
    ImageReference,
    Mount,
    NetworkMode,
    PortMapping,
)
from deployments.planning.launch.engine_api import create_body
from deployments.planning.launch.script import launch_script

pytestmark = pytest.mark.docker
IMAGE = "draftboard/launch-test:1"
COMPARED = {
    "Config": (
        "Cmd",
        "Entrypoint",
        "Env",
        "Labels",
        "ExposedPorts",
        "StopTimeout",
        "User",
    ),
    "HostConfig": (
        "NetworkMode",
        "IpcMode",
        "CapDrop",
        "CapAdd",
        "SecurityOpt",
        "GroupAdd",
        "PidsLimit",
        "ShmSize",
        "Init",
        "Privileged",
        "AutoRemove",
        "RestartPolicy",
        "Devices",
        "PortBindings",
        "Ulimits",
        "LogConfig",
    ),
}


@pytest.fixture(scope="module")
def engine(docker_host: str) -> Iterator[APIClient]:
    busybox = shutil.which("busybox")
    assert busybox, "install busybox-static"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(busybox, arcname="bin/busybox")
        archive.add(busybox, arcname="bin/sh")
    client = APIClient(base_url=docker_host, version="auto")
    changes = ['ENTRYPOINT ["/bin/false"]', "ENV PATH=/bin"]
    client.import_image_from_data(
        packed.getvalue(),
        repository=IMAGE.split(":", maxsplit=1)[0],
        tag="1",
        changes=changes,
    )
    yield client
    client.remove_image(IMAGE, force=True)
    client.close()


@pytest.fixture
def container(tmp_path: Path) -> ContainerSpec:
    models = tmp_path / "my models"
    models.mkdir()
    return ContainerSpec(
        name=f"launch-test-{uuid.uuid4().hex[:8]}",
        image=ImageReference(reference=IMAGE),
        command=("/bin/busybox", "sleep", "30"),
        environment=(("A", "it's $HOME"), ("B", "1 2")),
        mounts=(Mount(source=str(models), target="/models"),),
        cap_add=("SYS_NICE",),
        ports=(
            PortMapping(
                host=18080, container=8000, purpose="api", host_address="127.0.0.1"
            ),
        ),
        shm_size_bytes=64 << 20,
        health_check=HealthCheck(
            test=("CMD", "/bin/busybox", "true"), start_period_s=60
        ),
        time_zone="Asia/Shanghai",
        labels=(("draftboard.deployment", "a b"),),
    )


def _inspected(engine: APIClient, spec: ContainerSpec) -> dict[str, object]:
    seen = engine.inspect_container(spec.name)
    engine.remove_container(spec.name, force=True)
    found: dict[str, object] = {
        f"{part}.{name}": seen[part].get(name) or None
        for part, names in COMPARED.items()
        for name in names
    }
    found["Config.Env"] = sorted(seen["Config"]["Env"])
    found["Mounts"] = [
        {
            key: mount[key]
            for key in ("Type", "Source", "Destination", "RW", "Propagation")
        }
        for mount in seen["Mounts"]
    ]
    check = dict(seen["Config"]["Healthcheck"])
    check["Test"] = " ".join(check["Test"][1:])
    found["Healthcheck"] = check
    return found


def _create(engine: APIClient, spec: ContainerSpec) -> None:
    engine.create_container_from_config(create_body(spec), spec.name)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("network", NetworkMode)
def test_script_and_api_make_the_same_container(
    engine: APIClient,
    container: ContainerSpec,
    docker_host: str,
    tmp_path: Path,
    network: NetworkMode,
) -> None:
    spec = replace(container, network_mode=network)
    script = tmp_path / "launch.sh"
    script.write_text(launch_script([spec]), encoding="utf-8")
    environment = {**os.environ, "DOCKER_HOST": docker_host}
    done = subprocess.run(
        [shutil.which("bash") or "/bin/bash", str(script)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    by_script = _inspected(engine, spec)
    _create(engine, spec)
    assert _inspected(engine, spec) == by_script


def test_missing_model_directory_is_refused_instead_of_made(
    engine: APIClient, container: ContainerSpec, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    spec = replace(container, mounts=(Mount(source=str(gone), target="/models"),))
    with pytest.raises(Exception, match="bind source path does not exist"):
        _create(engine, spec)
    assert not gone.exists()
