"""How fast logs grow and what is kept of them; alarms of logs that grow too fast and of clocks."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0063_cluster_shares"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="alarm",
            name="alarm_kind_known",
        ),
        migrations.AddField(
            model_name="logcursor",
            name="bytes_per_s",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="logcursor",
            name="kept_bytes",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="logcursor",
            name="measured_bytes",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="logcursor",
            name="measured_from",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="alarm",
            name="kind",
            field=models.CharField(
                choices=[
                    ("silent_zero", "Nothing accepted"),
                    ("no_drafts", "Traffic without drafts"),
                    ("below_band", "Below the usual rate"),
                    ("drop", "Fell against its own week"),
                    ("all_accepted", "Everything accepted"),
                    ("positions", "Later positions accepted more often"),
                    ("disagreement", "Log and counters disagree"),
                    ("gap", "Log lines lost"),
                    ("log_rate", "Log grows too fast"),
                    ("clock", "Clock of a host is off"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="alarm",
            constraint=models.CheckConstraint(
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
                            "log_rate",
                            "clock",
                        ],
                    )
                ),
                name="alarm_kind_known",
            ),
        ),
    ]
