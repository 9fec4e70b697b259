"""Accelerators of this machine, from device nodes and the kernel's own files; nothing is run."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deployments.models import Platform

HUAWEI = "0x19e5"
ASCEND_FAMILIES = {
    "0xd802": Platform.ASCEND_A2,
    "0xd803": Platform.ASCEND_A3,
    "0xd500": Platform.ASCEND_310P,
}
"""PCI device ids of Ascend 910B, 910C and 310P; an id that is not here is judged by count."""
A3_DEVICES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalDevices:
    """The hardware family of this machine and the names of its devices, by number."""

    platform: Platform
    names: tuple[str, ...] = ()


def find_local_devices(runtimes: Iterable[str], root: Path = Path("/")) -> LocalDevices:
    """Look for accelerators below ``root``; ``runtimes`` are those that the engine knows."""
    ascend = _numbered(root / "dev", "davinci")
    if ascend:
        family = _ascend_family(root, len(ascend))
        return LocalDevices(platform=family, names=("",) * len(ascend))
    nvidia = _nvidia_names(root)
    if nvidia or "nvidia" in set(runtimes):
        return LocalDevices(platform=Platform.NVIDIA, names=nvidia)
    return LocalDevices(platform=Platform.CPU)


def _numbered(directory: Path, prefix: str) -> list[int]:
    pattern = re.compile(rf"{prefix}(\d+)")
    found = (pattern.fullmatch(node.name) for node in _list(directory))
    return sorted(int(match[1]) for match in found if match)


def _ascend_family(root: Path, count: int) -> Platform:
    for device in _list(root / "sys/bus/pci/devices"):
        if _read(device / "vendor") == HUAWEI:
            family = ASCEND_FAMILIES.get(_read(device / "device"))
            if family is not None:
                return family
    return Platform.ASCEND_A3 if count >= A3_DEVICES else Platform.ASCEND_A2


def _nvidia_names(root: Path) -> tuple[str, ...]:
    """Names in the order of the PCI bus, which is the order in which the driver counts."""
    cards = sorted(_list(root / "proc/driver/nvidia/gpus"), key=lambda one: one.name)
    names = tuple(_model(_read(card / "information")) for card in cards)
    return names or ("",) * len(_numbered(root / "dev", "nvidia"))


def _model(information: str) -> str:
    found = re.search(r"^Model:\s*(.+)$", information, re.MULTILINE)
    return found[1].strip()[:80] if found else ""


def _list(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except OSError:
        return []


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""
