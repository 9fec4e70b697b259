"""What a container holds, from its inspection."""

from typing import Any

import pytest

from deployments.docker_api.held_devices import held_in


def inspected(environment: tuple[str, ...] = (), **settings: Any) -> dict[str, Any]:
    return {"HostConfig": settings, "Config": {"Env": list(environment)}}


def node(path: str) -> dict[str, str]:
    return {"PathOnHost": path, "PathInContainer": path}


@pytest.mark.parametrize(
    ("row", "held"),
    [
        (inspected(), set()),
        (inspected(Devices=[node("/dev/davinci4"), node("/dev/hisi_hdc")]), {4}),
        (inspected(Devices=[node("/dev/nvidia0"), node("/dev/nvidiactl")]), {0}),
        (inspected(Devices=[node("/dev/kfd"), node("/dev/dri")]), None),
        (inspected(Privileged=True), None),
        (inspected(Binds=["/dev:/dev"]), None),
        (inspected(Mounts=[{"Type": "bind", "Source": "/dev/davinci1"}]), {1}),
        (inspected(DeviceRequests=[{"DeviceIDs": ["0", "3"]}]), {0, 3}),
        (inspected(DeviceRequests=[{"Count": -1}]), None),
        (inspected(DeviceRequests=[{"DeviceIDs": ["GPU-0738929a"]}]), None),
        # The images of CUDA name all devices, which means something to the hook of a runtime only.
        (inspected(("NVIDIA_VISIBLE_DEVICES=all",), Runtime="runc"), set()),
        (inspected(("NVIDIA_VISIBLE_DEVICES=all",), Runtime="nvidia"), None),
        (inspected(("NVIDIA_VISIBLE_DEVICES=void",), Runtime="nvidia"), set()),
        (inspected(("ASCEND_VISIBLE_DEVICES=0-2,5",), Runtime="ascend"), {0, 1, 2, 5}),
        (
            inspected(
                ("NVIDIA_VISIBLE_DEVICES=all",),
                Runtime="nvidia",
                DeviceRequests=[{"DeviceIDs": ["1"]}],
            ),
            {1},
        ),
    ],
)
def test_what_a_container_holds(row: dict[str, Any], held: set[int] | None) -> None:
    assert held_in(row) == held
