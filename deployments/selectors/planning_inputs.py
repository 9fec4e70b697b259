"""Rows of the fleet and the catalog as the values that planning takes."""

from collections.abc import Iterable
from copy import copy
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects

from deployments.models import (
    Booking,
    Cluster,
    Host,
    HostProbe,
    ModelDirectory,
    ModelDirectoryState,
    ModelListing,
    TargetModel,
    TeamSecret,
)
from deployments.models.model_directory import day
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.catalog import parse_target_model
from deployments.planning.endpoint_key import OPEN
from deployments.planning.snapshot import (
    ClusterSettings,
    HostSnapshot,
    ImageSnapshot,
    ModelSnapshot,
    WeightSizes,
)


def catalog_entry(row: TargetModel) -> CatalogEntry:
    """The catalog entry of a row, as planning reads it."""
    return parse_target_model(row.document)


def cluster_settings(cluster: Cluster | None) -> ClusterSettings:
    """What the cluster decides for every plan on it; defaults for an export without a cluster."""
    if cluster is None:
        return ClusterSettings()
    return ClusterSettings(
        image_rewrites=tuple(
            (str(prefix), str(replacement))
            for prefix, replacement in cluster.image_rewrites
        ),
        model_roots=tuple(str(root) for root in cluster.model_roots),
        time_zone=cluster.time_zone or None,
        split_cards=cluster.split_cards,
        log_root=cluster.log_root,
    )


def secret_versions(
    team_id: UUID | None, api_key: str | None
) -> tuple[tuple[str, int], ...]:
    """Name and version of the team's secret that a revision names; no query where it names none."""
    if team_id is None or api_key in {None, OPEN}:
        return ()
    rows = TeamSecret.objects.filter(team_id=team_id, name=api_key)
    return tuple(rows.values_list("name", "version"))


def host_snapshots(
    hosts: Iterable[Host],
    *,
    except_deployment: str | None = None,
    just_read: bool = False,
) -> tuple[HostSnapshot, ...]:
    """The hosts as decision inputs, in four queries for any number of them.

    Devices and ports booked by ``except_deployment`` (a name on the same cluster) count as free:
    its next release takes them over. Hosts that this request has just read itself are not read
    again, only their devices, bookings and model directories, and their probes and the looks at
    those directories unless they came with them.
    """
    held = Booking.objects.filter(released_at=None).select_related(
        "replica__release__deployment"
    )
    rows = (
        [_unread(host) for host in hosts]
        if just_read
        else list(
            Host.objects.filter(pk__in=[host.pk for host in hosts]).select_related(
                "probe", "model_listing"
            )
        )
    )
    rows.sort(key=lambda host: host.name)
    read = ModelDirectory.objects.only(
        "host_id", "path", "since", "sizes", "state", "problem", "odd"
    )
    prefetch_related_objects(
        rows,
        "devices",
        "probe",
        "model_listing",
        Prefetch("bookings", queryset=held),
        Prefetch("model_directories", queryset=read),
    )
    return tuple(_snapshot(row, except_deployment) for row in rows)


def _unread(host: Host) -> Host:
    """The row without the devices and bookings that somebody may have read with it."""
    row = copy(host)
    vars(row).pop("_prefetched_objects_cache", None)
    return row


def _snapshot(host: Host, except_deployment: str | None) -> HostSnapshot:
    devices = list(host.devices.all())
    all_bookings = list(host.bookings.all())
    own_ports = {
        booking.port
        for booking in all_bookings
        if booking.replica.release.deployment.name == except_deployment
    }
    bookings = [
        booking
        for booking in all_bookings
        if booking.replica.release.deployment.name != except_deployment
    ]
    observed = {int(port) for port in host.used_ports} - own_ports
    memory = {device.memory_bytes for device in devices}
    names = {device.name for device in devices if device.name}
    probe: HostProbe | None = getattr(host, "probe", None)
    directories = list(host.model_directories.all())
    return HostSnapshot(
        name=host.name,
        platform=host.platform,
        device=names.pop() if len(names) == 1 else None,
        device_count=len(devices),
        device_memory_bytes=memory.pop() if len(memory) == 1 else None,
        taken_devices=tuple(sorted(b.device for b in bookings if b.device is not None)),
        taken_ports=tuple(
            sorted({b.port for b in bookings if b.port is not None} | observed)
        ),
        architecture=host.architecture or None,
        address=host.address or None,
        interface=host.interface or None,
        model_root=host.model_root or None,
        images=tuple(
            ImageSnapshot(
                reference=str(image["reference"]),
                image_id=str(image["image_id"]),
                digest=image.get("digest"),
            )
            for image in host.images
        ),
        models=tuple(
            ModelSnapshot(
                path=row.path,
                since=day(row.since),
                weights=WeightSizes(**row.sizes) if row.sizes else None,
                trouble=row.problem,
            )
            for row in directories
            if not row.odd and row.state != ModelDirectoryState.UNCHECKED
        ),
        listed=_listed(host, directories),
        driver_version=(probe.driver_version or None) if probe else None,
        driver_compatible=probe.compatible if probe else None,
    )


def _listed(
    host: Host, directories: Iterable[ModelDirectory]
) -> tuple[str, ...] | None:
    """The paths that the last look saw, ``None`` unless it saw everything and no other is due."""
    look: ModelListing | None = getattr(host, "model_listing", None)
    if look is None or look.read_at is None or look.cut or look.problem:
        return None
    if look.asked_at is not None and look.read_at < look.asked_at:
        return None
    return tuple(row.path for row in directories)
