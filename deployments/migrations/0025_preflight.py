"""The preflight lists of requests."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

import deployments.models.sentences


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0024_too_few_drafts"),
    ]

    operations = [
        migrations.CreateModel(
            name="Preflight",
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
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                (
                    "problem",
                    deployments.models.sentences.SentenceField(blank=True, default=""),
                ),
                ("results", models.JSONField(blank=True, default=list)),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="preflight",
                        to="deployments.approvalrequest",
                    ),
                ),
            ],
            options={"abstract": False},
        ),
    ]
