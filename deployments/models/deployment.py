"""Deployments, their revisions, and the plans made of them."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row
from deployments.models.fleet import Cluster
from deployments.models.scope import ScopedQuerySet
from deployments.models.team import Team


class DeploymentEnvironment(models.TextChoices):
    """What a deployment is for; the values of ``planning.approval_rules.Environment``."""

    PRODUCTION = "production", _("Production")
    STAGING = "staging", _("Staging")
    DEVELOPMENT = "development", _("Development")


class Deployment(Row):
    """A named service that a team keeps running on one cluster: its own, or one shared with it.

    ``environment`` says which of the cluster's approval rules hold; empty are its own.
    """

    TEAM_PATH = "team"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="deployments")
    cluster = models.ForeignKey(
        Cluster, on_delete=models.PROTECT, related_name="deployments"
    )
    name = models.SlugField(max_length=40)
    environment = models.CharField(
        max_length=12,
        choices=DeploymentEnvironment.choices,
        blank=True,
        default="",
        db_default="",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "name"], name="deployment_name_once"
            ),
            models.CheckConstraint(
                name="deployment_environment_known",
                condition=models.Q(environment__in=["", *DeploymentEnvironment.values]),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Revision(Row):
    """An immutable desired state; ``document`` is a ``planning.revision.RevisionSpec``."""

    TEAM_PATH = "deployment__team"

    deployment = models.ForeignKey(
        Deployment, on_delete=models.PROTECT, related_name="revisions"
    )
    number = models.PositiveIntegerField()
    document = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["deployment", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "number"], name="revision_number_once"
            ),
            models.CheckConstraint(
                name="revision_number_positive", condition=models.Q(number__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.deployment} r{self.number}"


class Plan(Row):
    """The stored plan of a revision; it has no state and is never edited.

    ``document`` is the canonical JSON text whose SHA-256 is ``digest``; it is text, not a JSON
    column, so that no database re-spells it.
    """

    TEAM_PATH = "revision__deployment__team"

    revision = models.ForeignKey(
        Revision, on_delete=models.PROTECT, related_name="plans"
    )
    document = models.TextField()
    digest = models.CharField(max_length=71)
    can_submit = models.BooleanField()
    practice = models.BooleanField(default=False)
    method = models.CharField(max_length=24)
    num_speculative_tokens = models.PositiveIntegerField(null=True, blank=True)
    model_key = models.CharField(max_length=160)
    schema_version = models.PositiveIntegerField()
    planner_version = models.CharField(max_length=20)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "digest"], name="plan_digest_once"
            ),
            models.CheckConstraint(
                name="plan_digest_is_sha256",
                condition=models.Q(digest__startswith="sha256:"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision} {self.digest[7:15]}"
