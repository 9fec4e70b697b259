"""The floor under every container: each way out of it is refused by name."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from deployments.docker_api.errors import PolicyError
from deployments.docker_api.policy import ContainerPolicy, check_container
from deployments.planning.container import (
    ContainerSpec,
    DeviceNode,
    DeviceRequest,
    ImageReference,
    LogDirectory,
    Mount,
    NetworkMode,
    PortMapping,
)
from deployments.planning.launch.engine_api import create_body
from deployments.planning.platforms.ascend import DRIVER_MOUNTS, MANAGEMENT_NODES

POLICY = ContainerPolicy(
    mount_roots=("/data/models", *DRIVER_MOUNTS), log_roots=("/var/log/draftboard",)
)
LOGS = LogDirectory(source="/var/log/draftboard/chat/0", target="/root/ascend/log")
SPEC = ContainerSpec(
    name="chat-r1-combined-0",
    image=ImageReference(reference="vllm/vllm-openai:v0.32.0"),
    command=("vllm", "serve", "/models/target"),
    mounts=(Mount(source="/data/models/target", target="/models/target"),),
    ports=(PortMapping(host=8000, container=8000, purpose="api"),),
)


def check(spec: ContainerSpec, change: Callable[[Any], None] | None = None) -> None:
    body: Any = create_body(spec, {"draftboard.instance": "x"})
    if change is not None:
        change(body)
    check_container(spec.name, body, POLICY)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"network_mode": NetworkMode.HOST, "ports": ()},
        {"cap_add": ("SYS_NICE",), "memory_lock": True},
        {"runtime": "nvidia"},
        {"log_directories": (LOGS,)},
        {
            "device_requests": (
                DeviceRequest(
                    driver="nvidia", device_ids=("0",), capabilities=("gpu",)
                ),
            )
        },
        {
            "devices": tuple(
                DeviceNode(host_path=path, container_path=path)
                for path in ("/dev/davinci3", *MANAGEMENT_NODES)
            ),
            "mounts": tuple(Mount(source=path, target=path) for path in DRIVER_MOUNTS),
        },
    ],
)
def test_what_platforms_need_is_allowed(changes: dict[str, Any]) -> None:
    check(replace(SPEC, **changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "x" * 64}, "its name"),
        ({"name": "Chat"}, "its name"),
        ({"cap_drop": ()}, "CapDrop"),
        ({"cap_add": ("SYS_ADMIN",)}, "CapAdd"),
        ({"security_opt": ()}, "gain privileges"),
        ({"security_opt": ("no-new-privileges", "apparmor=unconfined")}, "SecurityOpt"),
        ({"ipc_mode": "host"}, "IpcMode"),
        ({"runtime": "own"}, "Runtime"),
        ({"pids_limit": 0}, "PidsLimit"),
        ({"pids_limit": -1}, "PidsLimit"),
        ({"mounts": (Mount(source="/etc", target="/x"),)}, "/etc is not inside"),
        ({"mounts": (Mount(source="/", target="/x"),)}, "/ is not inside"),
        (
            {"mounts": (Mount(source="/data/models/../../etc", target="/x"),)},
            "is not inside",
        ),
        (
            {"mounts": (Mount(source="/data/models-other", target="/x"),)},
            "is not inside",
        ),
        (
            {"mounts": (Mount(source="/data/models/docker.sock", target="/x"),)},
            "is a socket",
        ),
        *(
            ({"log_directories": (replace(LOGS, source=source),)}, "Binds may not hold")
            for source in (
                *("/var/log/draftboard", "/var/log", "/", "/data/models/a", "logs"),
                *("/var/log/draftboard/../x", "/var/log/draftboard/a:/etc"),
            )
        ),
        *(
            ({"log_directories": (replace(LOGS, target=target),)}, "Binds may not hold")
            for target in ("/root/ascend/log:rw,z", "", "log")
        ),
        (
            {"devices": (DeviceNode(host_path="/dev/sda", container_path="/dev/sda"),)},
            "Devices",
        ),
        (
            {
                "devices": (
                    DeviceNode(host_path="/dev/davinci0", container_path="/dev/mem"),
                )
            },
            "Devices",
        ),
        (
            {
                "device_requests": (
                    DeviceRequest(
                        driver="nvidia", device_ids=(), capabilities=("gpu",)
                    ),
                )
            },
            "DeviceRequests",
        ),
        (
            {
                "ports": (
                    PortMapping(host=1, container=1, purpose="api", host_address=""),
                )
            },
            "without a named address",
        ),
        ({"environment": (("A", "x" * 33_000),)}, "environment is larger"),
        ({"command": ("vllm", "x" * 9000)}, "argument is longer"),
        ({"command": ("x" * 8000,) * 9}, "command is longer"),
        ({"labels": (("a", "x" * 5000),)}, "label is longer"),
    ],
)
def test_what_leads_out_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        check(replace(SPEC, **changes))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("Privileged", True),
        ("PidMode", "host"),
        ("UsernsMode", "host"),
        ("UTSMode", "host"),
        ("CgroupParent", "/x"),
        ("CgroupnsMode", "host"),
        ("VolumesFrom", ["other"]),
        ("Binds", ["/:/host"]),
        ("NetworkMode", "container:other"),
        ("DeviceCgroupRules", ["a *:* rwm"]),
        ("Sysctls", {"kernel.core_pattern": "|x"}),
        ("StorageOpt", {"size": "1"}),
        ("PublishAllPorts", True),
        ("LogConfig", {"Type": "syslog", "Config": {}}),
        ("LogConfig", {"Type": "json-file", "Config": {}}),
        ("SomethingNew", "x"),
    ],
)
def test_keys_that_the_panel_does_not_set_are_refused(key: str, value: object) -> None:
    def change(body: Any) -> None:
        body["HostConfig"][key] = value

    with pytest.raises(PolicyError, match=key):
        check(SPEC, change)


@pytest.mark.parametrize("key", ["CapDrop", "PidsLimit", "LogConfig", "SecurityOpt"])
def test_the_floor_itself_cannot_be_left_out(key: str) -> None:
    with pytest.raises(PolicyError):
        check(SPEC, lambda body: body["HostConfig"].pop(key))


@pytest.mark.parametrize(
    "mount", [{"Type": "volume", "Source": "x"}, {"Type": "tmpfs", "Target": "/x"}]
)
def test_only_directories_of_the_host_are_mounted(mount: dict[str, str]) -> None:
    with pytest.raises(PolicyError, match="not a directory of the host"):
        check(SPEC, lambda body: body["HostConfig"].update(Mounts=[mount]))


def test_a_body_without_host_configuration_is_refused() -> None:
    with pytest.raises(PolicyError, match="no host configuration"):
        check_container("a", {"Image": "x"}, POLICY)
