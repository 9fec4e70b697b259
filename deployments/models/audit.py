"""Who did what to which object: a chain of rows that nobody can change."""

import uuid

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from deployments.models.team import Membership, RoleGrant, Team, TeamRole
from deployments.models.user import User


class AuditKind(models.TextChoices):
    """What an act was done to."""

    DEPLOYMENT = "deployment", _("Deployment")
    REQUEST = "request", _("Request")
    RELEASE = "release", _("Release")
    CLUSTER = "cluster", _("Cluster")
    HOST = "host", _("Host")
    SECRET = "secret", _("Secret")
    MODEL = "model", _("Model")
    ALARM = "alarm", _("Alarm")
    FREEZE = "freeze", _("Freeze window")
    BENCHMARK = "benchmark", _("Benchmark")
    PERSON = "person", _("Person")
    TEAM = "team", _("Team")
    CHANNEL = "channel", _("Channel for notices")


class AuditAction(models.TextChoices):
    """What was done; entries of a later panel may hold others."""

    REQUEST_SUBMITTED = "request.submitted", _("Submitted a plan")
    REQUEST_APPROVED = "request.approved", _("Approved")
    REQUEST_REJECTED = "request.rejected", _("Rejected")
    REQUEST_COMMENTED = "request.commented", _("Wrote about a request")
    REQUEST_WITHDRAWN = "request.withdrawn", _("Withdrew the request")
    REQUEST_REOPENED = "request.reopened", _("Votes are needed again")
    REQUEST_EXPIRED = "request.expired", _("Its time ran out")
    DELEGATION_ADDED = "person.delegated", _("Let somebody decide in their absence")
    DELEGATION_ENDED = "person.delegation_ended", _("Ended an absence")
    GLASS_BROKEN = "release.without_approval", _("Started without approval")
    GLASS_REVIEWED = "release.reviewed", _("Reviewed a start without approval")
    START_PLANNED = "request.start_planned", _("Said when it may start")
    RELEASE_STARTED = "release.started", _("Started a release")
    RELEASE_RESTORED = "release.restored", _("Restored an earlier release")
    RELEASE_CANCELLED = "release.cancelled", _("Cancelled")
    RELEASE_STOPPED = "release.stopped", _("Stopped")
    RELEASE_REMOVED = "release.removed", _("Removed the containers")
    RELEASE_LIVE = "release.live", _("Went live")
    RELEASE_FAILED = "release.failed", _("Failed")
    RESTARTS_KNOWN = "release.restarts_known", _("Knows of restarts outside the panel")
    RELEASE_ENDED = "release.ended", _("Came to its end")
    ENVIRONMENT_CHANGED = (
        "deployment.environment",
        _("Changed the environment"),
    )
    EMERGENCY_STOP = "deployment.emergency_stop", _("Emergency stop")
    FILE_LOG_CHANGED = "deployment.file_log", _("Changed where its engines log to")
    CLUSTER_CHANGED = "cluster.changed", _("Changed the cluster")
    RULES_CHANGED = "cluster.rules_changed", _("Changed the approval rules")
    SHARED = "cluster.shared", _("Shared the cluster")
    UNSHARED = "cluster.unshared", _("Ended the sharing of the cluster")
    QUOTA_CHANGED = "cluster.quota_changed", _("Changed the device quota")
    FREEZE_ADDED = "freeze.added", _("Added a freeze window")
    FREEZE_ENDED = "freeze.ended", _("Ended a freeze window")
    PROBE_CHANGED = "cluster.probe_changed", _("Changed how devices are looked for")
    HOST_ADDED = "host.added", _("Added a host")
    HOST_CHANGED = "host.changed", _("Changed facts of the host")
    HOST_MOVED = "host.address_changed", _("Changed the address")
    HOST_CREDENTIALS = "host.credentials_replaced", _("Replaced the credentials")
    HOST_KEY = "host.key_confirmed", _("Confirmed the host key")
    HOST_ENGINE = "host.engine_confirmed", _("Confirmed another Docker Engine")
    HOST_DEVICES = "host.devices_changed", _("Changed the devices")
    HOST_REMOVED = "host.removed", _("Removed a host")
    SECRET_STORED = "secret.stored", _("Stored a secret")
    SECRET_REMOVED = "secret.removed", _("Removed a secret")
    MODEL_KEPT = "model.kept", _("Kept a catalog entry")
    MODEL_REMOVED = "model.removed", _("Removed a catalog entry")
    BENCHMARK_ASKED = "benchmark.asked", _("Asked for a benchmark")
    BENCHMARK_CANCELLED = "benchmark.cancelled", _("Cancelled a benchmark")
    BENCHMARK_KEPT = "benchmark.kept", _("Kept a benchmark")
    PAIR_ASKED = "benchmark.pair_asked", _("Asked for a pair of benchmarks")
    PAIR_CANCELLED = "benchmark.pair_cancelled", _("Cancelled a pair of benchmarks")
    PROPOSALS_SCHEDULED = (
        "deployment.proposals",
        _("Changed what the panel proposes by itself"),
    )
    BENCHMARK_REMOVED = "benchmark.removed", _("Removed a benchmark")
    ALARM_ACKNOWLEDGED = "alarm.acknowledged", _("Acknowledged an alarm")
    CHANNEL_ADDED = "channel.added", _("Added a channel for notices")
    CHANNEL_CHANGED = "channel.changed", _("Changed a channel for notices")
    CHANNEL_REMOVED = "channel.removed", _("Removed a channel for notices")
    TEAM_CHANGED = "team.changed", _("Changed the team")
    PERSON_ADDED = "person.added", _("Added a person")
    ACCOUNT_DISABLED = "person.disabled", _("Disabled an account")
    ACCOUNT_ENABLED = "person.enabled", _("Let somebody in again")
    MEMBER_ADDED = "member.added", _("Added to a team")
    PERSON_CHANGED = "person.changed", _("Changed own settings")
    LOGGED_IN = "person.logged_in", _("Logged in")
    LOGGED_OUT = "person.logged_out", _("Logged out")
    LOG_IN_FAILED = "person.log_in_failed", _("Failed to log in")
    LOCKED_OUT = "person.locked_out", _("Locked out after failed log-ins")
    CODE_FAILED = "person.code_failed", _("Entered a wrong code")
    PASSWORD_CHANGED = "person.password_changed", _("Changed the password")
    PASSWORD_RESET = "person.password_reset", _("Reset the password by command")
    FACTOR_ADDED = "person.factor_added", _("Set up a second factor")
    FACTOR_REMOVED = "person.factor_removed", _("Removed a second factor")
    TOKEN_ADDED = "person.token_added", _("Made a token")
    TOKEN_REVOKED = "person.token_revoked", _("Revoked a token")
    SESSION_ENDED = "person.session_ended", _("Ended a session")
    INVITED = "member.invited", _("Invited somebody")
    INVITATION_REVOKED = "member.invitation_revoked", _("Revoked an invitation")
    INVITATION_ACCEPTED = "member.invitation_accepted", _("Accepted an invitation")
    ROLES_CHANGED = "member.roles_changed", _("Changed roles")
    MEMBER_REMOVED = "member.removed", _("Removed from a team")
    PLATFORM_ADMIN = "person.platform_admin", _("Changed who is platform admin")
    FACTOR_RENEWED = "person.factor_renewed", _("Renewed recovery codes")


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    """A queryset that knows who may read of whom."""

    def for_user(self, user: User | AnonymousUser) -> "AuditQuerySet":
        """What the person may read.

        All of it for platform admins, the team's for its admins, and everybody's own acts: those in
        teams that they are in, and those of no team, such as log-ins.
        """
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if user.is_superuser:
            return self.all()
        led = RoleGrant.objects.filter(membership__user=user, role=TeamRole.ADMIN)
        teams = Membership.objects.filter(user=user).values("team")
        own = Q(actor=user) & (Q(team=None) | Q(team__in=teams))
        return self.filter(Q(team__in=led.values("membership__team")) | own)


class AuditEntry(models.Model):
    """One act; insert-only by trigger, and chained: ``digest`` covers it and ``previous``.

    ``sequence`` counts from 1 without a gap. ``at`` is the database's clock. Names are those of that
    day, and people, teams and objects are named without a constraint, so that an entry outlives
    them. ``within_id`` is what the object belongs to (the deployment of a request or release, the
    cluster of a host). ``before`` and ``after`` hold what changed, never a secret. An empty
    ``address`` is the command line.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    sequence = models.PositiveBigIntegerField(unique=True)
    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    actor_name = models.CharField(max_length=160)
    team = models.ForeignKey(
        Team,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    team_name = models.CharField(max_length=80, blank=True, default="")
    action = models.CharField(max_length=40)
    object_kind = models.CharField(max_length=20)
    object_id = models.CharField(max_length=36)
    object_name = models.CharField(max_length=200)
    within_id = models.CharField(max_length=36, blank=True, default="")
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True, default="")
    address = models.CharField(max_length=45, blank=True, default="")
    agent = models.CharField(max_length=80, blank=True, default="")
    previous = models.CharField(max_length=71)
    digest = models.CharField(max_length=71)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-sequence"]
        indexes = [
            models.Index(fields=["at", "id"], name="audit_by_time"),
            models.Index(fields=["team", "at"], name="audit_by_team"),
            models.Index(fields=["actor", "at"], name="audit_by_actor"),
            models.Index(fields=["object_id"], name="audit_by_object"),
            models.Index(fields=["within_id"], name="audit_by_within"),
            models.Index(fields=["action", "at"], name="audit_by_action"),
            models.Index(fields=["object_kind", "at"], name="audit_by_kind"),
        ]
        constraints = [
            models.CheckConstraint(
                name="audit_counts_from_one", condition=Q(sequence__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.sequence}: {self.actor_name} {self.action} {self.object_name}"


class AuditHead(models.Model):
    """The end of the chain, one row: writers take turns at it, and a cut end shows."""

    sequence = models.PositiveBigIntegerField(default=0)
    digest = models.CharField(max_length=71, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(name="audit_head_is_one", condition=Q(pk=1)),
        ]

    def __str__(self) -> str:
        return f"{self.sequence} entries"
