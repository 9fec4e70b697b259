"""Starts without approval, a grant of its own for them, and their reviews."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q

ROLES = [
    ("viewer", "Viewer"),
    ("operator", "Operator"),
    ("approver", "Approver"),
    ("admin", "Team admin"),
    ("break_glass", "Break glass"),
]


class Migration(migrations.Migration):
    """Nobody holds the new grant until it is given."""

    dependencies = [("deployments", "0027_file_logs")]

    operations = [
        migrations.RemoveConstraint(model_name="rolegrant", name="role_known"),
        migrations.AlterField(
            model_name="rolegrant",
            name="role",
            field=models.CharField(choices=ROLES, max_length=12),
        ),
        migrations.AddConstraint(
            model_name="rolegrant",
            constraint=models.CheckConstraint(
                name="role_known",
                condition=Q(role__in=[role for role, _name in ROLES]),
            ),
        ),
        migrations.CreateModel(
            name="BreakGlass",
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
                ("reason", models.CharField(max_length=300)),
                ("incident", models.CharField(max_length=80)),
                ("state_before", models.CharField(max_length=12)),
                ("reviewed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "review",
                    models.CharField(blank=True, default="", max_length=300),
                ),
                (
                    "release",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="broken_glass",
                        to="deployments.release",
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="broken_glass",
                        to="deployments.approvalrequest",
                    ),
                ),
                (
                    "reviewed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "used_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        name="glass_has_reason",
                        condition=~Q(reason="") & ~Q(incident=""),
                    ),
                    models.CheckConstraint(
                        name="glass_review_is_whole",
                        condition=Q(reviewed_by=None, reviewed_at=None, review="")
                        | (
                            Q(reviewed_by__isnull=False, reviewed_at__isnull=False)
                            & ~Q(review="")
                        ),
                    ),
                    models.CheckConstraint(
                        name="glass_reviewed_by_another",
                        condition=Q(reviewed_by=None) | ~Q(reviewed_by=F("used_by")),
                    ),
                ],
            },
        ),
    ]
