"""Absences of approvers, and for whom a vote was given; the latter is never changed or removed."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

VOTES = "deployments_delegatedvote"


def keep(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Add triggers that refuse UPDATE, DELETE and TRUNCATE, as those of votes do."""
    if schema_editor.connection.vendor == "sqlite":
        for name, act in (("frozen", "UPDATE"), ("kept", "DELETE")):
            schema_editor.execute(
                f"CREATE TRIGGER {VOTES}_{name} BEFORE {act} ON {VOTES} "
                f"BEGIN SELECT RAISE(ABORT, '{VOTES} rows are {name}'); END"
            )
        return
    for name, act, how, refusal in (
        ("frozen", "UPDATE", "ROW", "deployments_refuse_update"),
        ("kept", "DELETE", "ROW", "deployments_refuse_removal"),
        ("whole", "TRUNCATE", "STATEMENT", "deployments_refuse_removal"),
    ):
        schema_editor.execute(
            f"CREATE TRIGGER {VOTES}_{name} BEFORE {act} ON {VOTES} "
            f"FOR EACH {how} EXECUTE FUNCTION {refusal}()"
        )


def release(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the triggers away again."""
    postgres = schema_editor.connection.vendor == "postgresql"
    for name in ("frozen", "kept", "whole") if postgres else ("frozen", "kept"):
        suffix = f" ON {VOTES}" if postgres else ""
        schema_editor.execute(f"DROP TRIGGER {VOTES}_{name}{suffix}")


class Migration(migrations.Migration):
    """Nobody is absent until they say so."""

    dependencies = [
        ("deployments", "0035_reminders"),
    ]

    operations = [
        migrations.CreateModel(
            name="DelegatedVote",
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
                ("approver_name", models.CharField(max_length=160)),
                (
                    "approver",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="deployments.approvalrequest",
                    ),
                ),
                (
                    "vote",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="delegated",
                        to="deployments.approval",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("request", "approver"), name="voted_for_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Delegation",
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
                ("ends_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "approver",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "delegate",
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
                        related_name="delegations",
                        to="deployments.team",
                    ),
                ),
            ],
            options={
                "ordering": ["ends_at"],
                "indexes": [
                    models.Index(
                        fields=["delegate", "team"], name="delegation_by_delegate"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("approver", models.F("delegate")), _negated=True
                        ),
                        name="delegation_to_another",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("team", "approver"),
                        name="one_delegation_at_a_time",
                    ),
                ],
            },
        ),
        migrations.RunPython(keep, release),
    ]
