"""Releases wait for devices and ports that others hold."""

import uuid

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Nothing waits until it is started; a command may now be looked at as often as it waits."""

    dependencies = [("deployments", "0030_invitations_and_tokens")]

    operations = [
        migrations.AddField(
            model_name="release",
            name="queued_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="command",
            name="attempts",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.CreateModel(
            name="QueuedBooking",
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
                ("device", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("port", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "host",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="queue",
                        to="deployments.host",
                    ),
                ),
                (
                    "replica",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="queued_bookings",
                        to="deployments.replica",
                    ),
                ),
            ],
            options={
                "ordering": ["host", "device", "port"],
                "constraints": [
                    models.CheckConstraint(
                        name="queued_booking_is_device_or_port",
                        condition=Q(device__isnull=True, port__isnull=False)
                        | Q(device__isnull=False, port__isnull=True),
                    ),
                ],
            },
        ),
    ]
