"""People whose password was shown to others choose one of their own at the next log-in."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Nobody who is there must: their passwords may have been changed long ago."""

    dependencies = [("deployments", "0028_break_glass")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="must_change_password",
            field=models.BooleanField(default=False),
        ),
    ]
