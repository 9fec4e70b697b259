"""Views of tables that people keep under a name."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0005_log_tails"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "table",
                    models.CharField(
                        choices=[
                            ("deployments", "Deployments"),
                            ("releases", "Releases"),
                            ("approvals", "Approvals"),
                            ("catalog", "Catalog"),
                            ("hosts", "Hosts"),
                        ],
                        max_length=12,
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("query", models.CharField(blank=True, default="", max_length=2000)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "table", "name"), name="saved_view_name_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "table__in",
                                [
                                    "deployments",
                                    "releases",
                                    "approvals",
                                    "catalog",
                                    "hosts",
                                ],
                            )
                        ),
                        name="saved_view_table_known",
                    ),
                ],
            },
        ),
    ]
