"""Hosts that answer and need somebody, when calls to them rest, and the places for tasks at slow ones."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

STATES = [
    ("unknown", "Not contacted yet"),
    ("reachable", "Reachable"),
    ("degraded", "Degraded"),
    ("unreachable", "Unreachable"),
    ("different_engine", "A different Docker Engine answers"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0026_start_times"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="host",
            name="host_reachability_known",
        ),
        migrations.AlterField(
            model_name="host",
            name="reachability",
            field=models.CharField(choices=STATES, default="unknown", max_length=20),
        ),
        migrations.AddConstraint(
            model_name="host",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("reachability__in", [value for value, _label in STATES])
                ),
                name="host_reachability_known",
            ),
        ),
        migrations.AddField(
            model_name="host",
            name="failed_calls",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="host",
            name="next_try_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name="HostSlot",
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
                ("number", models.PositiveSmallIntegerField()),
                ("taken_until", models.DateTimeField(blank=True, null=True)),
                (
                    "host",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="slots",
                        to="deployments.host",
                    ),
                ),
            ],
            options={
                "ordering": ["host", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("host", "number"), name="host_slot_once"
                    )
                ],
            },
        ),
    ]
