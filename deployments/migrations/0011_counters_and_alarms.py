"""Counters of engines are read too, serving is added up, and alarms are kept."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import deployments.models.sentences


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0010_own_engine_profiles"),
    ]

    operations = [
        migrations.CreateModel(
            name="Alarm",
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
                    "kind",
                    models.CharField(
                        choices=[
                            ("silent_zero", "Nothing accepted"),
                            ("no_drafts", "Traffic without drafts"),
                            ("below_band", "Below the usual rate"),
                            ("drop", "Fell against its own week"),
                            ("all_accepted", "Everything accepted"),
                            ("positions", "Later positions accepted more often"),
                            ("disagreement", "Log and counters disagree"),
                            ("gap", "Log lines lost"),
                        ],
                        max_length=16,
                    ),
                ),
                ("release_number", models.PositiveIntegerField()),
                ("opened_at", models.DateTimeField()),
                ("began_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("better_since", models.DateTimeField(blank=True, null=True)),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "closed_because",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("recovered", "Recovered"),
                            ("stopped", "Nothing runs any more"),
                            ("silent", "Nothing is heard any more"),
                            ("replaced", "Another release runs"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "text",
                    deployments.models.sentences.SentenceField(blank=True, default=""),
                ),
                ("evidence", models.JSONField(blank=True, default=dict)),
                ("acknowledged_at", models.DateTimeField(blank=True, null=True)),
                ("note", models.CharField(blank=True, default="", max_length=500)),
                (
                    "acknowledged_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "deployment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alarms",
                        to="deployments.deployment",
                    ),
                ),
            ],
            options={
                "ordering": ["-opened_at"],
                "indexes": [
                    models.Index(
                        fields=["deployment", "opened_at"], name="alarm_by_time"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=("deployment", "kind"),
                        name="alarm_open_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "silent_zero",
                                    "no_drafts",
                                    "below_band",
                                    "drop",
                                    "all_accepted",
                                    "positions",
                                    "disagreement",
                                    "gap",
                                ],
                            )
                        ),
                        name="alarm_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("closed_at__isnull", True), ("closed_because", "")
                            ),
                            models.Q(
                                ("closed_at__isnull", False),
                                models.Q(("closed_because", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="alarm_closed_has_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CounterCursor",
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
                ("container_id", models.CharField(max_length=64)),
                ("run_started_at", models.CharField(max_length=40)),
                ("engines", models.JSONField(blank=True, default=dict)),
                ("counted", models.JSONField(blank=True, default=list)),
                ("read", models.JSONField(blank=True, default=list)),
                ("logged", models.JSONField(blank=True, default=list)),
                ("adopted", models.BooleanField(default=False)),
                ("scraped_ns", models.BigIntegerField(default=0)),
                ("epoch", models.PositiveIntegerField(default=0)),
                ("process_started", models.FloatField(blank=True, null=True)),
                ("lines_lost", models.BooleanField(default=False)),
                ("problem", models.CharField(blank=True, default="", max_length=16)),
                ("problem_since", models.DateTimeField(blank=True, null=True)),
                ("differs", models.JSONField(blank=True, default=dict)),
                ("differs_since", models.DateTimeField(blank=True, null=True)),
                ("speculates", models.BooleanField(blank=True, null=True)),
                (
                    "output_from",
                    models.CharField(blank=True, default="", max_length=60),
                ),
                (
                    "replica",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="counter_cursors",
                        to="deployments.replica",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("container_id", "run_started_at"),
                        name="counter_cursor_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ServingDay",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start_s", models.BigIntegerField()),
                ("scrapes", models.PositiveIntegerField(default=0)),
                ("running_sum", models.FloatField(default=0)),
                ("running_most", models.FloatField(default=0)),
                ("waiting_sum", models.FloatField(default=0)),
                ("waiting_most", models.FloatField(default=0)),
                ("cache_scrapes", models.PositiveIntegerField(default=0)),
                ("cache_sum", models.FloatField(default=0)),
                ("cache_most", models.FloatField(default=0)),
                ("generated", models.BigIntegerField(default=0)),
                ("prompted", models.BigIntegerField(default=0)),
                ("requests", models.BigIntegerField(default=0)),
                ("preemptions", models.BigIntegerField(default=0)),
                ("restarts", models.PositiveIntegerField(default=0)),
                ("first_token", models.JSONField(blank=True, default=dict)),
                ("output_token", models.JSONField(blank=True, default=dict)),
                (
                    "deployment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="deployments.deployment",
                    ),
                ),
                (
                    "replica",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="deployments.replica",
                    ),
                ),
            ],
            options={
                "ordering": ["start_s"],
                "abstract": False,
                "indexes": [
                    models.Index(
                        fields=["deployment", "start_s"], name="servingday_by_time"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("replica", "start_s"), name="servingday_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ServingHour",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start_s", models.BigIntegerField()),
                ("scrapes", models.PositiveIntegerField(default=0)),
                ("running_sum", models.FloatField(default=0)),
                ("running_most", models.FloatField(default=0)),
                ("waiting_sum", models.FloatField(default=0)),
                ("waiting_most", models.FloatField(default=0)),
                ("cache_scrapes", models.PositiveIntegerField(default=0)),
                ("cache_sum", models.FloatField(default=0)),
                ("cache_most", models.FloatField(default=0)),
                ("generated", models.BigIntegerField(default=0)),
                ("prompted", models.BigIntegerField(default=0)),
                ("requests", models.BigIntegerField(default=0)),
                ("preemptions", models.BigIntegerField(default=0)),
                ("restarts", models.PositiveIntegerField(default=0)),
                ("first_token", models.JSONField(blank=True, default=dict)),
                ("output_token", models.JSONField(blank=True, default=dict)),
                (
                    "deployment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="deployments.deployment",
                    ),
                ),
                (
                    "replica",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="deployments.replica",
                    ),
                ),
            ],
            options={
                "ordering": ["start_s"],
                "abstract": False,
                "indexes": [
                    models.Index(
                        fields=["deployment", "start_s"], name="servinghour_by_time"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("replica", "start_s"), name="servinghour_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ServingMinute",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("start_s", models.BigIntegerField()),
                ("scrapes", models.PositiveIntegerField(default=0)),
                ("running_sum", models.FloatField(default=0)),
                ("running_most", models.FloatField(default=0)),
                ("waiting_sum", models.FloatField(default=0)),
                ("waiting_most", models.FloatField(default=0)),
                ("cache_scrapes", models.PositiveIntegerField(default=0)),
                ("cache_sum", models.FloatField(default=0)),
                ("cache_most", models.FloatField(default=0)),
                ("generated", models.BigIntegerField(default=0)),
                ("prompted", models.BigIntegerField(default=0)),
                ("requests", models.BigIntegerField(default=0)),
                ("preemptions", models.BigIntegerField(default=0)),
                ("restarts", models.PositiveIntegerField(default=0)),
                ("first_token", models.JSONField(blank=True, default=dict)),
                ("output_token", models.JSONField(blank=True, default=dict)),
                (
                    "deployment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="deployments.deployment",
                    ),
                ),
                (
                    "replica",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="deployments.replica",
                    ),
                ),
            ],
            options={
                "ordering": ["start_s"],
                "abstract": False,
                "indexes": [
                    models.Index(
                        fields=["deployment", "start_s"], name="servingminute_by_time"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("replica", "start_s"), name="servingminute_once"
                    )
                ],
            },
        ),
    ]
