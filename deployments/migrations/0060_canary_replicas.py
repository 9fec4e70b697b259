from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0048_benchmark_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="replica",
            name="canary",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
