"""What a short container says of the accelerators of its host: the scripts that it runs, and their answer.

The first script needs no device: the kernel shows every container which PCI functions there are and
which driver is loaded. The second one runs the vendor's tool on the devices that were mapped. Both
need a POSIX shell and nothing else. A line ``#probe name`` begins a part of the answer.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from deployments.planning.errors import PlanningError
from deployments.telemetry.accelerators import Accelerator, read_accelerators

TOOL_SECONDS = 20
PART = "#probe "
SHELL = f"""
part() {{ echo "{PART}$1"; }}
show() {{ for one in "$@"; do if [ -r "$one" ]; then while read -r line; do echo "$line"; done <"$one"; fi; done; }}
limit() {{ if command -v timeout >/dev/null 2>&1; then timeout {TOOL_SECONDS} "$@"; else "$@"; fi; }}
exec 2>&1
"""
LOOK = f"""{SHELL}
part pci
for one in /sys/bus/pci/devices/*; do
  vendor=; device=; class=
  read -r vendor <"$one/vendor" || continue
  case "$vendor" in 0x19e5|0x10de|0x1002)
    read -r device <"$one/device"; read -r class <"$one/class"
    echo "${{one##*/}} $vendor $device $class";;
  esac
done
part nvidia
show /proc/driver/nvidia/version
for one in /proc/driver/nvidia/gpus/*/information; do show "$one"; done
part amd
show /sys/module/amdgpu/version
part ascend-driver
show /usr/local/Ascend/driver/version.info
part cann
echo "home=${{ASCEND_HOME_PATH:-${{ASCEND_TOOLKIT_HOME:-}}}}"
show /usr/local/Ascend/ascend-toolkit/latest/*/ascend_toolkit_install.info
show /usr/local/Ascend/cann/*/ascend_toolkit_install.info
part rocm-smi
if command -v rocm-smi >/dev/null 2>&1; then
  limit rocm-smi --showproductname --json
  limit rocm-smi --showmeminfo vram --json
  limit rocm-smi --showdriverversion --json
fi
part end
"""
"""ROCm is asked one thing at a time: rocm-smi of ROCm 5 answers several with the last one only."""
NVIDIA_FIELDS = (
    "index,name,memory.total,memory.used,memory.free,driver_version,"
    "ecc.errors.uncorrected.volatile.total"
)
NVIDIA_TOOL = f"""{SHELL}
part nvidia-smi
limit nvidia-smi --query-gpu={NVIDIA_FIELDS} --format=csv || limit nvidia-smi
part end
"""
ASCEND_TOOL = f"""{SHELL}
part npu-smi
limit npu-smi info
part board
limit npu-smi info -t board -i "$1"
part end
"""
HUAWEI, NVIDIA, AMD = "0x19e5", "0x10de", "0x1002"
_GPU_CLASSES = ("0x0300", "0x0302")
_NPU_CLASS = "0x1200"
Parts = dict[str, tuple[str, ...]]
"""The parts of an answer by name."""
_NVRM = re.compile(r"NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s")
_CANN_HOME = re.compile(r"cann-(\d[\w.-]*)|ascend-toolkit/(\d[\w.-]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What every container sees of its host, and what the image itself holds.

    ``names`` are the products of NVIDIA GPUs by number, ``count`` how many accelerators the PCI bus
    has, ``None`` where nothing says so. ``cann_version`` is that of the image. ``cards`` are AMD GPUs.
    """

    count: int | None = None
    names: tuple[str, ...] = ()
    driver_version: str | None = None
    cann_version: str | None = None
    cards: tuple[Accelerator, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the vendor's tool said: devices by the numbers of the host, and versions."""

    devices: tuple[Accelerator, ...] = ()
    driver_version: str | None = None
    firmware_version: str | None = None
    compatible: bool | None = None


def parts_of(lines: Iterable[str]) -> Parts:
    """The parts of an answer by name; what stands before the first one is dropped."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        if line.startswith(PART):
            current = found.setdefault(line.removeprefix(PART).strip(), [])
        else:
            current.append(line)
    return {name: tuple(told) for name, told in found.items()}


def is_whole(parts: Parts) -> bool:
    """Whether the script ran to its end."""
    return "end" in parts


def read_look(parts: Parts, vendor: str) -> Look:
    """Read the answer of ``LOOK`` for the accelerators of one vendor, by PCI number."""
    rows = [line.split() for line in parts.get("pci", ())]
    rows = [row for row in rows if len(row) == 4 and row[1] == vendor]
    cann = _cann(parts.get("cann", ()))
    if vendor == AMD:
        return _amd(parts, cann)
    if vendor == HUAWEI:
        found = sum(row[3].startswith(_NPU_CLASS) for row in rows)
        info = "\n".join(parts.get("ascend-driver", ()))
        driver = re.search(r"(?im)^(?:package_)?version=(\S+)", info)
        return Look(
            count=found or None,
            driver_version=driver[1] if driver else None,
            cann_version=cann,
        )
    told = "\n".join(parts.get("nvidia", ()))
    names = tuple(re.findall(r"(?m)^Model:\s*(\S.*?)\s*$", told))
    found = sum(row[3].startswith(_GPU_CLASSES) for row in rows)
    driver = _NVRM.search(f"{told}\n")
    return Look(
        count=len(names) or found or None,
        names=names,
        driver_version=driver[1] if driver else None,
        cann_version=cann,
    )


def read_told(
    parts: Parts,
    mapped: Sequence[int] | None,
    *,
    counts_anew: bool = False,
) -> Told:
    """Read the answer of a tool that saw the host's devices ``mapped``, or all of them (``None``).

    ``counts_anew`` is true where the tool counts from 0 whatever is mapped, as nvidia-smi does.

    Raises:
        PlanningError: the tool shows no device.
    """
    name = "npu-smi" if "npu-smi" in parts else "nvidia-smi"
    report = read_accelerators("\n".join(parts.get(name, ())))
    devices = report.devices
    if mapped is not None:
        devices = placed(devices, mapped, counts_anew=counts_anew)
    board = "\n".join(parts.get("board", ()))
    firmware = re.search(r"Firmware Version\s*:\s*(\S+)", board)
    fits = re.search(r"Compatibility\s*:\s*(\S+)", board)
    return Told(
        devices=devices,
        driver_version=report.driver_version,
        firmware_version=firmware[1] if firmware else None,
        compatible={"OK": True, "NOK": False}.get(fits[1]) if fits else None,
    )


def placed(
    devices: Sequence[Accelerator], mapped: Sequence[int], *, counts_anew: bool
) -> tuple[Accelerator, ...]:
    """Give devices the numbers of the host; those whose number cannot be told are left out.

    npu-smi in a container shows the numbers of the host (25.5.2 shows a lone davinci5 as NPU 5) or
    counts from 0, so both are understood; where they cannot be told apart, nothing is.
    """
    ordered = sorted(devices, key=lambda one: one.number)
    numbers, wanted = [one.number for one in ordered], sorted(mapped)
    anew = numbers == list(range(len(numbers)))
    complete = len(numbers) == len(wanted)
    if not counts_anew and set(numbers) <= set(wanted) and (complete or not anew):
        return tuple(ordered)
    if not (anew and complete):
        return ()
    return tuple(
        replace(one, number=number) for one, number in zip(ordered, wanted, strict=True)
    )


def _amd(parts: Parts, cann: str | None) -> Look:
    driver = "".join(parts.get("amd", ())).strip() or None
    try:
        report = read_accelerators("\n".join(parts.get("rocm-smi", ())))
    except PlanningError:
        return Look(driver_version=driver, cann_version=cann)
    return Look(
        count=len(report.devices),
        cards=report.devices,
        driver_version=report.driver_version or driver,
        cann_version=cann,
    )


def _cann(lines: Sequence[str]) -> str | None:
    """The version that the installation names, else that of its folder (8.5.0: /usr/local/Ascend/cann-8.5.0)."""
    told = "\n".join(lines)
    version = re.search(r"(?m)^version=(\S+)", told)
    if version is not None:
        return version[1]
    home = _CANN_HOME.search(told)
    return (home[1] or home[2]) if home else None
