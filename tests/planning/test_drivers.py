"""Drivers of hosts against what images hold."""

import pytest

from deployments.planning.platforms.drivers import (
    DriverState,
    HostDriver,
    ImageStack,
    cann_of,
    cuda_of,
    cuda_of_release,
    judge_driver,
)


def stack(
    reference: str = "vllm/vllm-openai:v0.32.0",
    engine: str = "vllm",
    version: str = "0.32.0",
    *,
    full_graphs: bool = True,
    **environment: str,
) -> ImageStack:
    return ImageStack(
        reference=reference,
        engine=engine,
        engine_version=version,
        environment=environment,
        full_graphs=full_graphs,
    )


def ascend(version: str, *, full_graphs: bool = True, **environment: str) -> ImageStack:
    return stack(
        f"quay.io/ascend/vllm-ascend:v{version}",
        "vllm-ascend",
        version,
        full_graphs=full_graphs,
        **environment,
    )


def judged(platform: str, driver: str | None, image: ImageStack) -> tuple[str, str]:
    verdict = judge_driver(
        HostDriver(host="h-1", platform=platform, version=driver), image
    )
    assert verdict is not None
    return str(verdict.state), f"{verdict.sentence} {verdict.fix}".strip()


REQUIRE = (
    "cuda>=13.0 brand=tesla,driver>=535,driver<536 brand=grid,driver>=535,driver<536"
)


@pytest.mark.parametrize(
    ("driver", "image", "state"),
    [
        ("580.65.06", stack(CUDA_VERSION="13.0.1"), "fits"),
        ("610.1", stack(CUDA_VERSION="13.0.1"), "fits"),
        ("570.86.15", stack(CUDA_VERSION="13.0.1"), "too_old"),
        ("570.86.15", stack(CUDA_VERSION="12.9.1"), "fits"),
        ("515.65.01", stack(CUDA_VERSION="12.9.1"), "too_old"),
        ("525.60.13", stack(CUDA_VERSION="12"), "fits"),
        ("535.129.03", stack(CUDA_VERSION="13.0", NVIDIA_REQUIRE_CUDA=REQUIRE), "slow"),
        (
            "550.90.07",
            stack(CUDA_VERSION="13.0", NVIDIA_REQUIRE_CUDA=REQUIRE),
            "too_old",
        ),
        (None, stack(CUDA_VERSION="13.0"), "unknown"),
        ("580.65.06", stack(), "unknown"),
        ("580.65.06", stack(CUDA_VERSION="14.0"), "unknown"),
    ],
)
def test_nvidia(driver: str | None, image: ImageStack, state: str) -> None:
    assert judged("nvidia", driver, image)[0] == state


def test_the_sentence_names_both_sides_and_the_way_out() -> None:
    _state, said = judged("nvidia", "570.86.15", stack(CUDA_VERSION="13.0.1"))
    assert said == (
        "Driver 570.86.15 of h-1 is too old for the image: CUDA 13.0 needs 580 or later. "
        "Install driver 580 or later on h-1, or plan an image built for an older CUDA."
    )
    _state, said = judged("ascend-a3", "24.1.rc3.7", ascend("0.23.0"))
    assert said == (
        "Driver 24.1.rc3.7 of h-1 is too old for the image: CANN 9.1.0 needs Ascend HDK 25.2 or "
        "later. Install Ascend HDK 25.5.1 or later on h-1, or plan an earlier release of the engine."
    )


@pytest.mark.parametrize(
    ("driver", "image", "state"),
    [
        ("26.0.rc2", ascend("0.23.0"), "fits"),
        ("25.5.1", ascend("0.23.0"), "fits"),
        ("25.5.0", ascend("0.23.0"), "slow"),
        ("25.5.0", ascend("0.23.0", full_graphs=False), "fits"),
        ("25.0.RC1.1", ascend("0.23.0"), "too_old"),
        ("25.0.RC1.1", ascend("0.18.0"), "fits"),
        ("24.1.0", ascend("0.18.0"), "too_old"),
        # Which driver CANN 8.3 needs could not be read anywhere.
        ("24.1.0", ascend("0.11.0"), "unknown"),
        (
            "24.1.0",
            ascend("0.11.0", ASCEND_HOME_PATH="/usr/local/Ascend/cann-8.5.0"),
            "too_old",
        ),
        (None, ascend("0.23.0"), "unknown"),
    ],
)
def test_ascend(driver: str | None, image: ImageStack, state: str) -> None:
    assert judged("ascend-a2", driver, image)[0] == state


def test_driver_and_firmware_must_fit_each_other() -> None:
    driver = HostDriver(
        host="h-1", platform="ascend-a2", version="26.0.rc2", compatible=False
    )
    verdict = judge_driver(driver, ascend("0.23.0"))
    assert verdict is not None
    assert verdict.state is DriverState.TOO_OLD


def test_where_nothing_is_documented_nothing_is_claimed() -> None:
    assert judged("amd", "6.12.12", stack())[0] == "unknown"
    assert judge_driver(HostDriver(host="h", platform="cpu"), stack()) is None


def test_what_an_image_holds() -> None:
    assert cuda_of(stack("vllm/vllm-openai:v0.28.0-cu129")) == (12, 9)
    assert cuda_of(stack("vllm/vllm-openai:v0.18.0-cu130")) == (13, 0)
    assert cuda_of(stack("registry:5000/vllm:latest")) is None
    assert cuda_of_release("vllm", "0.20.0") == "13.0"
    assert cuda_of_release("vllm", "0.19.1") == "12"
    assert cuda_of_release("vllm-ascend", "0.23.0") is None
    assert cann_of(ascend("0.23.0")) == "9.1.0"
    assert cann_of(stack(version="0.23.0")) is None
    old = ascend("9", ASCEND_TOOLKIT_HOME="/usr/local/Ascend/ascend-toolkit/latest")
    assert cann_of(old) is None
