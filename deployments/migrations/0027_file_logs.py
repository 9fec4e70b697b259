"""Logs that engines write to files: where they are, and how far each was read."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0026_degraded_hosts"),
    ]

    operations = [
        migrations.CreateModel(
            name="FileLog",
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
                ("path", models.CharField(max_length=300)),
                (
                    "deployment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="file_log",
                        to="deployments.deployment",
                    ),
                ),
                (
                    "set_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("path__startswith", "/")),
                        name="file_log_path_absolute",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="FileLogCursor",
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
                ("container_id", models.CharField(max_length=64)),
                ("run_started_at", models.CharField(max_length=40)),
                ("path", models.CharField(max_length=300)),
                ("offset", models.BigIntegerField(default=0)),
                ("head_hash", models.CharField(blank=True, default="", max_length=64)),
                ("tail_hash", models.CharField(blank=True, default="", max_length=64)),
                ("size", models.BigIntegerField(default=0)),
                ("modified_ns", models.BigIntegerField(default=0)),
                ("newest_ns", models.BigIntegerField(default=0)),
                ("zone_s", models.IntegerField(blank=True, null=True)),
                ("lines_read", models.BigIntegerField(default=0)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("finished", models.BooleanField(default=False)),
                ("problem", models.CharField(blank=True, default="", max_length=16)),
                ("turn", models.PositiveIntegerField(default=0)),
                (
                    "replica",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="file_cursors",
                        to="deployments.replica",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("container_id", "run_started_at"),
                        name="file_log_cursor_once",
                    )
                ],
            },
        ),
    ]
