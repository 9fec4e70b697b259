"""What nvidia-smi, npu-smi and rocm-smi print -> devices with name, memory and health.

Read by the names of columns, which have moved between versions: npu-smi 23.0.3 to 26.0.rc2 (with
and without Phy-ID or Device, HBM or plain memory), nvidia-smi tables from 331.62 to 580.126.20 and
its CSV with a header, rocm-smi CSV and JSON of ROCm 5 to 7. What a tool does not tell stays ``None``.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from deployments.planning.errors import PlanningError
from deployments.planning.text import text

MIB = 1024 * 1024
LONGEST_OUTPUT = 64 * 1024
MOST_DEVICES = 128
_NPU_HEAD = re.compile(r"npu-smi\s+\S+\s+Version:\s*(\S+)")
_NVIDIA_HEAD = re.compile(r"Driver Version:\s*([0-9.]+)")
_NVIDIA_NAME = re.compile(r"\|\s+(\d+)\s+(\S.*?)\s+(?:On|Off|N/A)\s+\|")
_NVIDIA_MEMORY = re.compile(r"(\d+)\s*MiB\s*/\s*(\d+)\s*MiB")
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d")
_USED_OF = re.compile(r"(\d+)\s*/\s*(\d+)")
_CARD = re.compile(r"card(\d+)")
_ECC = "ecc.errors.uncorrected.volatile.total"
_BROKEN = re.compile(r"ERR!|GPU is lost|Unknown Error|reset required", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One device as its tool shows it; ``number`` is that of its device node.

    ``free_bytes`` is what the tool calls free, or what is not used where it does not say. An NVIDIA
    GPU is healthy without uncorrected memory errors since its driver was loaded, which end a process
    and ask for a reset of the GPU; one that does not count them says nothing.
    """

    number: int
    name: str
    memory_bytes: int | None = None
    used_bytes: int | None = None
    free_bytes: int | None = None
    healthy: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorReport:
    """The devices of one host by number, and the driver where the tool names it."""

    devices: tuple[Accelerator, ...]
    driver_version: str | None = None


def read_accelerators(output: str) -> AcceleratorReport:
    """Read what one of the tools printed, with whatever stands around it.

    Raises:
        PlanningError: it is none of theirs, shows no device, or one number twice.
    """
    words = output[:LONGEST_OUTPUT]
    npu, nvidia = _NPU_HEAD.search(words), _NVIDIA_HEAD.search(words)
    if npu is not None:
        report = AcceleratorReport(devices=tuple(_npus(words)), driver_version=npu[1])
    elif nvidia is not None:
        report = AcceleratorReport(
            devices=tuple(_gpus(words)), driver_version=nvidia[1]
        )
    else:
        report = _from_json(words) or _from_csv(words)
    numbers = [device.number for device in report.devices]
    if not 1 <= len(numbers) <= MOST_DEVICES or len(set(numbers)) != len(numbers):
        raise PlanningError(
            text(
                "No devices can be read from this. Paste the whole output of npu-smi info, "
                "nvidia-smi, or rocm-smi --showproductname --showmeminfo vram --csv."
            )
        )
    ordered = sorted(report.devices, key=lambda device: device.number)
    return AcceleratorReport(
        devices=tuple(_with_free(device) for device in ordered),
        driver_version=report.driver_version,
    )


def _with_free(device: Accelerator) -> Accelerator:
    total, used = device.memory_bytes, device.used_bytes
    if device.free_bytes is not None or total is None or used is None or used > total:
        return device
    return replace(device, free_bytes=total - used)


def _npus(output: str) -> Iterator[Accelerator]:
    """Pairs of lines: name and health above, numbers and memory below."""
    has_number = re.search(r"\|\s*Chip\s+(?:Phy-ID|Device)\b", output) is not None
    above: list[str] = []
    for line in output.partition("Process id")[0].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3:
            continue
        if not _BUS.fullmatch(cells[1]):
            above = cells
            continue
        owner, place = above[0].split() if above else [], cells[0].split()
        memory = _USED_OF.findall(cells[2])
        if len(owner) < 2 or not memory or len(place) < 1 + has_number:
            continue
        used, total = memory[-1]
        yield Accelerator(
            number=int(place[1] if has_number else owner[0]),
            name=" ".join(owner[1:]),
            memory_bytes=int(total) * MIB,
            used_bytes=int(used) * MIB,
            healthy={
                "OK": True,
                "Warning": False,
                "Alarm": False,
                "Critical": False,
            }.get(above[1]),
        )
        above = []


def _gpus(output: str) -> Iterator[Accelerator]:
    """Two lines a device, of which the table cuts long names."""
    number, name, errors = None, "", ""
    for line in output.splitlines():
        named = _NVIDIA_NAME.match(line.strip())
        memory = _NVIDIA_MEMORY.search(line)
        if named is not None and memory is None:
            number, name = int(named[1]), named[2]
            errors = line.strip().rstrip("|").rpartition("|")[2].strip()
        elif memory is not None and number is not None:
            yield Accelerator(
                number=number,
                name=name,
                memory_bytes=int(memory[2]) * MIB,
                used_bytes=int(memory[1]) * MIB,
                healthy=_without_errors(errors + line),
            )
            number = None


def _without_errors(words: str) -> bool | None:
    """Whether a count of uncorrected errors, or a line that begins with one, is zero."""
    if _BROKEN.search(words):
        return False
    count = re.match(r"\d+", words)
    return None if count is None else int(count[0]) == 0


def _from_json(output: str) -> AcceleratorReport | None:
    """Every object that rocm-smi printed, one a question; warnings may stand around them."""
    cards: dict[str, dict[str, str]] = {}
    for found in _objects(output):
        for key, values in found.items():
            if isinstance(values, dict):
                told = {str(name).lower(): str(one) for name, one in values.items()}
                cards.setdefault(str(key), {}).update(told)
    devices = tuple(_json_cards(cards))
    if not devices:
        return None
    return AcceleratorReport(
        devices=devices,
        driver_version=cards.get("system", {}).get("driver version") or None,
    )


def _objects(output: str) -> Iterator[Mapping[str, object]]:
    decoder, place = json.JSONDecoder(), output.find("{")
    for _try in range(MOST_DEVICES):
        if place < 0:
            return
        try:
            found, end = decoder.raw_decode(output, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(found, dict):
                yield found
        place = output.find("{", end)


def _json_cards(cards: Mapping[str, Mapping[str, str]]) -> Iterator[Accelerator]:
    for key, told in cards.items():
        number = _CARD.fullmatch(key)
        if number is not None:
            yield Accelerator(
                number=int(number[1]),
                name=told.get("card series") or told.get("device name") or "",
                memory_bytes=_whole(told.get("vram total memory (b)", "")),
                used_bytes=_whole(told.get("vram total used memory (b)", "")),
            )


def _from_csv(output: str) -> AcceleratorReport:
    lines = [line for line in output.splitlines() if line.strip()]
    for start, line in enumerate(lines):
        names = [name.strip() for name in line.split(",")]
        if "device" in names and "VRAM Total Memory (B)" in names:
            return AcceleratorReport(devices=tuple(_cards(lines[start:])))
        if "index" in names and "name" in names:
            return _gpu_rows(lines[start:])
    return AcceleratorReport(devices=())


def _rows(lines: list[str]) -> Iterator[dict[str, str]]:
    for row in csv.DictReader(lines, skipinitialspace=True):
        yield {
            str(key).partition("[")[0].strip(): value.strip()
            for key, value in row.items()
            if isinstance(value, str)
        }


def _cards(lines: list[str]) -> Iterator[Accelerator]:
    for row in _rows(lines):
        number = _CARD.fullmatch(row.get("device", ""))
        if number is not None:
            yield Accelerator(
                number=int(number[1]),
                name=row.get("Card Series", ""),
                memory_bytes=_whole(row.get("VRAM Total Memory (B)", "")),
                used_bytes=_whole(row.get("VRAM Total Used Memory (B)", "")),
            )


def _gpu_rows(lines: list[str]) -> AcceleratorReport:
    devices, driver = [], None
    for row in _rows(lines):
        number = _whole(row.get("index", ""))
        if number is None:
            continue
        total, used, free = (
            _bytes(row.get(name, ""))
            for name in ("memory.total", "memory.used", "memory.free")
        )
        broken = any(_BROKEN.search(value) for value in row.values())
        driver = row.get("driver_version") or driver
        devices.append(
            Accelerator(
                number=number,
                name=row.get("name", ""),
                memory_bytes=total,
                used_bytes=used,
                free_bytes=free,
                healthy=False if broken else _without_errors(row.get(_ECC, "")),
            )
        )
    return AcceleratorReport(devices=tuple(devices), driver_version=driver)


def _bytes(mebibytes: str) -> int | None:
    number = _whole(mebibytes.removesuffix("MiB").strip())
    return None if number is None else number * MIB


def _whole(words: str) -> int | None:
    return int(words) if words.isascii() and words.isdecimal() else None
