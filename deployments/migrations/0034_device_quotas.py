"""A limit on the devices of a cluster that a team may hold."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """No cluster has a limit until it is set."""

    dependencies = [
        ("deployments", "0033_sessions_begin_anew"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeviceQuota",
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
                ("devices", models.PositiveIntegerField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "changed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="device_quotas",
                        to="deployments.cluster",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="device_quotas",
                        to="deployments.team",
                    ),
                ),
            ],
            options={
                "ordering": ["cluster"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("team", "cluster"), name="one_quota_each"
                    )
                ],
            },
        ),
    ]
