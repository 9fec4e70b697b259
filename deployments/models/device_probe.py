"""How the hosts of a cluster are probed for accelerators, and what the last probe of a host found."""

from django.db import models

from deployments.models.base import Row
from deployments.models.fleet import Cluster, Host
from deployments.models.scope import ScopedQuerySet
from deployments.models.sentences import SentenceField


class ProbeSettings(Row):
    """The probe of a cluster's hosts, which is off as long as nobody decides.

    ``image`` is what the container is made of; empty takes the engine's own image, where a host has
    it. ``repeats`` probes again every some minutes. ``privileged`` lets the container see devices
    that others hold; without it those stay as they were last seen.
    """

    TEAM_PATH = "cluster__team"

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, related_name="probe_settings"
    )
    image = models.CharField(max_length=255, blank=True, default="")
    repeats = models.BooleanField(default=False)
    privileged = models.BooleanField(default=False)

    objects = ScopedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"probe of {self.cluster}"


class HostProbe(Row):
    """The last probe of a host's accelerators.

    ``cann_version`` is that of the probe's image, ``driver_version`` that of the host's kernel.
    ``held`` are numbers of devices that were left alone. The facts are as of ``read_at``, ``problem``
    is what kept the last probe from telling more. ``begun_at`` without a later ``ended_at``
    is a probe that runs, or whose worker was lost. ``None`` and empty are unknown.
    """

    TEAM_PATH = "host__cluster__team"

    host = models.OneToOneField(Host, on_delete=models.CASCADE, related_name="probe")
    asked_at = models.DateTimeField(null=True, blank=True)
    begun_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(null=True, blank=True)
    image = models.CharField(max_length=255, blank=True, default="")
    driver_version = models.CharField(max_length=40, blank=True, default="")
    firmware_version = models.CharField(max_length=40, blank=True, default="")
    compatible = models.BooleanField(null=True, blank=True)
    cann_version = models.CharField(max_length=40, blank=True, default="")
    held = models.JSONField(default=list, blank=True)
    problem = SentenceField(blank=True, default="")

    objects = ScopedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"probe of {self.host}"
