"""Answers of the probe container, made of what kernels and tools really printed."""

from pathlib import Path

import pytest

from deployments.planning.errors import PlanningError
from deployments.telemetry.accelerators import MIB, Accelerator
from deployments.telemetry.device_probe import (
    AMD,
    HUAWEI,
    NVIDIA,
    is_whole,
    parts_of,
    placed,
    read_look,
    read_told,
)

FOLDER = Path(__file__).with_name("fixtures") / "accelerators"


def lines(name: str) -> list[str]:
    return (FOLDER / name).read_text("utf-8").splitlines()


def devices(*numbers: int) -> tuple[Accelerator, ...]:
    return tuple(Accelerator(number=one, name=f"n{one}") for one in numbers)


def test_parts_by_name_and_whether_all_came() -> None:
    parts = parts_of(["noise", "#probe pci", "a", "#probe cann", "#probe end"])
    assert parts == {"pci": ("a",), "cann": (), "end": ()}
    assert is_whole(parts)
    assert not is_whole(parts_of(["#probe pci", "a"]))


def test_an_ascend_host_is_counted_without_a_device() -> None:
    answer = [
        "#probe pci",
        "0000:c1:00.0 0x19e5 0xd802 0x120000",
        "0000:c2:00.0 0x19e5 0xd802 0x120000",
        "0000:7d:00.0 0x19e5 0xa222 0x020000",
        "#probe ascend-driver",
        *lines("npu-driver-24.1.rc3-version.info"),
        "#probe cann",
        "home=/usr/local/Ascend/cann-8.5.0",
    ]
    look = read_look(parts_of(answer), HUAWEI)
    assert (look.count, look.driver_version) == (2, "24.1.rc3.b999")
    assert look.cann_version == "8.5.0"
    assert read_look(parts_of(answer), NVIDIA).count is None


def test_the_installation_names_its_version_before_its_folder() -> None:
    answer = [
        "#probe cann",
        "home=/usr/local/Ascend/ascend-toolkit/latest",
        "package_name=Ascend-cann-toolkit",
        "version=8.3.RC2",
    ]
    assert read_look(parts_of(answer), HUAWEI).cann_version == "8.3.RC2"
    assert read_look(parts_of(answer[:2]), HUAWEI).cann_version is None


def test_nvidia_gpus_are_named_without_a_device() -> None:
    answer = [
        "#probe pci",
        "0000:01:00.0 0x10de 0x2330 0x030200",
        "0000:02:00.0 0x10de 0x2330 0x030200",
        "0000:03:00.0 0x10de 0x22a3 0x068000",
        "#probe nvidia",
        *lines("nvidia-driver-580.126.20-version.txt"),
    ]
    look = read_look(parts_of(answer), NVIDIA)
    assert (look.count, look.driver_version) == (2, "580.126.20")
    named = [*answer, "Model: \t\t NVIDIA H100 80GB HBM3", "IRQ:   \t\t 123"]
    assert read_look(parts_of(named), NVIDIA).names == ("NVIDIA H100 80GB HBM3",)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19",
            "535.129.03",
        ),
        ("nothing", None),
    ],
)
def test_the_loaded_nvidia_driver(line: str, version: str | None) -> None:
    assert read_look(parts_of(["#probe nvidia", line]), NVIDIA).driver_version == (
        version
    )


def test_amd_cards_need_no_device() -> None:
    answer = [
        "#probe amd",
        "6.10.5",
        "#probe rocm-smi",
        *lines("rocm-smi-3.0.0-mi100.json"),
    ]
    look = read_look(parts_of(answer), AMD)
    assert (look.count, look.driver_version) == (2, "6.12.12")
    bare = read_look(parts_of([*answer[:3], "rocm-smi: not found"]), AMD)
    assert (bare.count, bare.driver_version, bare.cards) == (None, "6.10.5", ())


def test_npus_with_the_numbers_of_the_host_and_their_board() -> None:
    answer = [
        "#probe npu-smi",
        *lines("npu-smi-25.5.2-910b4-one-mapped.txt"),
        "#probe board",
        *lines("npu-smi-board-23.0.5.txt"),
    ]
    told = read_told(parts_of(answer), [5])
    assert told.devices[0].number == 5
    assert told.devices[0].free_bytes == (32768 - 2922) * MIB
    assert (told.driver_version, told.firmware_version) == ("25.5.2", "7.1.0.7.220")
    assert told.compatible is True


def test_gpus_count_anew_in_every_container() -> None:
    answer = ["#probe nvidia-smi", *lines("nvidia-smi-query-rtx5090.csv")]
    told = read_told(parts_of(answer), [6, 4], counts_anew=True)
    assert [one.number for one in told.devices] == [4, 6]
    assert told.devices[1].free_bytes == 30010 * MIB
    assert [one.number for one in read_told(parts_of(answer), None).devices] == [0, 1]


def test_a_tool_that_shows_nothing_is_refused() -> None:
    failed = ["#probe npu-smi", "dcmi module initialize failed. ret is -8005"]
    with pytest.raises(PlanningError, match="No devices can be read"):
        read_told(parts_of(failed), [0])


@pytest.mark.parametrize(
    ("seen", "mapped", "anew", "expected"),
    [
        ((5,), (5,), False, (5,)),
        ((0,), (5,), False, (5,)),
        ((0, 1), (4, 6), False, (4, 6)),
        ((4, 6), (4, 6, 7), False, (4, 6)),
        # One of three is missing, and 0 and 1 may be places or numbers of the host.
        ((0, 1), (0, 1, 3), False, ()),
        ((0, 1), (0, 1), True, (0, 1)),
        ((0, 1), (2, 3, 4), True, ()),
        ((7, 8), (2, 3), False, ()),
    ],
)
def test_numbers_that_cannot_be_told_are_left_out(
    seen: tuple[int, ...],
    mapped: tuple[int, ...],
    anew: bool,  # noqa: FBT001
    expected: tuple[int, ...],
) -> None:
    found = placed(devices(*seen), mapped, counts_anew=anew)
    assert tuple(one.number for one in found) == expected
