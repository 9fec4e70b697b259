"""``docker compose up`` of the exported file makes the very container that the panel makes.

Real plans on a Docker Engine whose host has stand-in Ascend device nodes and driver files.
"""

import io
import os
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.containers import (
    create_container,
    remove_container,
    signal_container,
    start_container,
)
from deployments.docker_api.images import import_image
from deployments.docker_api.policy import ContainerPolicy
from deployments.planning.container import ContainerSpec
from deployments.planning.launch.compose import compose_file
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan, Role
from deployments.planning.platforms.ascend import DRIVER_MOUNTS, FABRIC_MOUNTS
from deployments.planning.revision import SpeculationChoice
from deployments.services.rollout.rollout import (
    DIGEST_LABEL,
    INSTANCE_LABEL,
    RELEASE_LABEL,
    REPLICA_LABEL,
)
from tests.docker_api import stand_in_host
from tests.environment.docker_engine import PrivateEngine
from tests.environment.packages import LIST, find_program, read_packages
from tests.planning.builders import (
    PRACTICE,
    a3,
    apart,
    combined,
    cpu,
    decode,
    gpu,
    plan,
    prefill,
)

pytestmark = pytest.mark.docker

EXECUTOR = {
    INSTANCE_LABEL: "1",
    RELEASE_LABEL: "2",
    DIGEST_LABEL: "sha256:ab",
    REPLICA_LABEL: "3",
}
ENDPOINTS = range(8000, 8300)
SERVER = b"#!/bin/sh\nexec sleep 600\n"
OF_ONE_CONTAINER = {
    *("Id", "Created", "State", "GraphDriver", "AppArmorProfile", "ProcessLabel"),
    *("ResolvConfPath", "HostnamePath", "HostsPath", "LogPath", "MountLabel"),
    # The panel names the image by its id, the file by its name; ``Image`` compares the ids.
    *("Config.Image", "Config.Hostname"),
    # How the client that created it listened; nothing of the container.
    *("Config.AttachStdout", "Config.AttachStderr"),
}
UNORDERED = ("Config.Env", "HostConfig.Mounts", "Mounts")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine on a host with stand-in device nodes."""
    if os.environ.get("REQUIRE_DOCKER") != "1":
        pytest.skip("needs the right to start a Docker Engine: run `make test`.")
    folder = tmp_path_factory.mktemp("a3")
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


@pytest.fixture
def models(tmp_path: Path) -> str:
    """The directory of weights."""
    return str(tmp_path / "my models")


def busy() -> tuple[int, ...]:
    """Ports of endpoints that something else on this machine holds."""
    return tuple(port for port in ENDPOINTS if not _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("", port))
        except OSError:
            return False
    return True


def logs_of(models: str) -> str:
    """A directory of log files beside that of the weights; nobody makes it."""
    return str(Path(models).with_name("logs"))


def _flash(models: str) -> Plan:
    return plan(
        combined("deepseek-ai/DeepSeek-V4-Flash", "a3-01"),
        a3("a3-01", model_root=models, taken_ports=busy()),
        log_root=logs_of(models),
    )


def _glm(models: str) -> Plan:
    spec = apart(
        "zai-org/GLM-5.2",
        prefill("a3-01", num_speculative_tokens=1),
        decode("a3-02", num_speculative_tokens=3),
        checkpoint="w8a8",
        engine="vllm-ascend==0.23.0",
    )
    hosts = [
        a3(
            f"a3-0{number}",
            f"10.0.0.{number}",
            model_root=models,
            taken_ports=busy(),
        )
        for number in (1, 2)
    ]
    return plan(spec, *hosts, time_zone="Asia/Shanghai", log_root=logs_of(models))


def _kimi(models: str) -> Plan:
    spec = apart(
        "moonshotai/Kimi-K2.6",
        prefill("a3-01"),
        decode("a3-02"),
        speculation=SpeculationChoice(method="eagle3"),
    )
    hosts = [
        a3(
            f"a3-0{number}",
            f"10.0.0.{number}",
            model_root=models,
            taken_ports=busy(),
        )
        for number in (1, 2)
    ]
    return plan(spec, *hosts, log_root=logs_of(models))


def _llama(models: str) -> Plan:
    spec = combined("meta-llama/Llama-3.1-8B-Instruct", "gpu-1")
    return plan(spec, gpu(model_root=models, taken_ports=busy()))


def _practice(models: str) -> Plan:
    del models
    return plan(
        combined("Qwen/Qwen3-32B", "local", image=PRACTICE), cpu(taken_ports=busy())
    )


@pytest.mark.parametrize("make", [_flash, _glm, _kimi, _practice])
def test_compose_up_and_the_panel_start_the_same_container(
    host: Engine, tmp_path: Path, models: str, make: Any
) -> None:
    """Every replica, field by field."""
    made = make(models)
    folders = _write(made, tmp_path / "files")
    for replica in made.replicas:
        spec = replica.container
        image_id = _prepare(host, spec, models)
        # A machine of tests may not raise RLIMIT_MEMLOCK, and the stand-in image holds no router:
        # such a container is only created.
        runs = not spec.memory_lock and replica.role is not Role.ROUTER
        how = "--detach" if runs else "--no-start"
        _compose(host, folders / replica.host, "up", how, spec.name)
        by_compose = _inspect_and_remove(host, spec.name)
        container = _create(host, spec, image_id, models)
        if runs:
            start_container(host, container)
        by_panel = _inspect_and_remove(host, spec.name)
        assert (by_compose["State.Running"], by_panel["State.Running"]) == (runs, runs)
        assert _compared(by_panel) == _compared(by_compose)


@pytest.mark.parametrize("nasty", [False, True])
def test_compose_and_the_panel_create_the_same_container_with_gpus(
    host: Engine, tmp_path: Path, models: str, *, nasty: bool
) -> None:
    """GPUs are asked of a driver that only their host has, so the container is only created."""
    made = _llama(models)
    spec = made.replicas[0].container
    if nasty:
        spec = replace(
            spec,
            command=(*spec.command, 'it\'s "$HOME" `id` ${X} \\', "", "1e3", "no"),
            environment=(*spec.environment, ("NASTY", "a $b\n\tc 'd'"), ("YES", "on")),
            labels=(*spec.labels, ("draftboard.note", "$1 ${2}: #3")),
            user="1000:1000",
            group_add=("44",),
            memory_lock=True,
        )
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "docker-compose.yaml").write_text(compose_file([spec]), encoding="utf-8")
    image_id = _prepare(host, spec, models)
    _compose(host, folder, "up", "--no-start")
    by_compose = _inspect_and_remove(host, spec.name)
    _create(host, spec, image_id, models)
    by_panel = _inspect_and_remove(host, spec.name)
    assert by_panel["HostConfig.DeviceRequests"]
    assert _compared(by_panel) == _compared(by_compose)


def test_ascend_container_reaches_its_own_device_nodes_and_logs_only(
    host: Engine, models: str
) -> None:
    """On a host of sixteen dies, the container of the last ones has those, writable; the host keeps its plogs."""
    made = plan(
        combined("Qwen/Qwen3-8B", "a3-01"),
        a3(
            "a3-01",
            model_root=models,
            taken_devices=tuple(range(8)),
            taken_ports=busy(),
        ),
        log_root=logs_of(models),
    )
    replica = made.replicas[0]
    assert replica.devices[0] == 8
    image_id = _prepare(host, replica.container, models)
    container = _create(host, replica.container, image_id, models)
    start_container(host, container)
    try:
        seen = _run_inside(host, container, "ls", "/dev").split()
        dies = {f"davinci{number}" for number in replica.devices}
        managers = {"davinci_manager", "devmm_svm", "hisi_hdc"}
        assert {name for name in seen if "davinci" in name} | managers == (
            dies | managers
        )
        assert managers <= set(seen)
        written = _run_inside(
            host, container, "sh", "-c", "echo x > /dev/davinci8 && echo fine"
        )
        assert written.strip() == "fine"
        (logs,) = replica.container.log_directories
        plog = f"{logs.target}/debug/plog/plog-1_2.log"
        _run_inside(
            host, container, "sh", "-c", f"mkdir -p {plog[:-12]} && echo a > {plog}"
        )
        assert Path(plog.replace(logs.target, logs.source)).read_text() == "a\n"
    finally:
        _remove(host, container)


def _write(made: Plan, folder: Path) -> Path:
    for name, text in launch_files(made):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def _prepare(host: Engine, spec: ContainerSpec, models: str) -> str:
    """Bring the image, under the plan's name, and the weights' directories."""
    for mount in spec.mounts:
        if mount.source.startswith(models):
            Path(mount.source).mkdir(parents=True, exist_ok=True)
    busybox = shutil.which("busybox")
    assert busybox
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(Path(busybox).resolve(), "bin/busybox")
        for name in ("ls", "mkdir", "rm", "sh", "sleep", "tail"):
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
        server = tarfile.TarInfo("bin/vllm")
        server.size, server.mode = len(SERVER), 0o755
        archive.addfile(server, io.BytesIO(SERVER))
    packed.seek(0)
    repository, _, tag = spec.image.reference.rpartition(":")
    changes = ("ENV PATH=/bin", 'ENTRYPOINT ["/bin/false"]', "USER 0")
    return import_image(host, packed, repository=repository, tag=tag, changes=changes)


def _compose(host: Engine, folder: Path, *arguments: str) -> None:
    listed = read_packages(LIST.read_text(encoding="utf-8"))
    package = next(one for one in listed if one.name == "docker-compose")
    program = find_program(*package.programs)
    assert program, "install docker-compose"
    done = subprocess.run(
        [str(program), *arguments],
        cwd=folder,
        env={**os.environ, "DOCKER_HOST": host.address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _create(host: Engine, spec: ContainerSpec, image_id: str, models: str) -> str:
    roots = (models, *DRIVER_MOUNTS, *FABRIC_MOUNTS)
    return create_container(
        host,
        spec,
        image_id=image_id,
        labels=EXECUTOR,
        policy=ContainerPolicy(mount_roots=roots, log_roots=(logs_of(models),)),
    )


def _inspect_and_remove(host: Engine, name: str) -> dict[str, Any]:
    seen = host.api.inspect_container(name)
    _remove(host, name)
    return dict(_flat(seen))


def _remove(host: Engine, name: str) -> None:
    signal_container(host, name, "SIGKILL")
    host.api.wait(name, timeout=10)
    remove_container(host, name)


def _flat(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        path = f"{above}{key}"
        if isinstance(inner, dict) and inner and key not in ("Labels", "PortBindings"):
            yield from _flat(inner, f"{path}.")
        else:
            yield path, inner


def _compared(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Every field but those that belong to one container, to Compose or to the executor."""
    found = {
        path: value
        for path, value in seen.items()
        if path not in OF_ONE_CONTAINER
        and path.split(".")[0] not in OF_ONE_CONTAINER
        and not path.startswith("NetworkSettings.")
        # An engine writes what was not asked for as null, [] or {}, as the client sent it.
        and value not in (None, [], {}, "", False, 0)
    }
    found["Config.Labels"] = {
        name: value
        for name, value in seen["Config.Labels"].items()
        if name not in EXECUTOR and not name.startswith("com.docker.compose.")
    }
    for path in UNORDERED:
        found[path] = sorted(found.get(path, []), key=str)
    return found


def _run_inside(host: Engine, container: str, *command: str) -> str:
    execution = host.api.exec_create(container, list(command))["Id"]
    output: bytes = host.api.exec_start(execution)
    return output.decode()
