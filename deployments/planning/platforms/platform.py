"""Platform: what a hardware family asks of a container, beyond the floor and with the reason."""

from dataclasses import dataclass
from typing import Protocol

from deployments.planning.canonical import Json
from deployments.planning.container import DeviceNode, DeviceRequest, Mount, NetworkMode
from deployments.planning.methods import Method
from deployments.planning.plan import Role
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """One thing beyond the container floor, and why the platform cannot do without it."""

    what: Text
    why: Text
    source: Text | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A container as its platform sees it.

    ``devices`` are host numbers. ``spans_hosts`` is true when ranks on other hosts belong to it
    or KV cache is transferred to other replicas, ``transfers`` in the second case only.
    """

    host: HostSnapshot
    role: Role
    devices: tuple[int, ...]
    spans_hosts: bool
    transfers: bool = False

    @property
    def whole_host(self) -> bool:
        """Whether it holds every device of its host."""
        return len(self.devices) >= self.host.device_count


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerNeeds:
    """What the platform adds to a container. ``beyond`` lists the reasons.

    ``library_path`` is appended to the LD_LIBRARY_PATH of the image, which stays in front.
    """

    devices: tuple[DeviceNode, ...] = ()
    device_requests: tuple[DeviceRequest, ...] = ()
    mounts: tuple[Mount, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    cap_add: tuple[str, ...] = ()
    group_add: tuple[str, ...] = ()
    library_path: str | None = None
    network_mode: NetworkMode = NetworkMode.BRIDGE
    shm_size_bytes: int = 1 << 30
    memory_lock: bool = False
    beyond: tuple[Beyond, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What the planner must know of a family besides its container.

    ``devices_per_card`` are booked together unless splitting is allowed. ``documented_as`` is the
    family whose checkpoints and documents serve here too, where nobody has written its own;
    ``refused_quantisations`` are those of its checkpoints that do not run. ``methods`` are the only
    ones documented, ``None`` for no such limit. ``flags`` go into every command. ``kv_extra`` goes
    into the connector's settings. ``image_since`` is the first engine release with an official
    image, ``None`` where every profile has one. ``needs_length`` is true where max_model_len must be
    given.
    """

    devices_per_card: int = 1
    documented_as: str | None = None
    refused_quantisations: tuple[str, ...] = ()
    methods: frozenset[Method] | None = None
    flags: tuple[tuple[str, Json], ...] = ()
    kv_extra: tuple[tuple[str, Json], ...] = ()
    image_since: str | None = None
    needs_length: bool = False
    source: str = ""


ORDINARY = Traits()
"""A family with nothing out of the ordinary."""


class Platform(Protocol):
    """One hardware family.

    ``engine`` is the engine that runs on it and ``default_engine_version`` the one that is planned
    unasked. ``first_kv_port`` is the lowest port safe for KV transfer, ``kv_connector`` says which
    connector carries it (``None``: the platform cannot serve prefill and decode apart).
    """

    @property
    def traits(self) -> "Traits":
        """What sets the family apart for the planner."""

    @property
    def name(self) -> str:
        """The platform's name in snapshots: ``nvidia``, ``ascend-a3``."""

    @property
    def title(self) -> str:
        """The name people know."""

    @property
    def engine(self) -> str:
        """The engine that runs on it."""

    @property
    def default_engine_version(self) -> str:
        """The engine version that is planned unasked."""

    @property
    def has_devices(self) -> bool:
        """Whether containers hold numbered accelerators."""

    @property
    def first_kv_port(self) -> int:
        """The lowest port that KV transfer may take."""

    @property
    def kv_connector(self) -> str | None:
        """The connector between prefill and decode, ``None`` where there is none."""

    def image(self, engine_version: str, architecture: str | None) -> str:
        """Return the image reference of an engine version for the host's architecture."""

    def needs(self, placement: Placement) -> ContainerNeeds:
        """Return what the platform adds to a container."""


def container_numbers(devices: tuple[int, ...]) -> str:
    """Number the mapped devices as the container sees them: from 0, comma separated."""
    return ",".join(str(number) for number in range(len(devices)))
