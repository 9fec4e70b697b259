"""Channels of teams and people, what they are to be told, and what became of each telling."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import deployments.models.sealed
import deployments.models.sentences


class Migration(migrations.Migration):
    """Nobody is told anything until a channel is added."""

    dependencies = [
        ("deployments", "0031_device_queue"),
    ]

    operations = [
        migrations.AddField(
            model_name="team",
            name="notice_language",
            field=models.CharField(blank=True, default="", max_length=10),
        ),
        migrations.CreateModel(
            name="Notice",
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
                            ("requested", "Approval asked for"),
                            ("reminder", "A request is running out"),
                            ("approved", "Approved"),
                            ("rejected", "Rejected"),
                            ("expired", "A request ran out"),
                            ("deployed", "Deployed"),
                            ("failed", "A release failed"),
                            ("rolled_back", "An earlier release serves again"),
                            ("alarm", "Alarm"),
                            ("bypassed", "Started without approval"),
                            ("test", "Test"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "said",
                    deployments.models.sentences.SentenceField(blank=True, default=""),
                ),
                (
                    "actor_name",
                    models.CharField(blank=True, default="", max_length=160),
                ),
                ("place", models.CharField(blank=True, default="", max_length=40)),
                ("place_id", models.UUIDField(blank=True, null=True)),
                ("facts", models.JSONField(blank=True, default=dict)),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="deployments.team",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.CreateModel(
            name="NoticeChannel",
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
                            ("email", "E-mail"),
                            ("webhook", "Signed webhook"),
                            ("dingtalk", "DingTalk"),
                            ("feishu", "Feishu"),
                            ("wecom", "WeCom"),
                            ("slack", "Slack"),
                            ("teams", "Microsoft Teams"),
                        ],
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("sealed", deployments.models.sealed.SealedField()),
                ("events", models.JSONField(blank=True, default=list)),
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
                    "team",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notice_channels",
                        to="deployments.team",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notice_channels",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="NoticeDelivery",
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
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("sending", "On its way"),
                            ("delivered", "Delivered"),
                            ("dead", "Given up"),
                            ("discarded", "Discarded"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("not_before", models.DateTimeField()),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "error",
                    deployments.models.sentences.SentenceField(blank=True, default=""),
                ),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="deployments.noticechannel",
                    ),
                ),
                (
                    "notice",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="deployments.notice",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.AddIndex(
            model_name="notice",
            index=models.Index(fields=["created_at"], name="notice_by_time"),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "requested",
                            "reminder",
                            "approved",
                            "rejected",
                            "expired",
                            "deployed",
                            "failed",
                            "rolled_back",
                            "alarm",
                            "bypassed",
                            "test",
                        ],
                    )
                ),
                name="notice_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="noticechannel",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "email",
                            "webhook",
                            "dingtalk",
                            "feishu",
                            "wecom",
                            "slack",
                            "teams",
                        ],
                    )
                ),
                name="channel_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="noticechannel",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("team__isnull", True), ("user__isnull", False)),
                    models.Q(("team__isnull", False), ("user__isnull", True)),
                    _connector="OR",
                ),
                name="channel_has_one_owner",
            ),
        ),
        migrations.AddConstraint(
            model_name="noticechannel",
            constraint=models.UniqueConstraint(
                fields=("team", "name"), name="channel_name_once_in_team"
            ),
        ),
        migrations.AddConstraint(
            model_name="noticechannel",
            constraint=models.UniqueConstraint(
                fields=("user", "name"), name="channel_name_once_of_person"
            ),
        ),
        migrations.AddIndex(
            model_name="noticedelivery",
            index=models.Index(fields=["state", "not_before"], name="delivery_due"),
        ),
        migrations.AddConstraint(
            model_name="noticedelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        ["waiting", "sending", "delivered", "dead", "discarded"],
                    )
                ),
                name="delivery_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="noticedelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "sending"), _negated=True),
                    models.Q(("attempts__gte", 1), ("lease_until__isnull", False)),
                    _connector="OR",
                ),
                name="delivery_sending_has_lease",
            ),
        ),
        migrations.AddConstraint(
            model_name="noticedelivery",
            constraint=models.UniqueConstraint(
                fields=("notice", "channel"), name="delivery_once_each"
            ),
        ),
    ]
