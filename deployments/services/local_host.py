"""Register the Docker Engine of this machine as host ``local`` of the cluster ``local``."""

import os

from django.db import transaction
from django.utils.translation import gettext as _

from deployments.docker_api.client import open_engine
from deployments.docker_api.errors import DockerApiError
from deployments.models import AuditAction, Booking, Cluster, Device, Host
from deployments.services.audit import record
from deployments.services.local_devices import LocalDevices, find_local_devices
from deployments.services.observation import Observation, look_at, store_observation

LOCAL = "local"
DEFAULT_ADDRESS = "unix:///var/run/docker.sock"


def local_docker_address() -> str:
    """Where this machine's engine should answer: ``DOCKER_HOST``, else Docker's own socket."""
    return os.environ.get("DOCKER_HOST", "").strip() or DEFAULT_ADDRESS


def register_local_host(*, replace: bool = False) -> str:
    """Register or refresh the local host; returns one sentence about what came of it.

    An engine other than the one that was registered takes its place only if nothing is booked
    there, or with ``replace``.
    """
    address = local_docker_address()
    cluster = Cluster.objects.filter(slug=LOCAL).order_by("created_at").first()
    if cluster is None:
        return _("There is no cluster “local” yet: run manage.py bootstrap first.")
    if not address.startswith("unix://"):
        return _(
            "No local host: DOCKER_HOST is %(address)s, and the host local is a socket of this "
            "machine such as unix:///var/run/docker.sock. Hosts of other machines are added under "
            "Fleet."
        ) % {"address": address}
    try:
        with open_engine(address, host=LOCAL) as engine:
            seen = look_at(engine)
    except DockerApiError as error:
        return _(
            "No local host: %(error)s Everything but deploying works; install Docker "
            "(docker.io on Debian) or set DOCKER_HOST, then start again."
        ) % {"error": error}
    known = Host.objects.filter(cluster=cluster, name=LOCAL).first()
    if known is not None and _is_held(known, seen) and not replace:
        return _(
            "Another Docker Engine answers at %(address)s than the one whose devices and ports "
            "are in use. Nothing changed; --replace registers this one instead."
        ) % {"address": address}
    host = _store(cluster, address, seen)
    return _(
        "Registered the Docker Engine %(version)s at %(address)s as host local (%(kind)s)."
    ) % {
        "version": host.docker_version,
        "address": address,
        "kind": host.get_platform_display(),
    }


def _is_held(host: Host, seen: Observation) -> bool:
    other = host.docker_engine_id not in {"", seen.engine.engine_id}
    return other and Booking.objects.filter(host=host, released_at=None).exists()


def _store(cluster: Cluster, address: str, seen: Observation) -> Host:
    devices = find_local_devices(seen.engine.runtimes)
    with transaction.atomic():
        host, made = Host.objects.update_or_create(
            cluster=cluster,
            name=LOCAL,
            defaults={
                "docker_address": address,
                "docker_engine_id": seen.engine.engine_id,
                "platform": devices.platform,
                "address": "127.0.0.1",
                "interface": "lo",
            },
        )
        _store_devices(host, devices)
        store_observation(host, seen)
        if made:
            told = {"address": address, "platform": host.platform}
            record(AuditAction.HOST_ADDED, None, host, after=told)
    return host


def _store_devices(host: Host, found: LocalDevices) -> None:
    for number, name in enumerate(found.names):
        Device.objects.update_or_create(
            host=host, number=number, defaults={"name": name}
        )
    host.devices.filter(number__gte=len(found.names)).delete()
