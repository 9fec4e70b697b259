"""Clusters, hosts and their devices."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet
from deployments.models.sealed import SealedField
from deployments.models.sentences import SentenceField
from deployments.models.team import Team
from deployments.planning.snapshot import LOG_ROOT


class Platform(models.TextChoices):
    """Hardware family of a host (design: ``deployments.planning.platforms``)."""

    NVIDIA = "nvidia", "NVIDIA GPU"
    AMD = "amd", "AMD GPU"
    ASCEND_A2 = "ascend-a2", "Ascend Atlas A2"
    ASCEND_A3 = "ascend-a3", "Ascend Atlas A3"
    ASCEND_950 = "ascend-950", "Ascend 950"
    ASCEND_310P = "ascend-310p", "Ascend 310P"
    CPU = "cpu", "CPU"


class Reachability(models.TextChoices):
    """What the panel knows of the way to a host's Docker Engine."""

    UNKNOWN = "unknown", _("Not contacted yet")
    REACHABLE = "reachable", _("Reachable")
    DEGRADED = "degraded", _("Degraded")
    UNREACHABLE = "unreachable", _("Unreachable")
    DIFFERENT_ENGINE = "different_engine", _("A different Docker Engine answers")


ANSWERING = (Reachability.REACHABLE, Reachability.DEGRADED)
"""A degraded host answers: slowly, with errors, with a wrong clock or with failing devices."""


class Cluster(Row):
    """Hosts of one team under one policy.

    ``image_rewrites`` is a list of [prefix, replacement] pairs for sites without internet.
    ``model_roots`` are the host directories that a plan may mount weights from.
    ``split_cards`` lets two deployments share the two dies of an Atlas A3 card.
    ``log_root`` is the host directory below which replicas keep log files of their own.
    ``policy_version`` grows with each change of the policy, and requests keep the one they met.
    """

    TEAM_PATH = "team"
    CLUSTER_PATH = "pk"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="clusters")
    name = models.CharField(max_length=80)
    slug = models.SlugField(max_length=40)
    requires_other_approver = models.BooleanField(default=True)
    policy_version = models.PositiveIntegerField(default=1)
    image_rewrites = models.JSONField(default=list, blank=True)
    model_roots = models.JSONField(default=list, blank=True)
    time_zone = models.CharField(max_length=64, blank=True, default="")
    split_cards = models.BooleanField(default=False)
    log_root = models.CharField(max_length=255, default=LOG_ROOT)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "slug"], name="cluster_slug_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Host(Row):
    """A machine reached through its Docker API.

    ``docker_address`` is a Docker Engine address such as ``unix:///var/run/docker.sock``;
    ``docker_engine_id`` is what that engine called itself first, and another answer is refused.
    ``clock_offset_ms`` is the host's clock less the panel's. ``None`` is unknown. ``strangers`` are
    (name, state) of containers that carry the panel's label and are in none of its records.
    ``failed_calls`` are those in a row; until ``next_try_at`` the panel calls no more.
    """

    TEAM_PATH = "cluster__team"
    CLUSTER_PATH = "cluster"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="hosts")
    name = models.SlugField(max_length=63)
    docker_address = models.CharField(max_length=255)
    docker_engine_id = models.CharField(max_length=128, blank=True, default="")
    docker_version = models.CharField(max_length=40, blank=True, default="")
    platform = models.CharField(max_length=16, choices=Platform.choices)
    architecture = models.CharField(max_length=16, blank=True, default="")
    address = models.CharField(max_length=255, blank=True, default="")
    interface = models.CharField(max_length=32, blank=True, default="")
    model_root = models.CharField(max_length=255, blank=True, default="")
    reachability = models.CharField(
        max_length=20, choices=Reachability.choices, default=Reachability.UNKNOWN
    )
    reason = SentenceField(blank=True, default="")
    seen_at = models.DateTimeField(null=True, blank=True)
    unreachable_since = models.DateTimeField(null=True, blank=True)
    clock_offset_ms = models.IntegerField(null=True, blank=True)
    images = models.JSONField(default=list, blank=True)
    used_ports = models.JSONField(default=list, blank=True)
    strangers = models.JSONField(default=list, blank=True)
    failed_calls = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="host_name_once"),
            models.CheckConstraint(
                name="host_platform_known",
                condition=models.Q(platform__in=Platform.values),
            ),
            models.CheckConstraint(
                name="host_reachability_known",
                condition=models.Q(reachability__in=Reachability.values),
            ),
            models.CheckConstraint(
                name="host_unreachable_has_since",
                condition=~models.Q(reachability=Reachability.UNREACHABLE)
                | models.Q(unreachable_since__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class HostAccess(Row):
    """How the panel proves itself to a host's Docker Engine, and what the last test of the way found.

    ``sealed`` is written and never shown: JSON with ``authority``, ``certificate`` and ``key`` for TLS,
    or ``key`` for SSH. ``host_key`` is the SSH host key that somebody confirmed, ``offered_host_key``
    another one that was seen, both as ``type base64``; ``offered_engine_id`` belongs to an engine
    other than the registered one. ``steps`` are (step, state, sentence) of the last test.
    """

    TEAM_PATH = "host__cluster__team"

    host = models.OneToOneField(Host, on_delete=models.CASCADE, related_name="access")
    sealed = SealedField(blank=True, default="")
    authority_expires_at = models.DateTimeField(null=True, blank=True)
    certificate_expires_at = models.DateTimeField(null=True, blank=True)
    server_expires_at = models.DateTimeField(null=True, blank=True)
    public_key = models.CharField(max_length=1024, blank=True, default="")
    host_key = models.CharField(max_length=1024, blank=True, default="")
    offered_host_key = models.CharField(max_length=1024, blank=True, default="")
    offered_engine_id = models.CharField(max_length=128, blank=True, default="")
    test_asked_at = models.DateTimeField(null=True, blank=True)
    tested_at = models.DateTimeField(null=True, blank=True)
    steps = models.JSONField(default=list, blank=True)

    objects = ScopedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"access to {self.host}"


class Device(Row):
    """One accelerator of a host, by its number there (a die on Ascend).

    ``used_bytes``, ``free_bytes`` and ``healthy`` are as of ``read_at``, when a tool last showed it.
    """

    TEAM_PATH = "host__cluster__team"

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="devices")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=80, blank=True, default="")
    memory_bytes = models.BigIntegerField(null=True, blank=True)
    used_bytes = models.BigIntegerField(null=True, blank=True)
    free_bytes = models.BigIntegerField(null=True, blank=True)
    healthy = models.BooleanField(null=True, blank=True)
    read_at = models.DateTimeField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["host", "number"]
        constraints = [
            models.UniqueConstraint(fields=["host", "number"], name="device_once"),
        ]

    def __str__(self) -> str:
        return f"{self.host} device {self.number}"
