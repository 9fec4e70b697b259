"""ContainerSpec: what one container is, before it is rendered for anybody.

One value renders to a compose service, a ``docker run`` script and Docker Engine API arguments
(``launch/``). It holds argument vectors, never shell strings.
"""

from dataclasses import dataclass
from enum import StrEnum


class NetworkMode(StrEnum):
    """How a container joins the network of its host."""

    BRIDGE = "bridge"
    HOST = "host"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReference:
    """An image as it is asked for and, when it was seen on the host, as what it really is.

    ``digest`` is the repository digest (``sha256:...``), ``image_id`` the local id that an
    imported image has instead; both ``None`` means unresolved: the host had no such image when
    the plan was made.
    """

    reference: str
    digest: str | None = None
    image_id: str | None = None

    @property
    def resolved(self) -> bool:
        """Whether the plan names the exact image."""
        return self.digest is not None or self.image_id is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One bind mount; ``source`` must exist on the host, the engine never makes it."""

    source: str
    target: str
    read_only: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A named volume, which the Docker Engine makes on its host when it is missing.

    It holds what may be lost but is dear: compiled graphs and kernels.
    """

    name: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDirectory:
    """A host directory that one replica writes its log files into.

    ``source`` is on the host, where the Docker Engine makes it when it is missing, and outlives the
    container; ``target`` is the same directory inside.
    """

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretVariable:
    """An environment variable whose value only the executor, or whoever starts the files, knows.

    ``secret`` is the name of a stored secret, ``version`` the one that was planned; ``None`` where
    the panel holds none.
    """

    variable: str
    secret: str
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortMapping:
    """A published port. ``purpose`` says what listens: ``api``, ``kv`` or ``dp-rpc``."""

    host: int
    container: int
    purpose: str
    host_address: str = "0.0.0.0"  # noqa: S104 - the endpoint must be reachable by its clients


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceNode:
    """A device node mapped at the same path, such as ``/dev/davinci0``."""

    host_path: str
    container_path: str
    permissions: str = "rwm"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """Devices that a runtime hook injects (NVIDIA): driver, ids as the driver counts them."""

    driver: str
    device_ids: tuple[str, ...]
    capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """Docker's own health check; durations in seconds."""

    test: tuple[str, ...]
    interval_s: int = 10
    timeout_s: int = 5
    retries: int = 3
    start_period_s: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Rotation of the json-file driver; 64 MiB x 5 outlasts ten minutes without a reader."""

    driver: str = "json-file"
    max_size: str = "64m"
    max_file: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """Everything that decides what a container is; nothing is left to an engine default.

    ``command`` is the whole argument vector (``vllm serve ...``) and ``entrypoint`` replaces
    that of the image: an empty tuple clears it, so that the command means the same in every image.
    ``shm_size_bytes`` and ``memory_lock`` (RLIMIT_MEMLOCK unlimited) matter to NCCL and HCCL.
    """

    name: str
    image: ImageReference
    command: tuple[str, ...]
    entrypoint: tuple[str, ...] = ()
    user: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    mounts: tuple[Mount, ...] = ()
    devices: tuple[DeviceNode, ...] = ()
    device_requests: tuple[DeviceRequest, ...] = ()
    runtime: str | None = None
    group_add: tuple[str, ...] = ()
    cap_drop: tuple[str, ...] = ("ALL",)
    cap_add: tuple[str, ...] = ()
    security_opt: tuple[str, ...] = ("no-new-privileges",)
    network_mode: NetworkMode = NetworkMode.BRIDGE
    ipc_mode: str = "private"
    ports: tuple[PortMapping, ...] = ()
    shm_size_bytes: int = 1 << 30
    memory_lock: bool = False
    pids_limit: int = 16384
    health_check: HealthCheck | None = None
    restart: str = "no"
    stop_grace_s: int = 60
    time_zone: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    logging: LogOptions = LogOptions()
    init: bool = True
    volumes: tuple[Volume, ...] = ()
    secrets: tuple[SecretVariable, ...] = ()
    log_directories: tuple[LogDirectory, ...] = ()
