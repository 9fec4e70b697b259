"""A full disk ends in its own sentence, with what is free, what is needed, and for what."""

import pytest

from deployments.planning.container import ContainerSpec, ImageReference, LogOptions
from deployments.planning.disk import (
    GIB,
    DiskNeed,
    DiskSpace,
    judge_disk,
    logs_bytes,
    size_text,
)

IMAGE = "quay.io/acme/vllm:0.32.0"


def test_a_full_disk_says_what_is_free_what_is_needed_and_what_to_do() -> None:
    found = judge_disk(
        "gpu-01",
        DiskSpace(root=9 * GIB, models={"/data/models": 400 * GIB}),
        DiskNeed(images={IMAGE: 12 * GIB}, caches=2 * GIB, logs=320 << 20),
    )
    assert found.fits is False
    assert found.sentence == (
        "the engine of gpu-01 has 9.0 GiB free for images, volumes and logs, and needs about "
        "14.3 GiB: 12.0 GiB for the image quay.io/acme/vllm:0.32.0, 2.0 GiB for caches, "
        "320 MiB for logs"
    )
    assert found.fix == (
        "Free disk space on the host (`docker system df` says what takes it), or move the "
        "engine's data root to a larger disk; nothing was stopped."
    )


def test_what_fits_says_both_numbers_and_the_model_directories() -> None:
    found = judge_disk(
        "gpu-01",
        DiskSpace(root=90 * GIB, models={"/data/models": 400 * GIB}),
        DiskNeed(images={IMAGE: 12 * GIB}, logs=320 << 20),
    )
    assert found.fits is True
    assert found.sentence == (
        "The engine of gpu-01 has 90.0 GiB free for images, volumes and logs; it needs about "
        "12.3 GiB. Free in its model directories: /data/models 400.0 GiB."
    )


def test_an_image_of_unknown_size_is_said_and_is_not_nothing() -> None:
    found = judge_disk(
        "gpu-01", DiskSpace(root=90 * GIB), DiskNeed(images={IMAGE: None})
    )
    assert found.fits is None
    assert found.sentence.endswith(
        f"How large {IMAGE} is cannot be known before it is pulled."
    )


@pytest.mark.parametrize(
    ("size", "files", "expected"),
    [("64m", 5, 5 * (64 << 20)), ("1g", 2, 2 * GIB), ("500", 1, 500), ("odd", 3, 0)],
)
def test_logs_take_what_rotation_allows(size: str, files: int, expected: int) -> None:
    spec = ContainerSpec(
        name="chat",
        image=ImageReference(reference=IMAGE),
        command=("vllm",),
        logging=LogOptions(max_size=size, max_file=files),
    )
    assert logs_bytes(spec) == expected


def test_sizes_are_told_in_the_unit_that_fits() -> None:
    assert [size_text(320 << 20), size_text(3 * GIB // 2)] == ["320 MiB", "1.5 GiB"]
