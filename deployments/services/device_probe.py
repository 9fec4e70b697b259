"""Look at the accelerators of a host from short containers; a device that is held is left alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import (
    DeviceUnavailableError,
    DockerApiError,
    MountMissingError,
)
from deployments.docker_api.held_devices import held_devices
from deployments.docker_api.images import (
    ImageFacts,
    find_image,
    list_images,
    repository_of,
)
from deployments.models import Booking, Host, Platform, ProbeSettings
from deployments.planning.container import DeviceNode, DeviceRequest, Mount
from deployments.planning.errors import PlanningError
from deployments.planning.platforms import find_platform
from deployments.planning.platforms.ascend import Ascend
from deployments.planning.platforms.devices import DEVICES_PER_HOST
from deployments.planning.platforms.images import rewrite
from deployments.planning.text import Text, listed, said_by, text
from deployments.selectors.planning_inputs import cluster_settings
from deployments.services.short_run import ShortRun, ShortRunError, run_short
from deployments.services.throwaway import remove_leftovers
from deployments.telemetry.device_probe import (
    AMD,
    ASCEND_TOOL,
    HUAWEI,
    LOOK,
    NVIDIA,
    NVIDIA_TOOL,
    Look,
    Parts,
    Told,
    is_whole,
    parts_of,
    read_look,
    read_told,
)

PURPOSE = "probe"
LONGEST_S = 60
VERSION_INFO = "/usr/local/Ascend/driver/version.info"
LIBRARIES = ":".join(
    f"/usr/local/Ascend/driver/lib64{folder}" for folder in ("/common", "/driver", "")
)
_MISSING_NODE = re.compile(r"/dev/davinci(\d+)\b")
_VENDORS = {Platform.NVIDIA.value: NVIDIA, Platform.AMD.value: AMD}


@dataclass(slots=True, kw_only=True)
class Found:
    """What one probe found; ``count`` devices in all, of which ``held`` were left alone.

    ``missing`` are devices of the PCI bus without a device node. ``notes`` say what kept it from
    telling more.
    """

    image: str
    look: Look
    told: Told = field(default_factory=Told)
    held: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    notes: list[Text] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where one probe runs, and what of."""

    engine: Engine
    host: Host
    settings: ProbeSettings
    image: ImageFacts

    def run(self, script: str, *arguments: str, **needs: object) -> Parts:
        """Run a script to its end; what it needs beyond that are fields of ``ShortRun``.

        Raises:
            ShortRunError: it gave no whole answer.
            DockerApiError: the Docker Engine refuses or does not answer.
        """
        run = ShortRun(
            purpose=PURPOSE,
            owner=owner_of(self.host),
            command=("/bin/sh", "-c", script, "probe", *arguments),
            longest_s=LONGEST_S,
            **needs,  # type: ignore[arg-type]
        )
        answer = run_short(self.engine, self.image, run)
        parts = parts_of(answer.lines)
        if not is_whole(parts):
            raise ShortRunError(
                text(
                    "The probe's container ended with {code} before it had told all: {line}",
                    code=answer.exit_code,
                    line=(answer.lines or ("-",))[-1][:200],
                )
            )
        return parts


def probe_devices(engine: Engine, host: Host, settings: ProbeSettings) -> Found:
    """Look at a host: first from a container without devices, then with those that are free.

    Raises:
        ShortRunError: the host has no image for it, or the container gave no answer.
        DockerApiError: the Docker Engine refuses or does not answer.
    """
    remove_leftovers(engine, owner_of(host))
    image, name = _image(engine, host, settings)
    place = _Place(engine=engine, host=host, settings=settings, image=image)
    vendor = _VENDORS.get(host.platform, HUAWEI)
    found = Found(image=name, look=_look(place, vendor))
    if vendor == AMD:
        if not found.look.cards:
            found.notes.append(text("rocm-smi in {image} shows no GPU.", image=name))
        return found
    free = _free(place, _numbers(host, found.look), found)
    if not free:
        return found
    try:
        found.told = (
            _nvidia(place, free) if vendor == NVIDIA else _ascend(place, free, found)
        )
    except (PlanningError, ShortRunError, DockerApiError) as error:
        found.notes.append(said_by(error))
    return found


def owner_of(host: Host) -> str:
    """Whose probe containers are, on their labels."""
    return f"probe:{host.pk}"


def _image(
    engine: Engine, host: Host, settings: ProbeSettings
) -> tuple[ImageFacts, str]:
    """The chosen image, or the smallest one of the engine that the host's platform runs."""
    if settings.image:
        chosen = find_image(engine, settings.image)
        if chosen is None:
            raise ShortRunError(
                text(
                    "The image {image} of the probe is not on {host}. Pull it there, or choose "
                    "another one for the cluster.",
                    image=settings.image,
                    host=host.name,
                )
            )
        return chosen, settings.image
    platform = find_platform(host.platform)
    usual = platform.image(platform.default_engine_version, host.architecture or None)
    wanted = repository_of(rewrite(usual, cluster_settings(host.cluster)))
    there = [
        (one, name)
        for one in list_images(engine)
        for name in one.references
        if repository_of(name) == wanted
    ]
    if not there:
        raise ShortRunError(
            text(
                "{host} has no image of {repository} to probe with. Choose an image for the probe of "
                "the cluster, or pull the engine's image there.",
                host=host.name,
                repository=wanted,
            )
        )
    return min(there, key=lambda one: (one[0].size_bytes, one[1]))


def _look(place: _Place, vendor: str) -> Look:
    version = (Mount(source=VERSION_INFO, target=VERSION_INFO),)
    try:
        parts = place.run(LOOK, mounts=version if vendor == HUAWEI else ())
    except MountMissingError:
        parts = place.run(LOOK)
    return read_look(parts, vendor)


def _numbers(host: Host, look: Look) -> list[int]:
    """The devices that may be there: as the PCI bus counts them, else as they are known."""
    if look.count is not None:
        return list(range(look.count))
    known = sorted(host.devices.values_list("number", flat=True))
    if known or host.platform == Platform.NVIDIA:
        return known
    return list(range(DEVICES_PER_HOST.get(host.platform, 0)))


def _free(place: _Place, numbers: Sequence[int], found: Found) -> list[int]:
    """Devices that may be mapped; on cards with several, those of cards where none is held."""
    if not numbers:
        found.notes.append(
            text(
                "The kernel of {host} shows no accelerator of this kind, and none was entered by "
                "hand.",
                host=place.host.name,
            )
        )
        return []
    if place.settings.privileged:
        return list(numbers)
    seen = held_devices(place.engine)
    if seen.unclear:
        found.held = tuple(numbers)
        found.notes.append(
            text(
                "Which devices are free cannot be told: the containers {names} may hold any (they "
                "are privileged, or ask for all). No device was mapped.",
                names=listed(list(seen.unclear[:3])),
            )
        )
        return []
    booked = Booking.objects.filter(
        host=place.host, released_at=None, device__isnull=False
    ).values_list("device", flat=True)
    held = seen.numbers | {one for one in booked if one is not None}
    size = find_platform(place.host.platform).traits.devices_per_card
    cards = {number // size for number in held}
    free = [number for number in numbers if number // size not in cards]
    found.held = tuple(number for number in numbers if number not in free)
    return free


def _nvidia(place: _Place, free: Sequence[int]) -> Told:
    """nvidia-smi with the ``utility`` part of the driver: no context is made on a GPU."""
    request = DeviceRequest(
        driver="nvidia",
        device_ids=tuple(str(number) for number in free),
        capabilities=("utility",),
    )
    parts = place.run(
        NVIDIA_TOOL,
        device_requests=(request,),
        # An image made for a newer driver would not even start on the one that is to be read.
        environment=(("NVIDIA_DISABLE_REQUIRE", "1"),),
    )
    return read_told(parts, free, counts_anew=True)


def _ascend(place: _Place, free: Sequence[int], found: Found) -> Told:
    """npu-smi of the driver on the free dies; one without a device node is left out and said."""
    mapped = list(free)
    while mapped:
        try:
            parts = _npu_smi(place, mapped)
        except DeviceUnavailableError as error:
            node = _MISSING_NODE.search(str(error))
            if node is None or int(node[1]) not in mapped:
                raise
            mapped.remove(int(node[1]))
            found.missing += (int(node[1]),)
            continue
        return read_told(parts, None if place.settings.privileged else mapped)
    return Told()


def _npu_smi(place: _Place, mapped: Sequence[int]) -> Parts:
    platform = find_platform(place.host.platform)
    if not isinstance(platform, Ascend):
        raise ShortRunError(
            text("{host} is registered without accelerators.", host=place.host.name)
        )
    nodes = (f"/dev/davinci{number}" for number in mapped)
    alone = place.settings.privileged
    paths = () if alone else (*nodes, *platform.management_nodes)
    return place.run(
        ASCEND_TOOL,
        str(mapped[0] // platform.traits.devices_per_card),
        devices=tuple(DeviceNode(host_path=one, container_path=one) for one in paths),
        mounts=tuple(Mount(source=one, target=one) for one in platform.driver_mounts),
        environment=(("LD_LIBRARY_PATH", LIBRARIES),),
        cap_add=("DAC_OVERRIDE",),
        user="0",
        privileged=alone,
    )
