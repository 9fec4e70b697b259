"""Times in which nothing new may start, per cluster or for a whole team."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """One table; its rows are ended, never removed."""

    dependencies = [("deployments", "0022_insert_only")]

    operations = [
        migrations.CreateModel(
            name="FreezeWindow",
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
                ("name", models.CharField(max_length=80)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("deny", "Nothing new may start"),
                            ("allow", "Only then may something start"),
                        ],
                        max_length=8,
                    ),
                ),
                ("time_zone", models.CharField(max_length=64)),
                ("first_day", models.DateField()),
                ("begins", models.TimeField()),
                ("minutes", models.PositiveIntegerField()),
                (
                    "repeat",
                    models.CharField(
                        choices=[
                            ("once", "Once"),
                            ("daily", "Every day"),
                            ("weekly", "Every week"),
                            ("monthly", "Every month"),
                            ("yearly", "Every year"),
                        ],
                        max_length=8,
                    ),
                ),
                ("weekdays", models.JSONField(blank=True, default=list)),
                ("last_day", models.DateField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="freeze_windows",
                        to="deployments.cluster",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="freeze_windows",
                        to="deployments.team",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "created_at"],
                "constraints": [
                    models.CheckConstraint(
                        name="freeze_kind_known",
                        condition=Q(kind__in=["deny", "allow"]),
                    ),
                    models.CheckConstraint(
                        name="freeze_repeat_known",
                        condition=Q(
                            repeat__in=["once", "daily", "weekly", "monthly", "yearly"]
                        ),
                    ),
                    models.CheckConstraint(
                        name="freeze_lasts",
                        condition=Q(minutes__gte=1, minutes__lte=44640),
                    ),
                    models.CheckConstraint(
                        name="freeze_end_has_person",
                        condition=Q(ended_at__isnull=True, ended_by__isnull=True)
                        | Q(ended_at__isnull=False, ended_by__isnull=False),
                    ),
                ],
            },
        ),
    ]
