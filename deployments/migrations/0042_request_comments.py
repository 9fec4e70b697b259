"""Questions and answers about requests, and a notice of them."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

KINDS = [
    ("requested", "Approval asked for"),
    ("reminder", "A request is running out"),
    ("commented", "Somebody wrote about a request"),
    ("approved", "Approved"),
    ("rejected", "Rejected"),
    ("expired", "A request ran out"),
    ("deployed", "Deployed"),
    ("failed", "A release failed"),
    ("rolled_back", "An earlier release serves again"),
    ("alarm", "Alarm"),
    ("bypassed", "Started without approval"),
    ("test", "Test"),
]


class Migration(migrations.Migration):
    """Nothing was asked before."""

    dependencies = [("deployments", "0037_wizard_drafts")]

    operations = [
        migrations.CreateModel(
            name="RequestComment",
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
                ("author_name", models.CharField(max_length=160)),
                ("text", models.TextField()),
                (
                    "author",
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
                        related_name="comments",
                        to="deployments.approvalrequest",
                    ),
                ),
            ],
            options={"ordering": ["created_at"]},
        ),
        migrations.RemoveConstraint(model_name="notice", name="notice_kind_known"),
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=12),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", [kind for kind, _label in KINDS])),
                name="notice_kind_known",
            ),
        ),
    ]
