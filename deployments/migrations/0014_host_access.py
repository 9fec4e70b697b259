"""How hosts are reached: sealed credentials, pinned keys, and the last test of the way."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

import deployments.models.sealed


class Migration(migrations.Migration):
    """One row beside each host that is not of this machine."""

    dependencies = [("deployments", "0013_alarm_views")]

    operations = [
        migrations.CreateModel(
            name="HostAccess",
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
                    "sealed",
                    deployments.models.sealed.SealedField(blank=True, default=""),
                ),
                ("authority_expires_at", models.DateTimeField(blank=True, null=True)),
                ("certificate_expires_at", models.DateTimeField(blank=True, null=True)),
                ("server_expires_at", models.DateTimeField(blank=True, null=True)),
                (
                    "public_key",
                    models.CharField(blank=True, default="", max_length=1024),
                ),
                ("host_key", models.CharField(blank=True, default="", max_length=1024)),
                (
                    "offered_host_key",
                    models.CharField(blank=True, default="", max_length=1024),
                ),
                (
                    "offered_engine_id",
                    models.CharField(blank=True, default="", max_length=128),
                ),
                ("test_asked_at", models.DateTimeField(blank=True, null=True)),
                ("tested_at", models.DateTimeField(blank=True, null=True)),
                ("steps", models.JSONField(blank=True, default=list)),
                (
                    "host",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="access",
                        to="deployments.host",
                    ),
                ),
            ],
        ),
    ]
