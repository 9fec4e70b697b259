"""Outputs of npu-smi, nvidia-smi and rocm-smi as people posted them, of several driver versions."""

from pathlib import Path

import pytest

from deployments.planning.errors import PlanningError
from deployments.telemetry.accelerators import MIB, Accelerator, read_accelerators

FOLDER = Path(__file__).with_name("fixtures") / "accelerators"


@pytest.mark.parametrize(
    ("name", "driver", "devices"),
    [
        ("npu-smi-23.0.3-910b3.txt", "23.0.3", [(0, "910B3", 65536, 3159, True)]),
        (
            "npu-smi-24.1.1-910b4.txt",
            "24.1.1",
            [(0, "910B4", 32768, 26838, True), (1, "910B4", 32768, 29356, True)],
        ),
        (
            "npu-smi-24.1.rc3.7-a3.txt",
            "24.1.rc3.7",
            [(0, "Ascend910", 65536, 3397, True), (1, "Ascend910", 65536, 3186, True)],
        ),
        (
            "npu-smi-26.0.rc2-a3.txt",
            "26.0.rc2",
            [(0, "Ascend910", 65536, 3419, True), (1, "Ascend910", 65536, 2874, True)],
        ),
        (
            "npu-smi-25.2.0-310p3.txt",
            "25.2.0",
            [(0, "310P3", 44280, 1529, True), (1, "310P3", 43693, 1412, True)],
        ),
        (
            "nvidia-smi-515.65.01.txt",
            "515.65.01",
            [(0, "Tesla P100-PCIE...", 16384, 0, True)],
        ),
        (
            "npu-smi-25.5.2-910b4-one-mapped.txt",
            "25.5.2",
            [(5, "910B4", 32768, 2922, True)],
        ),
        (
            "nvidia-smi-580.126.20.txt",
            "580.126.20",
            [(0, "Tesla T4", 16384, 0, None)],
        ),
        (
            "nvidia-smi-331.62.txt",
            "331.62",
            [
                (0, "GeForce GTX 680", 4095, 9, None),
                (1, "GeForce GTX 680", 4095, 9, None),
            ],
        ),
    ],
)
def test_tables_of_real_drivers(
    name: str, driver: str, devices: list[tuple[int, str, int, int, bool | None]]
) -> None:
    report = read_accelerators((FOLDER / name).read_text("utf-8"))
    assert report.driver_version == driver
    assert report.devices == tuple(
        Accelerator(
            number=number,
            name=title,
            memory_bytes=total * MIB,
            used_bytes=used * MIB,
            free_bytes=(total - used) * MIB,
            healthy=healthy,
        )
        for number, title, total, used, healthy in devices
    )


def test_csv_of_rocm_smi() -> None:
    report = read_accelerators((FOLDER / "rocm-smi-rx7900xt.csv").read_text("utf-8"))
    assert report.devices == (
        Accelerator(
            number=0,
            name="Radeon RX 7900 XT",
            memory_bytes=21458059264,
            used_bytes=27856896,
            free_bytes=21458059264 - 27856896,
        ),
    )
    again = read_accelerators((FOLDER / "rocm-smi-rx7900xt.json").read_text("utf-8"))
    assert again.devices == report.devices
    two = read_accelerators((FOLDER / "rocm-smi-two-cards.csv").read_text("utf-8"))
    assert [device.name for device in two.devices] == [
        "Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]",
        "Raphael",
    ]


def test_csv_of_nvidia_smi_in_any_order_and_unknown_stays_unknown() -> None:
    report = read_accelerators(
        "driver_version, name, index, memory.total [MiB], memory.used [MiB]\n"
        "580.105.06, NVIDIA H200 NVL, 1, 143771 MiB, [N/A]\n"
        "580.105.06, NVIDIA H200 NVL, 0, 143771 MiB, 4 MiB\n"
    )
    assert report.driver_version == "580.105.06"
    assert [device.number for device in report.devices] == [0, 1]
    assert report.devices[1].used_bytes is None
    assert report.devices[0].memory_bytes == 143771 * MIB


def test_json_of_rocm_smi_in_one_answer_and_in_several() -> None:
    one = read_accelerators(
        (FOLDER / "rocm-smi-6.12.12-two-cards.json").read_text("utf-8")
    )
    assert one.driver_version == "6.12.12"
    assert [device.memory_bytes for device in one.devices] == [10720641024, 536870912]
    several = read_accelerators(
        "WARNING: AMD GPU device(s) is/are in a low-power state\n"
        + (FOLDER / "rocm-smi-3.0.0-mi100.json").read_text("utf-8")
    )
    assert several.driver_version == "6.12.12"
    assert [device.name for device in several.devices] == ["AMD Instinct MI100"] * 2
    assert {device.memory_bytes for device in several.devices} == {None}


def test_free_memory_is_what_the_tool_calls_free() -> None:
    report = read_accelerators(
        (FOLDER / "nvidia-smi-query-rtx5090.csv").read_text("utf-8")
    )
    assert [device.free_bytes for device in report.devices] == [
        28283 * MIB,
        30010 * MIB,
    ]
    assert report.devices[0].memory_bytes == 32607 * MIB
    other = read_accelerators(
        (FOLDER / "nvidia-smi-query-550.90.07-l4.csv").read_text("utf-8")
    )
    assert other.driver_version == "550.90.07"
    assert other.devices[0].free_bytes == (23034 - 412) * MIB
    assert other.devices[0].healthy is None


@pytest.mark.parametrize(
    ("errors", "healthy"),
    [("0", True), ("3", False), ("[N/A]", None), ("[Unknown Error]", False)],
)
def test_uncorrected_errors_tell_the_health_of_a_gpu(
    errors: str,
    healthy: bool | None,  # noqa: FBT001
) -> None:
    report = read_accelerators(
        "index, name, memory.total [MiB], ecc.errors.uncorrected.volatile.total\n"
        f"0, NVIDIA H100 80GB HBM3, 81559 MiB, {errors}\n"
    )
    assert report.devices[0].healthy is healthy


def test_a_gpu_that_shows_an_error_in_the_table_is_not_healthy() -> None:
    words = (FOLDER / "nvidia-smi-515.65.01.txt").read_text("utf-8")
    ill = read_accelerators(words.replace("| N/A   27C ", "| ERR!  27C "))
    assert ill.devices[0].healthy is False


def test_a_device_that_is_not_healthy() -> None:
    words = (FOLDER / "npu-smi-23.0.3-910b3.txt").read_text("utf-8")
    ill = read_accelerators(words.replace("| OK      ", "| Warning "))
    assert ill.devices[0].healthy is False


@pytest.mark.parametrize(
    "output",
    [
        "",
        "hello",
        "npu-smi 25.2.0 Version: 25.2.0",
        "dcmi model initialized failed, because the device is used. ret is -8020",
        "index, name\n0, A\n0, B\n",
    ],
)
def test_what_shows_no_devices_is_refused(output: str) -> None:
    with pytest.raises(PlanningError, match="No devices can be read"):
        read_accelerators(output)
