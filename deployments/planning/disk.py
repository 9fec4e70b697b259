"""Whether what a plan writes fits where the Docker Engine of a host keeps images, volumes and logs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from deployments.planning.container import ContainerSpec
from deployments.planning.text import NOTHING, Text, listed, sentences, text

GIB = 1 << 30
CACHE_BYTES = 2 * GIB
"""Assumed for compiled graphs and kernels in one cache volume that is empty."""
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskNeed:
    """What a host has to take up, in bytes.

    ``images`` are those that are not on the host yet, ``None`` where nobody knows how large one is;
    ``caches`` are volumes that do not exist yet, ``logs`` what rotation allows the containers.
    """

    images: Mapping[str, int | None] = field(default_factory=dict)
    caches: int = 0
    logs: int = 0

    @property
    def known(self) -> int:
        """What is known of it together."""
        return sum(filter(None, self.images.values())) + self.caches + self.logs


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSpace:
    """Bytes that are free: in the engine's data root, and in each model directory of the host."""

    root: int
    models: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskVerdict:
    """``fits`` is ``None`` where an image has an unknown size and the rest fits."""

    fits: bool | None
    sentence: Text
    fix: Text = NOTHING


def logs_bytes(container: ContainerSpec) -> int:
    """The most that a container's log takes before the engine drops its oldest file."""
    match = re.fullmatch(r"(\d+)([kmg]?)", container.logging.max_size)
    if match is None:
        return 0
    return int(match[1]) * _UNITS[match[2]] * container.logging.max_file


def judge_disk(host: str, space: DiskSpace, need: DiskNeed) -> DiskVerdict:
    """Compare what is free with what is needed; says both."""
    unknown = sorted(name for name, size in need.images.items() if size is None)
    parts = [
        text("{size} for the image {image}", size=size_text(size), image=image)
        for image, size in sorted(need.images.items())
        if size is not None
    ]
    if need.caches:
        parts.append(text("{size} for caches", size=size_text(need.caches)))
    if need.logs:
        parts.append(text("{size} for logs", size=size_text(need.logs)))
    if space.root < need.known:
        return DiskVerdict(
            fits=False,
            sentence=text(
                "the engine of {host} has {free} free for images, volumes and logs, and needs about "
                "{need}: {parts}",
                host=host,
                free=size_text(space.root),
                need=size_text(need.known),
                parts=listed(parts),
            ),
            fix=text(
                "Free disk space on the host (`docker system df` says what takes it), or move the "
                "engine's data root to a larger disk; nothing was stopped."
            ),
        )
    said = text(
        "The engine of {host} has {free} free for images, volumes and logs; it needs about {need}.",
        host=host,
        free=size_text(space.root),
        need=size_text(need.known),
    )
    said = sentences(said, *_models(space))
    if not unknown:
        return DiskVerdict(fits=True, sentence=said)
    return DiskVerdict(
        fits=None,
        sentence=sentences(
            said,
            text(
                "How large {images} is cannot be known before it is pulled.",
                images=listed(unknown),
            ),
        ),
    )


def size_text(size: int) -> str:
    """Bytes as people read them: ``12.5 GiB``, below one ``320 MiB``."""
    if size >= GIB:
        return f"{size / GIB:.1f} GiB"
    return f"{size / (1 << 20):.0f} MiB"


def _models(space: DiskSpace) -> list[Text]:
    if not space.models:
        return []
    told = [f"{path} {size_text(free)}" for path, free in sorted(space.models.items())]
    return [text("Free in its model directories: {places}.", places=listed(told))]
