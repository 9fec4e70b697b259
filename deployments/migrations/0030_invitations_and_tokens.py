"""Links that make an account, keys of programs, and who invited whom."""

import uuid
from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q

ROW: list[tuple[str, "models.Field[Any, Any]"]] = [
    (
        "id",
        models.UUIDField(
            default=uuid.uuid4, editable=False, primary_key=True, serialize=False
        ),
    ),
    ("created_at", models.DateTimeField(auto_now_add=True)),
]


class Migration(migrations.Migration):
    """Of people who are there nobody knows who invited them."""

    dependencies = [("deployments", "0029_seen_passwords")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="invited_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                *ROW,
                ("name", models.CharField(max_length=60)),
                (
                    "scope",
                    models.CharField(
                        choices=[("read", "Read"), ("operate", "Read and operate")],
                        max_length=8,
                    ),
                ),
                ("is_robot", models.BooleanField(default=True)),
                ("key_hash", models.CharField(max_length=64, unique=True)),
                ("hint", models.CharField(max_length=4)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        name="token_scope_known",
                        condition=Q(scope__in=["read", "operate"]),
                    ),
                    models.CheckConstraint(
                        name="token_expires_later",
                        condition=Q(expires_at__gt=F("created_at")),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                *ROW,
                ("roles", models.JSONField()),
                (
                    "email",
                    models.EmailField(blank=True, default="", max_length=254),
                ),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "accepted_by",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="invitation",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "invited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="deployments.team",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        name="invitation_ends_once",
                        condition=Q(accepted_at=None) | Q(revoked_at=None),
                    ),
                    models.CheckConstraint(
                        name="invitation_expires_later",
                        condition=Q(expires_at__gt=F("created_at")),
                    ),
                ],
            },
        ),
    ]
