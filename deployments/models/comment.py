"""What people ask and answer about a request."""

from django.conf import settings
from django.db import models

from deployments.models.approval import ApprovalRequest
from deployments.models.base import Row
from deployments.models.scope import ScopedQuerySet


class RequestComment(Row):
    """A question or an answer about a request; no vote, and it voids none.

    ``author_name`` is the name of that day.
    """

    TEAM_PATH = "request__plan__revision__deployment__team"

    request = models.ForeignKey(
        ApprovalRequest, on_delete=models.PROTECT, related_name="comments"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    author_name = models.CharField(max_length=160)
    text = models.TextField()

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"{self.author_name}: {self.text[:40]}"
