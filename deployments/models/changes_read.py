"""Who was shown what a request of high risk would change."""

from django.conf import settings
from django.db import models

from deployments.models.approval import ApprovalRequest
from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet


class ChangesRead(Row):
    """Somebody opened what a request would change; ``digest`` is the plan that they were shown."""

    TEAM_PATH = "request__plan__revision__deployment__team"

    request = models.ForeignKey(
        ApprovalRequest, on_delete=models.CASCADE, related_name="changes_read"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    digest = models.CharField(max_length=71)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["request", "user", "digest"], name="changes_read_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.digest[7:15]}"
