"""Links between the hosts of a plan on Ascend: short containers ask ``hccn_tool`` of the driver on each.

Only devices that no container holds are mapped: a device belongs to the first container that opens it.
The host's network is given, since the kernel's port ranges and the interfaces of the host are read.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import (
    DeviceUnavailableError,
    DockerApiError,
    MountMissingError,
)
from deployments.docker_api.held_devices import held_devices
from deployments.docker_api.images import ImageFacts, find_image
from deployments.models import Host, PreflightCheck
from deployments.planning.container import DeviceNode, Mount, NetworkMode
from deployments.planning.fabric import (
    HCCL_BASE_PORT,
    HCCL_PORTS,
    FabricFinding,
    HostFabric,
    judge_fabric,
    pings_to_try,
)
from deployments.planning.platforms import find_platform
from deployments.planning.platforms.ascend import Ascend
from deployments.planning.text import said_by, sentences, text
from deployments.services.device_probe import LIBRARIES
from deployments.services.host_probe import probe_is_running
from deployments.services.rollout.checklist import Checklist
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Layout, Member, Rollout
from deployments.services.short_run import ShortRun, ShortRunError, run_short
from deployments.services.throwaway import remove_leftovers
from deployments.telemetry.device_probe import Parts, is_whole, parts_of
from deployments.telemetry.fabric import (
    CONFIGURATION,
    FABRIC,
    IN_SUPER_NODE,
    PINGS,
    ROUTED,
    TOOL,
    read_fabric,
    read_pings,
)

PURPOSE = "fabric"
LONGEST_S = 180
BASE_PORT = "HCCL_IF_BASE_PORT"
INTERFACE = "HCCL_SOCKET_IFNAME"


class _NotSeenError(Exception):
    """A host cannot be asked now; the message says why, and nothing is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A host of the plan, the driver that it has, and the replicas that reach other hosts from it."""

    host: Host
    platform: Ascend
    members: tuple[Member, ...]

    @property
    def ways(self) -> tuple[str, str]:
        """What names addresses and what asks them: Atlas A3 dies sit on the bus of a super node."""
        return IN_SUPER_NODE if self.platform.name == "ascend-a3" else ROUTED


def check_fabric(rollout: Rollout) -> None:
    """The same as ``prove_fabric``, for a release.

    Raises:
        StepFailedError: devices of two hosts do not reach each other.
        DockerApiError: a host does not answer.
    """
    found = Checklist(rollout.release.request_id, trial=False)
    try:
        prove_fabric(rollout, found)
    finally:
        found.store()


def prove_fabric(layout: Layout, found: Checklist) -> None:
    """Prove that the devices of several Ascend hosts can reach each other, as far as can be seen.

    What the preflight list found a short while ago is not asked again. Nothing is done for plans on
    one host and on other platforms.

    Raises:
        StepFailedError: they do not, in a release.
        DockerApiError: a host does not answer, in a release.
    """
    places = list(_places(layout))
    if len(places) < 2 or all(
        found.age(PreflightCheck.FABRIC, one.host) is not None for one in places
    ):
        return
    seen: dict[str, HostFabric] = {}
    problems: dict[str, Exception] = {}
    for place in places:
        with _kept(problems, place):
            seen[place.host.name] = _look(layout, place)
    pings = pings_to_try(tuple(seen.values()))
    for place in places:
        name = place.host.name
        with _kept(problems, place):
            if name in pings:
                answers = read_pings(_ping(layout, place, pings[name]))
                seen[name] = replace(seen[name], pings=answers)
    findings = judge_fabric(tuple(seen.values()))
    failure: Exception | None = None
    for place in places:
        mine = [one for one in findings if one.host == place.host.name]
        try:
            _tell(found, place.host, mine, problems.get(place.host.name))
        except (StepFailedError, DockerApiError) as error:
            failure = failure or error
    if failure is not None:
        raise failure


@contextmanager
def _kept(problems: dict[str, Exception], place: _Place) -> Iterator[None]:
    """Let the other hosts be asked too."""
    try:
        yield
    except (_NotSeenError, ShortRunError, StepFailedError, DockerApiError) as error:
        problems.setdefault(place.host.name, error)


def _tell(
    found: Checklist,
    host: Host,
    findings: Sequence[FabricFinding],
    problem: Exception | None,
) -> None:
    with found.checking(PreflightCheck.FABRIC, host) as told:
        if isinstance(problem, DockerApiError | StepFailedError):
            raise problem
        bad = [one for one in findings if one.fails]
        if bad:
            raise StepFailedError(
                "fabric",
                sentences(*(one.sentence for one in bad)),
                sentences(*dict.fromkeys(one.fix for one in bad)),
            )
        if problem is not None:
            told.skip(said_by(problem))
        for one in findings:
            told.note(one.sentence, one.fix)
        if not findings and problem is None:
            told.sentence = text(
                "The devices of {host} reach those of the next host.", host=host.name
            )


def _places(layout: Layout) -> Iterator[_Place]:
    """Hosts with replicas whose plan gives them the tool, as it does where ranks or caches cross hosts."""
    for host in layout.hosts:
        platform = find_platform(host.platform)
        members = tuple(
            one
            for one in layout.members_on(host)
            if any(mount.source == TOOL for mount in one.planned.container.mounts)
        )
        if members and isinstance(platform, Ascend):
            yield _Place(host=host, platform=platform, members=members)


def _look(layout: Layout, place: _Place) -> HostFabric:
    subject = place.ways[0]
    with layout.engine(place.host) as engine:
        numbers = _free(engine, place)
        parts = _run(
            layout, engine, place, numbers, FABRIC, subject, *map(str, numbers)
        )
    containers = [one.planned.container for one in place.members]
    environment = dict(pair for one in containers for pair in one.environment)
    base = environment.get(BASE_PORT, "")
    first = int(base) if base.isdigit() else HCCL_BASE_PORT
    in_host_network = [
        port.host
        for one in containers
        if one.network_mode is NetworkMode.HOST
        for port in one.ports
    ]
    return replace(
        read_fabric(
            parts,
            host=place.host.name,
            numbers=numbers,
            routed=place.ways is ROUTED,
        ),
        interface=environment.get(INTERFACE, ""),
        ports=(*in_host_network, *range(first, first + HCCL_PORTS)),
    )


def _ping(layout: Layout, place: _Place, pairs: Sequence[tuple[int, str]]) -> Parts:
    with layout.engine(place.host) as engine:
        free = _free(engine, place)
        names = [f"{number}:{address}" for number, address in pairs if number in free]
        return _run(layout, engine, place, free, PINGS, place.ways[1], *names)


def _free(engine: Engine, place: _Place) -> tuple[int, ...]:
    """Devices of the plan on cards of which no container holds one."""
    host = place.host
    if probe_is_running(host):
        raise _NotSeenError(
            text("A probe holds devices of {host} just now.", host=host.name)
        )
    seen = held_devices(engine)
    size = place.platform.traits.devices_per_card
    cards = {number // size for number in seen.numbers}
    free = tuple(
        number
        for one in place.members
        for number in one.planned.devices
        if number // size not in cards
    )
    if seen.unclear or not free:
        raise _NotSeenError(
            text(
                "Links of {host} were not looked at, since containers hold its devices, or may.",
                host=host.name,
            )
        )
    return tuple(sorted(set(free)))


def _run(
    layout: Layout,
    engine: Engine,
    place: _Place,
    numbers: Sequence[int],
    script: str,
    *arguments: str,
) -> Parts:
    owner = f"fabric:{layout.release.pk}"
    remove_leftovers(engine, owner)
    platform = place.platform
    nodes = (*(f"/dev/davinci{one}" for one in numbers), *platform.management_nodes)
    paths = (*platform.driver_mounts, TOOL, CONFIGURATION)
    run = ShortRun(
        purpose=PURPOSE,
        owner=owner,
        command=("/bin/sh", "-c", script, PURPOSE, *arguments),
        environment=(("LD_LIBRARY_PATH", LIBRARIES),),
        devices=tuple(DeviceNode(host_path=one, container_path=one) for one in nodes),
        mounts=tuple(Mount(source=one, target=one) for one in dict.fromkeys(paths)),
        cap_add=("DAC_OVERRIDE",),
        user="0",
        network=NetworkMode.HOST,
        longest_s=LONGEST_S,
        on_wait=layout.keep_alive,
    )
    try:
        answer = run_short(engine, _image(engine, place), run)
    except DeviceUnavailableError as error:
        raise _NotSeenError(said_by(error)) from error
    except MountMissingError as error:
        if CONFIGURATION in str(error):
            raise _no_addresses(place) from error
        raise
    parts = parts_of(answer.lines)
    if not is_whole(parts):
        raise _NotSeenError(
            text(
                "The container that looked at the links of {host} ended with {code} before it had told "
                "all.",
                host=place.host.name,
                code=answer.exit_code,
            )
        )
    return parts


def _no_addresses(place: _Place) -> StepFailedError:
    """Every container of the plan would fail to mount it, too, when the old release has stopped."""
    return StepFailedError(
        "fabric",
        text(
            "{host} has no {file}, in which the driver keeps the addresses of its devices and which the "
            "containers of this plan mount.",
            host=place.host.name,
            file=CONFIGURATION,
        ),
        text(
            "Set an address for each device there, which writes the file: hccn_tool -i DEVICE -ip -s "
            "address ADDRESS netmask MASK."
        )
        if place.ways is ROUTED
        else text(
            "Make it there: dies of one super node need no address in it, so an empty file does."
        ),
    )


def _image(engine: Engine, place: _Place) -> ImageFacts:
    wanted = place.members[0].planned.container.image
    found = find_image(
        engine, wanted.reference, digest=wanted.digest, image_id=wanted.image_id
    )
    if found is None:
        raise _NotSeenError(
            text("The image is not on {host} yet.", host=place.host.name)
        )
    return found
