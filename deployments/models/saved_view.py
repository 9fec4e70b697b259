"""Views of tables that a person keeps under a name."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from deployments.models.base import Row


class TableKey(models.TextChoices):
    """The tables of the panel."""

    DEPLOYMENTS = "deployments", _("Deployments")
    RELEASES = "releases", _("Releases")
    APPROVALS = "approvals", _("Approvals")
    CATALOG = "catalog", _("Catalog")
    HOSTS = "hosts", _("Hosts")
    ALARMS = "alarms", _("Alarms")
    AUDIT = "audit", _("Audit")


class SavedView(Row):
    """A table as one person likes it: search, filters, order and columns, as in the address."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    table = models.CharField(max_length=12, choices=TableKey.choices)
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, blank=True, default="")

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "table", "name"], name="saved_view_name_once"
            ),
            models.CheckConstraint(
                name="saved_view_table_known",
                condition=models.Q(table__in=TableKey.values),
            ),
        ]

    def __str__(self) -> str:
        return self.name
