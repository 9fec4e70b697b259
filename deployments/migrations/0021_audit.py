"""What people did, as a chain of entries; its table can be kept as a view too."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

TABLES = [
    ("deployments", "Deployments"),
    ("releases", "Releases"),
    ("approvals", "Approvals"),
    ("catalog", "Catalog"),
    ("hosts", "Hosts"),
    ("alarms", "Alarms"),
    ("audit", "Audit"),
]


class Migration(migrations.Migration):
    """The entries, the end of their chain, and one more table of views."""

    dependencies = [("deployments", "0020_device_probe")]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
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
                ("sequence", models.PositiveBigIntegerField(unique=True)),
                ("at", models.DateTimeField()),
                (
                    "actor",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("actor_name", models.CharField(max_length=160)),
                (
                    "team",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="deployments.team",
                    ),
                ),
                (
                    "team_name",
                    models.CharField(blank=True, default="", max_length=80),
                ),
                ("action", models.CharField(max_length=40)),
                ("object_kind", models.CharField(max_length=20)),
                ("object_id", models.CharField(max_length=36)),
                ("object_name", models.CharField(max_length=200)),
                (
                    "within_id",
                    models.CharField(blank=True, default="", max_length=36),
                ),
                ("before", models.JSONField(blank=True, default=dict)),
                ("after", models.JSONField(blank=True, default=dict)),
                ("reason", models.TextField(blank=True, default="")),
                ("address", models.CharField(blank=True, default="", max_length=45)),
                ("agent", models.CharField(blank=True, default="", max_length=80)),
                ("previous", models.CharField(max_length=71)),
                ("digest", models.CharField(max_length=71)),
            ],
            options={
                "ordering": ["-sequence"],
                "indexes": [
                    models.Index(fields=["at", "id"], name="audit_by_time"),
                    models.Index(fields=["team", "at"], name="audit_by_team"),
                    models.Index(fields=["actor", "at"], name="audit_by_actor"),
                    models.Index(fields=["object_id"], name="audit_by_object"),
                    models.Index(fields=["within_id"], name="audit_by_within"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("sequence__gte", 1)),
                        name="audit_counts_from_one",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("sequence", models.PositiveBigIntegerField(default=0)),
                (
                    "digest",
                    models.CharField(blank=True, default="", max_length=71),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("pk", 1)), name="audit_head_is_one"
                    )
                ],
            },
        ),
        migrations.RemoveConstraint(
            model_name="savedview", name="saved_view_table_known"
        ),
        migrations.AlterField(
            model_name="savedview",
            name="table",
            field=models.CharField(choices=TABLES, max_length=12),
        ),
        migrations.AddConstraint(
            model_name="savedview",
            constraint=models.CheckConstraint(
                condition=models.Q(("table__in", [key for key, _name in TABLES])),
                name="saved_view_table_known",
            ),
        ),
    ]
