"""Whether deployments of a cluster may share a card of Atlas A3."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0015_approval_rules"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="split_cards",
            field=models.BooleanField(default=False),
        ),
    ]
