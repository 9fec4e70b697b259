"""Probe hosts for their accelerators, when somebody asked or a cluster repeats it, and keep what was found."""

import logging
import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from deployments.docker_api.errors import DockerApiError
from deployments.models import (
    ANSWERING,
    Device,
    Host,
    HostProbe,
    Platform,
    ProbeSettings,
)
from deployments.planning.text import NOTHING, Text, said_by, sentences, text
from deployments.services.device_probe import Found, probe_devices
from deployments.services.host_access import open_host, prove_same_engine
from deployments.services.short_run import ShortRunError
from deployments.telemetry.accelerators import Accelerator

logger = logging.getLogger(__name__)
REPEATED_AFTER = timedelta(minutes=10)
LOST_AFTER = timedelta(minutes=3)
"""A probe takes at most two containers of a minute each; one that is older lost its worker."""


def hosts_to_probe() -> list[uuid.UUID]:
    """Hosts that somebody asked for, and reachable ones of clusters that repeat it."""
    asked = Q(probe__asked_at__isnull=False) & (
        Q(probe__begun_at=None) | Q(probe__begun_at__lt=F("probe__asked_at"))
    )
    lost = Q(probe__begun_at__lt=Now() - LOST_AFTER, probe__ended_at=None)
    due = Q(cluster__probe_settings__repeats=True, reachability__in=ANSWERING) & (
        Q(probe=None) | Q(probe__ended_at__lt=Now() - REPEATED_AFTER)
    )
    rows = Host.objects.exclude(platform=Platform.CPU).filter(asked | lost | due)
    return list(rows.values_list("pk", flat=True).distinct())


def probe_is_running(host: Host) -> bool:
    """Whether a probe may be holding devices of the host right now."""
    return _running(HostProbe.objects.filter(host=host)).exists()


def run_probe(host_id: uuid.UUID) -> None:
    """Probe one host, unless another worker does; safe to repeat, the newest result stays."""
    host = Host.objects.select_related("cluster").filter(pk=host_id).first()
    if host is None or not _begin(host):
        return
    settings = ProbeSettings.objects.filter(cluster=host.cluster_id).first()
    try:
        prove_same_engine(host)
        with open_host(host) as engine:
            found = probe_devices(
                engine, host, settings or ProbeSettings(cluster=host.cluster)
            )
    except (DockerApiError, ShortRunError) as error:
        logger.info("host not probed", extra={"host": host.name, "code": error.code})
        _end(host, said_by(error))
        return
    except BaseException:
        _end(host, text("The probe was ended from outside. Try again."))
        raise
    with transaction.atomic():
        store_found(host, found)
        _end(host, sentences(*found.notes) if found.notes else NOTHING)


def store_found(host: Host, found: Found) -> None:
    """Keep what a probe found; devices that it did not see stay as they were last seen.

    Name and memory decide plans, so they change only when every device of the host was seen, and
    otherwise fill what is unknown.
    """
    seen = {one.number: one for one in (*found.told.devices, *found.look.cards)}
    known = {row.number: row for row in host.devices.all()}
    whole = set(known) <= set(seen)
    there = {*seen, *range(found.look.count or 0), *(set(known) & set(found.missing))}
    for number in sorted(there):
        row = known.get(number) or Device(host=host, number=number)
        _fill(row, seen.get(number), found, whole=whole)
        if number in found.missing:
            row.healthy, row.read_at = False, Now()
        row.save()
    HostProbe.objects.update_or_create(
        host=host,
        defaults={
            "read_at": Now(),
            "image": found.image[:255],
            "driver_version": (
                found.told.driver_version or found.look.driver_version or ""
            )[:40],
            "firmware_version": (found.told.firmware_version or "")[:40],
            "compatible": found.told.compatible,
            "cann_version": (found.look.cann_version or "")[:40],
            "held": list(found.held),
        },
    )


def _fill(row: Device, seen: Accelerator | None, found: Found, *, whole: bool) -> None:
    names = found.look.names
    name = names[row.number] if row.number < len(names) else ""
    if seen is not None:
        name = seen.name or name
        row.used_bytes, row.free_bytes = seen.used_bytes, seen.free_bytes
        row.healthy, row.read_at = seen.healthy, Now()
        if seen.memory_bytes is not None and (whole or row.memory_bytes is None):
            row.memory_bytes = seen.memory_bytes
    if name and (whole or not row.name):
        row.name = name[:80]


def _running(rows: QuerySet[HostProbe]) -> QuerySet[HostProbe]:
    return rows.filter(ended_at=None, begun_at__gte=Now() - LOST_AFTER)


def _begin(host: Host) -> bool:
    """Take the probe of a host for this worker."""
    HostProbe.objects.get_or_create(host=host)
    idle = Q(begun_at=None) | Q(ended_at__isnull=False)
    lost = Q(begun_at__lt=Now() - LOST_AFTER)
    rows = HostProbe.objects.filter(idle | lost, host=host)
    return rows.update(begun_at=Now(), ended_at=None) == 1


def _end(host: Host, problem: Text) -> None:
    HostProbe.objects.filter(host=host).update(ended_at=Now(), problem=problem)
