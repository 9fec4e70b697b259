"""HostSnapshot: what was observed on a host, reduced to what decides a plan."""

import functools
from dataclasses import dataclass, replace

from deployments.planning.canonical import digest_of
from deployments.planning.documents import to_document
from deployments.planning.text import NOTHING, Text

LOG_ROOT = "/var/log/draftboard"
"""Where replicas keep log files on a host unless the cluster says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSnapshot:
    """An image that the host already has: reference, local id, repository digest if it has one."""

    reference: str
    image_id: str
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSizes:
    """Bytes of the tensors in a directory, from the headers of its files.

    ``experts`` are the routed ones of the layers that serve, ``mtp`` what only drafts; of that,
    ``mtp_experts`` are routed experts and ``mtp_embeddings`` copies that the engine shares with the
    target.
    """

    total: int
    experts: int = 0
    mtp: int = 0
    mtp_experts: int = 0
    mtp_embeddings: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSnapshot:
    """A model directory of a host; it holds the same since ``since`` (YYYY-MM-DD).

    ``weights`` is ``None`` unless everything was read, ``trouble`` why it cannot be served.
    """

    path: str
    since: str
    weights: WeightSizes | None = None
    trouble: Text = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSnapshot:
    """One host as a plan sees it. ``None`` is unknown, never zero.

    ``device_memory_bytes`` is the memory of one device. ``taken_devices`` and ``taken_ports`` are
    held by running containers or bookings. ``address`` is what other hosts and clients reach,
    ``interface`` the network interface that carries it. ``model_root`` is the directory on the host
    that holds one directory per checkpoint, ``models`` what was read there, ``listed`` the paths of
    everything that a whole look at the model directories saw. ``driver_version`` is what a probe
    read, ``driver_compatible`` whether an Ascend driver fits its firmware.
    """

    name: str
    platform: str
    device: str | None = None
    device_count: int = 0
    device_memory_bytes: int | None = None
    taken_devices: tuple[int, ...] = ()
    taken_ports: tuple[int, ...] = ()
    architecture: str | None = None
    address: str | None = None
    interface: str | None = None
    model_root: str | None = None
    images: tuple[ImageSnapshot, ...] = ()
    models: tuple[ModelSnapshot, ...] = ()
    listed: tuple[str, ...] | None = None
    driver_version: str | None = None
    driver_compatible: bool | None = None

    @property
    def digest(self) -> str:
        """Digest of the lasting decision inputs: a plan made from another one is stale.

        What others hold (devices, ports) is left out, since bookings and the preflight decide that
        at the moment of acting; so are images, which the container itself names exactly, model
        directories and drivers: the preflight reads them again, and a plan holds the sizes that it
        used.
        """
        return _digest(
            replace(
                self,
                taken_devices=(),
                taken_ports=(),
                images=(),
                models=(),
                listed=None,
                driver_version=None,
                driver_compatible=None,
            )
        )


@functools.lru_cache(maxsize=1024)
def _digest(lasting: HostSnapshot) -> str:
    document = to_document(lasting)
    if isinstance(document, dict):
        # Digests of plans that were made before snapshots had them stay what they are.
        for name in ("models", "listed", "driver_version", "driver_compatible"):
            del document[name]
    return digest_of(document)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """What a cluster decides for every plan on it.

    ``image_rewrites`` are (prefix, replacement) pairs for air-gapped sites, the longest matching
    prefix first: ``vllm/vllm-openai`` -> ``registry.example/mirror/vllm-openai``. ``secrets`` are
    (name, version) of stored secrets that the revision may name. ``log_root`` is the directory on
    every host below which replicas keep log files of their own.
    """

    image_rewrites: tuple[tuple[str, str], ...] = ()
    model_roots: tuple[str, ...] = ()
    time_zone: str | None = None
    files_only: bool = False
    split_cards: bool = False
    secrets: tuple[tuple[str, int], ...] = ()
    log_root: str = LOG_ROOT
