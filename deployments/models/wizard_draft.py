"""Unfinished plans that a person left in the wizard."""

from django.conf import settings
from django.db import models

from deployments.models.base import Row

LONGEST_DRAFT = 8000
"""Characters of an address; a web server takes no longer one either."""


class WizardDraft(Row):
    """The wizard as one person left it for one target model: its address without the path."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="wizard_drafts"
    )
    model = models.CharField(max_length=160)
    query = models.CharField(max_length=LONGEST_DRAFT)
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["-changed_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "model"], name="wizard_draft_model_once"
            ),
        ]

    def __str__(self) -> str:
        return self.model
