"""Which requests were reminded of, so that each reminder is given once."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Nobody was reminded of anything yet."""

    dependencies = [
        ("deployments", "0034_device_quotas"),
    ]

    operations = [
        migrations.CreateModel(
            name="RequestReminder",
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
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Waiting for a decision"),
                            ("approved", "Approved"),
                            ("released", "Released"),
                            ("rejected", "Rejected"),
                            ("withdrawn", "Withdrawn"),
                            ("expired", "Expired"),
                            ("stale", "Out of date"),
                            ("superseded", "Replaced by a newer request"),
                        ],
                        max_length=12,
                    ),
                ),
                ("percent", models.PositiveSmallIntegerField()),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reminders",
                        to="deployments.approvalrequest",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("request", "state", "percent"), name="reminded_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "open",
                                    "approved",
                                    "released",
                                    "rejected",
                                    "withdrawn",
                                    "expired",
                                    "stale",
                                    "superseded",
                                ],
                            )
                        ),
                        name="reminder_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("percent__gte", 1), ("percent__lte", 99)),
                        name="reminder_is_a_share",
                    ),
                ],
            },
        ),
    ]
