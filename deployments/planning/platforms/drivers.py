"""Whether the driver of a host is new enough for what an image holds: CUDA or CANN.

Sources: NVIDIA, CUDA minor version compatibility (CUDA 11.x from driver 450, 12.x from 525, 13.x from
580); vLLM pull request 39878 (CUDA 13.0 is what images without a CUDA in their tag hold since 0.20.0,
12.x before); CANN 9.1.0 release notes, compatibility of CANN with Ascend HDK (8.5 and 9.0 from 25.0, 9.1 from
25.2), and those of CANN 8.5.0; vllm-ascend v0.21.0rc1 release notes (full graphs need HDK 25.5.1).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.engines.definition import VLLM, VLLM_ASCEND
from deployments.planning.errors import PlanningError
from deployments.planning.platforms.ascend import DRIVERS
from deployments.planning.platforms.images import split_reference
from deployments.planning.text import NOTHING, Text, text
from deployments.planning.versions import parse_version

CUDA_NEEDS = {11: 450, 12: 525, 13: 580}
"""The oldest driver branch by major version of CUDA."""
CANN_NEEDS: Mapping[tuple[int, ...], tuple[int, ...]] = {
    (8, 5): (25, 0),
    (9, 0): (25, 0),
    (9, 1): (25, 2),
}
"""The oldest Ascend HDK by CANN; of older ones the release notes could not be read."""
FULL_GRAPHS_NEED = (25, 5, 1)
FULL_GRAPHS_SINCE = "0.21.0rc1"
CUDA_13_SINCE = "0.20.0"
"""The first vLLM whose official image holds CUDA 13.0 where its tag names none."""
_CUDA_TAG = re.compile(r"-cu(\d{2})(\d)(?:-|$)")
_CANN_FOLDER = re.compile(r"cann-(\d[\w.-]*)|ascend-toolkit/(\d[\w.-]*)")
_RANGE = re.compile(r"driver>=(\d+)(?:\.\d+)*,driver<(\d+)")


class DriverState(StrEnum):
    """What comes of the comparison; ``SLOW`` runs, but not as well as it could."""

    FITS = "fits"
    SLOW = "slow"
    TOO_OLD = "too_old"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDriver:
    """The driver of a host as a probe saw it; ``None`` is unknown.

    ``compatible`` is whether the Ascend driver and its firmware fit each other.
    """

    host: str
    platform: str
    version: str | None = None
    compatible: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageStack:
    """What an image says of the software in it: its name and environment, and the planned engine.

    ``full_graphs`` is whether the command leaves the graph mode of the engine as it is.
    """

    reference: str
    engine: str
    engine_version: str
    environment: Mapping[str, str]
    full_graphs: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverVerdict:
    """The outcome with a sentence, and where something is to be done, what."""

    state: DriverState
    sentence: Text
    fix: Text = NOTHING


def judge_driver(driver: HostDriver, image: ImageStack) -> DriverVerdict | None:
    """Compare the driver with the image; ``None`` where no accelerator is involved."""
    if driver.platform.startswith("ascend"):
        return _ascend(driver, image)
    if driver.platform == "nvidia":
        return _nvidia(driver, image)
    if driver.platform == "amd":
        return DriverVerdict(
            state=DriverState.UNKNOWN,
            sentence=text(
                "Which amdgpu driver the ROCm of {image} needs is not known to this panel.",
                image=image.reference,
            ),
        )
    return None


def leaves_full_graphs(command: Sequence[str]) -> bool:
    """Whether a command leaves the graph mode as it is, or asks for full graphs."""
    words = " ".join(command)
    chosen = "cudagraph_mode" in words and '"FULL' not in words
    return "--enforce-eager" not in command and not chosen


def cuda_of(image: ImageStack) -> tuple[int, ...] | None:
    """The CUDA of an image, from ``CUDA_VERSION`` or from its tag (``v0.28.0-cu129``).

    One number where only the major version is known, else two.
    """
    numbers = _numbers(image.environment.get("CUDA_VERSION", ""))
    if numbers:
        return numbers[:2]
    tag = _CUDA_TAG.search(split_reference(image.reference)[1] or "")
    return (int(tag[1]), int(tag[2])) if tag else None


def cuda_of_release(engine: str, version: str) -> str | None:
    """The CUDA of an engine's official image for NVIDIA GPUs, ``None`` for other engines."""
    if engine != VLLM:
        return None
    return "13.0" if parse_version(version) >= parse_version(CUDA_13_SINCE) else "12"


def cann_of(image: ImageStack) -> str | None:
    """The CANN of an image, from the folder that its environment names, else by its release."""
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        folder = _CANN_FOLDER.search(image.environment.get(name, ""))
        if folder is not None:
            return folder[1] or folder[2]
    return DRIVERS.get(image.engine_version) if image.engine == VLLM_ASCEND else None


def _nvidia(driver: HostDriver, image: ImageStack) -> DriverVerdict:
    if driver.version is None:
        return _driver_unknown(driver)
    cuda = cuda_of(image)
    needed = CUDA_NEEDS.get(cuda[0]) if cuda else None
    if cuda is None or needed is None:
        return _image_unknown(image, "CUDA")
    shown = _dotted(cuda)
    branch = _numbers(driver.version)[:1]
    if branch >= (needed,):
        return DriverVerdict(
            state=DriverState.FITS,
            sentence=text(
                "Driver {driver} of {host} runs CUDA {cuda}, which needs {needed} or later.",
                driver=driver.version,
                host=driver.host,
                cuda=shown,
                needed=needed,
            ),
        )
    if _allowed(branch, image.environment.get("NVIDIA_REQUIRE_CUDA", "")):
        return DriverVerdict(
            state=DriverState.SLOW,
            sentence=text(
                "Driver {driver} of {host} is older than the {needed} that CUDA {cuda} needs; the "
                "image allows it on data-center GPUs, with the compatibility package of CUDA in it.",
                driver=driver.version,
                host=driver.host,
                cuda=shown,
                needed=needed,
            ),
            fix=text(
                "Install driver {needed} or later on {host} when you can.",
                needed=needed,
                host=driver.host,
            ),
        )
    return DriverVerdict(
        state=DriverState.TOO_OLD,
        sentence=text(
            "Driver {driver} of {host} is too old for the image: CUDA {cuda} needs {needed} or later.",
            driver=driver.version,
            host=driver.host,
            cuda=shown,
            needed=needed,
        ),
        fix=text(
            "Install driver {needed} or later on {host}, or plan an image built for an older CUDA.",
            needed=needed,
            host=driver.host,
        ),
    )


def _allowed(branch: tuple[int, ...], required: str) -> bool:
    """Whether one of the image's alternatives names the branch: ``brand=tesla,driver>=535,driver<536``."""
    ranges = _RANGE.findall(required)
    return any((int(first),) <= branch < (int(end),) for first, end in ranges)


def _ascend(driver: HostDriver, image: ImageStack) -> DriverVerdict:
    if driver.compatible is False:
        return DriverVerdict(
            state=DriverState.TOO_OLD,
            sentence=text(
                "npu-smi says that driver and firmware of {host} do not fit each other.",
                host=driver.host,
            ),
            fix=text(
                "Install driver and firmware of one Ascend HDK release on {host}.",
                host=driver.host,
            ),
        )
    if driver.version is None:
        return _driver_unknown(driver)
    cann, hdk = cann_of(image), _numbers(driver.version)
    needed = CANN_NEEDS.get(_numbers(cann)[:2]) if cann else None
    if cann is not None and needed is not None and hdk < needed:
        return DriverVerdict(
            state=DriverState.TOO_OLD,
            sentence=text(
                "Driver {driver} of {host} is too old for the image: CANN {cann} needs Ascend HDK "
                "{needed} or later.",
                driver=driver.version,
                host=driver.host,
                cann=cann,
                needed=_dotted(needed),
            ),
            fix=text(
                "Install Ascend HDK {needed} or later on {host}, or plan an earlier release of the "
                "engine.",
                needed=_dotted(FULL_GRAPHS_NEED),
                host=driver.host,
            ),
        )
    if _graphs_want_more(hdk, image):
        return DriverVerdict(
            state=DriverState.SLOW,
            sentence=text(
                "Driver {driver} of {host} is older than Ascend HDK {needed}, which the full graphs "
                "of {engine} {version} need: capturing them may fail.",
                driver=driver.version,
                host=driver.host,
                needed=_dotted(FULL_GRAPHS_NEED),
                engine=image.engine,
                version=image.engine_version,
            ),
            fix=text(
                "Install Ascend HDK {needed} or later on {host}, or plan with the graph mode "
                "PIECEWISE.",
                needed=_dotted(FULL_GRAPHS_NEED),
                host=driver.host,
            ),
        )
    if cann is None or needed is None:
        return _image_unknown(image, "CANN")
    return DriverVerdict(
        state=DriverState.FITS,
        sentence=text(
            "Driver {driver} of {host} runs CANN {cann}, which needs Ascend HDK {needed} or later.",
            driver=driver.version,
            host=driver.host,
            cann=cann,
            needed=_dotted(needed),
        ),
    )


def _graphs_want_more(hdk: tuple[int, ...], image: ImageStack) -> bool:
    if image.engine != VLLM_ASCEND or not image.full_graphs or hdk >= FULL_GRAPHS_NEED:
        return False
    try:
        version = parse_version(image.engine_version)
    except PlanningError:
        return False
    return version >= parse_version(FULL_GRAPHS_SINCE)


def _driver_unknown(driver: HostDriver) -> DriverVerdict:
    return DriverVerdict(
        state=DriverState.UNKNOWN,
        sentence=text(
            "The driver of {host} is not known, so it was not compared with the image.",
            host=driver.host,
        ),
        fix=text("Look at the devices of {host} on its page.", host=driver.host),
    )


def _image_unknown(image: ImageStack, what: str) -> DriverVerdict:
    return DriverVerdict(
        state=DriverState.UNKNOWN,
        sentence=text(
            "The driver that {image} needs is not known: it does not say which {what} it holds, or "
            "one whose needs this panel does not know.",
            image=image.reference,
            what=what,
        ),
    )


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: ``25.0.RC1.1`` -> (25, 0), ``24.1.rc3.b999`` -> (24, 1)."""
    found = []
    for part in version.split("."):
        if not (part.isascii() and part.isdecimal()):
            break
        found.append(int(part))
    return tuple(found)


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))
