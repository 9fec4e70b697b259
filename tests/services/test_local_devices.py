"""What hardware this machine has, from device nodes and the kernel's files alone."""

from pathlib import Path

import pytest

from deployments.models import Platform
from deployments.services.local_devices import find_local_devices


def node(root: Path, path: str, text: str = "") -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_nothing_special_is_a_cpu_host(tmp_path: Path) -> None:
    found = find_local_devices(("runc",), tmp_path)
    assert (found.platform, found.names) == (Platform.CPU, ())


def test_nvidia_cards_are_named_in_bus_order(tmp_path: Path) -> None:
    for bus, model in (
        ("0000:41:00.0", "NVIDIA L40S"),
        ("0000:01:00.0", "NVIDIA A100"),
    ):
        node(
            tmp_path,
            f"proc/driver/nvidia/gpus/{bus}/information",
            f"Model: \t\t {model}\nIRQ: 1\n",
        )
    found = find_local_devices((), tmp_path)
    assert found.platform == Platform.NVIDIA
    assert found.names == ("NVIDIA A100", "NVIDIA L40S")


def test_nvidia_nodes_without_names_are_counted(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        node(tmp_path, f"dev/{name}")
    found = find_local_devices((), tmp_path)
    assert (found.platform, found.names) == (Platform.NVIDIA, ("", ""))


def test_the_nvidia_runtime_alone_shows_the_platform(tmp_path: Path) -> None:
    found = find_local_devices(("nvidia", "runc"), tmp_path)
    assert (found.platform, found.names) == (Platform.NVIDIA, ())


@pytest.mark.parametrize(
    ("device", "platform"),
    [
        ("0xd802", Platform.ASCEND_A2),
        ("0xd803", Platform.ASCEND_A3),
        ("0xd500", Platform.ASCEND_310P),
    ],
)
def test_ascend_families_are_told_by_their_pci_id(
    tmp_path: Path, device: str, platform: Platform
) -> None:
    for number in (0, 1, 10):
        node(tmp_path, f"dev/davinci{number}")
    node(tmp_path, "dev/davinci_manager")
    node(tmp_path, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n")
    node(tmp_path, "sys/bus/pci/devices/0000:c1:00.0/vendor", "0x19e5\n")
    node(tmp_path, "sys/bus/pci/devices/0000:c1:00.0/device", f"{device}\n")
    found = find_local_devices((), tmp_path)
    assert (found.platform, len(found.names)) == (platform, 3)


@pytest.mark.parametrize(
    ("count", "platform"), [(8, Platform.ASCEND_A2), (16, Platform.ASCEND_A3)]
)
def test_an_unknown_ascend_family_is_judged_by_its_dies(
    tmp_path: Path, count: int, platform: Platform
) -> None:
    for number in range(count):
        node(tmp_path, f"dev/davinci{number}")
    assert find_local_devices((), tmp_path).platform == platform
