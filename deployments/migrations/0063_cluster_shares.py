"""Deployments name their own team, since a cluster can be shared with others."""

import uuid

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery


def team_of_the_cluster(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Until now a deployment was of the team that owns its cluster."""
    deployments = apps.get_model("deployments", "Deployment").objects
    clusters = apps.get_model("deployments", "Cluster").objects
    owner = clusters.filter(pk=OuterRef("cluster")).values("team")[:1]
    deployments.using(schema_editor.connection.alias).update(team=Subquery(owner))


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0061_benchmark_pairs"),
    ]

    operations = [
        migrations.CreateModel(
            name="ClusterShare",
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
                    "access",
                    models.CharField(
                        choices=[("read", "See it"), ("deploy", "Deploy on it")],
                        max_length=8,
                    ),
                ),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "changed_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shares",
                        to="deployments.cluster",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cluster_shares",
                        to="deployments.team",
                    ),
                ),
            ],
            options={
                "ordering": ["team__name"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "team"), name="one_share_each"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("access__in", ["read", "deploy"])),
                        name="share_access_known",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="deployment",
            name="team",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deployments",
                to="deployments.team",
            ),
        ),
        migrations.RunPython(team_of_the_cluster, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="deployment",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deployments",
                to="deployments.team",
            ),
        ),
    ]
