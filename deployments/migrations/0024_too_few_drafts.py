"""A verdict for acceptance that was measured on too few drafts."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

VERDICTS = [
    ("zero", "Nothing accepted"),
    ("stale", "No data"),
    ("low", "Low"),
    ("normal", "Normal"),
    ("healthy", "Healthy"),
    ("not_comparable", "Not judged"),
    ("too_few", "Too few drafts"),
    ("no_data", "No traffic"),
    ("off", "Drafts nothing"),
]


def judge_no_longer(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give what the older release cannot read a verdict that it can."""
    del schema_editor
    rows = apps.get_model("deployments", "AcceptanceStanding").objects
    rows.filter(verdict="too_few").update(verdict="not_comparable")


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0023_freeze_windows"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="acceptancestanding",
            name="standing_verdict_known",
        ),
        migrations.AlterField(
            model_name="acceptancestanding",
            name="verdict",
            field=models.CharField(choices=VERDICTS, default="no_data", max_length=16),
        ),
        migrations.AddConstraint(
            model_name="acceptancestanding",
            constraint=models.CheckConstraint(
                condition=models.Q(("verdict__in", [key for key, _name in VERDICTS])),
                name="standing_verdict_known",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, judge_no_longer),
    ]
