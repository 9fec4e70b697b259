"""Keys by which programs act in the name of a person."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row


class TokenScope(models.TextChoices):
    """What a token may do at most; nothing lets one approve."""

    READ = "read", _("Read")
    REQUEST = "request", _("Read, and ask for plans")
    DEPLOY = "deploy", _("Read, and deploy what is approved")
    OPERATE = "operate", _("Read, ask for plans and deploy")


class ApiToken(Row):
    """A key of one person; it may what they may, within its scope, until it expires.

    The key is shown once and kept nowhere; ``key_hash`` is its SHA-256, ``hint`` its last characters.
    ``is_robot`` marks one that a program uses on its own.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens"
    )
    name = models.CharField(max_length=60)
    scope = models.CharField(max_length=8, choices=TokenScope.choices)
    is_robot = models.BooleanField(default=True)
    key_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=4)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                name="token_scope_known", condition=Q(scope__in=TokenScope.values)
            ),
            models.CheckConstraint(
                name="token_expires_later",
                condition=Q(expires_at__gt=F("created_at")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.owner}"
