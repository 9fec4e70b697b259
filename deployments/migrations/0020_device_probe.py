"""What a probe of a host's accelerators finds, and how a cluster's hosts are probed."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

import deployments.models.sentences


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0019_model_directories"),
    ]

    operations = [
        migrations.AddField(
            model_name="device",
            name="used_bytes",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="device",
            name="free_bytes",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="device",
            name="read_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name="ProbeSettings",
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
                ("image", models.CharField(blank=True, default="", max_length=255)),
                ("repeats", models.BooleanField(default=False)),
                ("privileged", models.BooleanField(default=False)),
                (
                    "cluster",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="probe_settings",
                        to="deployments.cluster",
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="HostProbe",
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
                ("asked_at", models.DateTimeField(blank=True, null=True)),
                ("begun_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("image", models.CharField(blank=True, default="", max_length=255)),
                (
                    "driver_version",
                    models.CharField(blank=True, default="", max_length=40),
                ),
                (
                    "firmware_version",
                    models.CharField(blank=True, default="", max_length=40),
                ),
                ("compatible", models.BooleanField(blank=True, null=True)),
                (
                    "cann_version",
                    models.CharField(blank=True, default="", max_length=40),
                ),
                ("held", models.JSONField(blank=True, default=list)),
                (
                    "problem",
                    deployments.models.sentences.SentenceField(blank=True, default=""),
                ),
                (
                    "host",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="probe",
                        to="deployments.host",
                    ),
                ),
            ],
            options={"abstract": False},
        ),
    ]
