"""Unfinished plans of the wizard, kept in the account of the person who left them."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("deployments", "0036_delegations")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="unfinished_plans",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.CreateModel(
            name="WizardDraft",
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
                ("model", models.CharField(max_length=160)),
                ("query", models.CharField(max_length=8000)),
                ("changed_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="wizard_drafts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-changed_at"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "model"), name="wizard_draft_model_once"
                    )
                ],
            },
        ),
    ]
