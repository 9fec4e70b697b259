"""Engine profiles that people made of their own wheels and images."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    """One table."""

    dependencies = [("deployments", "0009_benchmark_results")]

    operations = [
        migrations.CreateModel(
            name="OwnEngineProfile",
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
                ("name", models.CharField(max_length=80, unique=True)),
                ("engine", models.CharField(max_length=20)),
                ("source", models.CharField(max_length=400)),
                ("document", models.JSONField()),
            ],
            options={"ordering": ["name"]},
        ),
    ]
