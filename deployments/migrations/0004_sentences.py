"""Sentences of the executor keep template and values; the columns stay text columns."""

from django.db import migrations

from deployments.models.sentences import SentenceField


def _sentence(model: str, name: str) -> migrations.AlterField:
    return migrations.AlterField(
        model_name=model,
        name=name,
        field=SentenceField(blank=True, default=""),
    )


class Migration(migrations.Migration):
    """Nothing is rewritten: what stands there is read as a sentence without values."""

    dependencies = [("deployments", "0003_user_density")]

    operations = [
        _sentence("release", "cause"),
        _sentence("release", "next_action"),
        _sentence("release", "warning"),
        _sentence("releaseevent", "message"),
        _sentence("command", "error"),
        _sentence("host", "reason"),
    ]
