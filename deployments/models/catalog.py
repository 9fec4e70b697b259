"""Target models, their checkpoints and drafters; rows without a team are the shipped catalog."""

from django.db import models

from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet
from deployments.models.team import Team


class TargetModel(Row):
    """A model whose output is served.

    ``document`` is the catalog entry as planning reads it
    (``deployments.planning.catalog.parse_target_model``); the columns repeat what lists sort and
    filter by. Parameters are counts, ``None`` is unknown.
    """

    TEAM_PATH = "team"
    SHARED_WITHOUT_TEAM = True

    team = models.ForeignKey(
        Team, null=True, blank=True, on_delete=models.CASCADE, related_name="models"
    )
    key = models.CharField(max_length=160)
    name = models.CharField(max_length=120)
    family = models.CharField(max_length=60)
    parameters = models.BigIntegerField(null=True, blank=True)
    active_parameters = models.BigIntegerField(null=True, blank=True)
    context_length = models.PositiveIntegerField(null=True, blank=True)
    has_mtp = models.BooleanField(null=True, blank=True)
    document = models.JSONField()

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["family", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=models.Q(team__isnull=True),
                name="shipped_model_once",
            ),
            models.UniqueConstraint(
                fields=["team", "key"],
                condition=models.Q(team__isnull=False),
                name="team_model_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Checkpoint(Row):
    """One set of a target model's weights; ``holds_mtp`` is ``None`` when nobody has looked."""

    TEAM_PATH = "target_model__team"
    SHARED_WITHOUT_TEAM = True

    target_model = models.ForeignKey(
        TargetModel, on_delete=models.CASCADE, related_name="checkpoints"
    )
    key = models.CharField(max_length=160)
    repository = models.CharField(max_length=255)
    quantisation = models.CharField(max_length=40, blank=True, default="")
    size_bytes = models.BigIntegerField(null=True, blank=True)
    holds_mtp = models.BooleanField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["target_model", "key"]
        constraints = [
            models.UniqueConstraint(
                fields=["target_model", "key"], name="checkpoint_once"
            ),
        ]

    def __str__(self) -> str:
        return self.repository


class Drafter(Row):
    """Weights that draft for a target model with one method."""

    TEAM_PATH = "target_model__team"
    SHARED_WITHOUT_TEAM = True

    target_model = models.ForeignKey(
        TargetModel, on_delete=models.CASCADE, related_name="drafters"
    )
    key = models.CharField(max_length=160)
    repository = models.CharField(max_length=255)
    method = models.CharField(max_length=24)
    size_bytes = models.BigIntegerField(null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["target_model", "key"]
        constraints = [
            models.UniqueConstraint(
                fields=["target_model", "key"], name="drafter_once"
            ),
        ]

    def __str__(self) -> str:
        return self.repository
