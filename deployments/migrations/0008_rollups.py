"""Acceptance is added up by minute, hour and day, and each deployment has a standing."""

import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0007_lists_by_time"),
    ]

    operations = [
        migrations.CreateModel(
            name="AcceptanceStanding",
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
                    "verdict",
                    models.CharField(
                        choices=[
                            ("zero", "Nothing accepted"),
                            ("stale", "No data"),
                            ("low", "Low"),
                            ("normal", "Normal"),
                            ("healthy", "Healthy"),
                            ("not_comparable", "Not judged"),
                            ("no_data", "No traffic"),
                            ("off", "Drafts nothing"),
                        ],
                        default="no_data",
                        max_length=16,
                    ),
                ),
                ("accepted", models.BigIntegerField(default=0)),
                ("drafted", models.BigIntegerField(default=0)),
                ("num_drafts", models.BigIntegerField(blank=True, null=True)),
                ("per_position", models.JSONField(blank=True, default=list)),
                ("course", models.JSONField(blank=True, default=list)),
                ("before_accepted", models.BigIntegerField(default=0)),
                ("before_num_drafts", models.BigIntegerField(blank=True, null=True)),
                ("heard_at", models.DateTimeField(blank=True, null=True)),
                ("judged_at", models.DateTimeField(blank=True, null=True)),
                ("pruned_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="DayRollup",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start_s", models.BigIntegerField()),
                ("positions", models.PositiveSmallIntegerField()),
                ("accepted", models.BigIntegerField()),
                ("drafted", models.BigIntegerField()),
                ("num_drafts", models.BigIntegerField(null=True)),
                ("per_position", models.JSONField(blank=True, default=list)),
                ("windows", models.PositiveIntegerField()),
                ("newest_ns", models.BigIntegerField()),
            ],
            options={
                "ordering": ["start_s"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="HourRollup",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start_s", models.BigIntegerField()),
                ("positions", models.PositiveSmallIntegerField()),
                ("accepted", models.BigIntegerField()),
                ("drafted", models.BigIntegerField()),
                ("num_drafts", models.BigIntegerField(null=True)),
                ("per_position", models.JSONField(blank=True, default=list)),
                ("windows", models.PositiveIntegerField()),
                ("newest_ns", models.BigIntegerField()),
            ],
            options={
                "ordering": ["start_s"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="MinuteRollup",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start_s", models.BigIntegerField()),
                ("positions", models.PositiveSmallIntegerField()),
                ("accepted", models.BigIntegerField()),
                ("drafted", models.BigIntegerField()),
                ("num_drafts", models.BigIntegerField(null=True)),
                ("per_position", models.JSONField(blank=True, default=list)),
                ("windows", models.PositiveIntegerField()),
                ("newest_ns", models.BigIntegerField()),
            ],
            options={
                "ordering": ["start_s"],
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RollupRound",
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
                    "only",
                    models.BooleanField(default=True, editable=False, unique=True),
                ),
                ("rolled_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.AddField(
            model_name="acceptancesample",
            name="rolled_up",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="acceptancesample",
            index=models.Index(
                condition=models.Q(("rolled_up", False)),
                fields=["deployment", "timestamp_ns"],
                name="sample_to_roll_up",
            ),
        ),
        migrations.AddField(
            model_name="acceptancestanding",
            name="deployment",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="standing",
                to="deployments.deployment",
            ),
        ),
        migrations.AddField(
            model_name="dayrollup",
            name="deployment",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="deployments.deployment",
            ),
        ),
        migrations.AddField(
            model_name="dayrollup",
            name="replica",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="deployments.replica",
            ),
        ),
        migrations.AddField(
            model_name="hourrollup",
            name="deployment",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="deployments.deployment",
            ),
        ),
        migrations.AddField(
            model_name="hourrollup",
            name="replica",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="deployments.replica",
            ),
        ),
        migrations.AddField(
            model_name="minuterollup",
            name="deployment",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="deployments.deployment",
            ),
        ),
        migrations.AddField(
            model_name="minuterollup",
            name="replica",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="deployments.replica",
            ),
        ),
        migrations.AddConstraint(
            model_name="rollupround",
            constraint=models.CheckConstraint(
                condition=models.Q(("only", True)), name="rollup_round_only"
            ),
        ),
        migrations.AddIndex(
            model_name="acceptancestanding",
            index=models.Index(fields=["judged_at"], name="standing_by_judgement"),
        ),
        migrations.AddIndex(
            model_name="acceptancestanding",
            index=models.Index(fields=["pruned_at"], name="standing_by_pruning"),
        ),
        migrations.AddConstraint(
            model_name="acceptancestanding",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "verdict__in",
                        [
                            "zero",
                            "stale",
                            "low",
                            "normal",
                            "healthy",
                            "not_comparable",
                            "no_data",
                            "off",
                        ],
                    )
                ),
                name="standing_verdict_known",
            ),
        ),
        migrations.AddIndex(
            model_name="dayrollup",
            index=models.Index(
                fields=["deployment", "start_s"], name="dayrollup_by_time"
            ),
        ),
        migrations.AddConstraint(
            model_name="dayrollup",
            constraint=models.UniqueConstraint(
                fields=("replica", "start_s", "positions"), name="dayrollup_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="dayrollup",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("accepted__gte", 0), ("drafted__gte", models.F("accepted"))
                ),
                name="dayrollup_accepted_within_drafted",
            ),
        ),
        migrations.AddIndex(
            model_name="hourrollup",
            index=models.Index(
                fields=["deployment", "start_s"], name="hourrollup_by_time"
            ),
        ),
        migrations.AddConstraint(
            model_name="hourrollup",
            constraint=models.UniqueConstraint(
                fields=("replica", "start_s", "positions"), name="hourrollup_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="hourrollup",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("accepted__gte", 0), ("drafted__gte", models.F("accepted"))
                ),
                name="hourrollup_accepted_within_drafted",
            ),
        ),
        migrations.AddIndex(
            model_name="minuterollup",
            index=models.Index(
                fields=["deployment", "start_s"], name="minuterollup_by_time"
            ),
        ),
        migrations.AddConstraint(
            model_name="minuterollup",
            constraint=models.UniqueConstraint(
                fields=("replica", "start_s", "positions"), name="minuterollup_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="minuterollup",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("accepted__gte", 0), ("drafted__gte", models.F("accepted"))
                ),
                name="minuterollup_accepted_within_drafted",
            ),
        ),
    ]
