"""Where replicas of a cluster keep log files of their own on each host."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0017_drift"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="log_root",
            field=models.CharField(default="/var/log/draftboard", max_length=255),
        ),
    ]
