"""Lists by time read an index instead of every row."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0006_saved_views"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(fields=["created_at", "id"], name="request_by_time"),
        ),
        migrations.AddIndex(
            model_name="release",
            index=models.Index(fields=["created_at", "id"], name="release_by_time"),
        ),
    ]
