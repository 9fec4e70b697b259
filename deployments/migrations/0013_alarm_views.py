"""The table of alarms can be kept as a view too."""

from django.db import migrations, models

TABLES = [
    ("deployments", "Deployments"),
    ("releases", "Releases"),
    ("approvals", "Approvals"),
    ("catalog", "Catalog"),
    ("hosts", "Hosts"),
    ("alarms", "Alarms"),
]


class Migration(migrations.Migration):
    """One more table."""

    dependencies = [("deployments", "0012_team_secrets")]

    operations = [
        migrations.AddConstraint(
            model_name="alarm",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "closed_because__in",
                        ["", "recovered", "stopped", "silent", "replaced"],
                    )
                ),
                name="alarm_end_known",
            ),
        ),
        migrations.RemoveConstraint(
            model_name="savedview", name="saved_view_table_known"
        ),
        migrations.AlterField(
            model_name="savedview",
            name="table",
            field=models.CharField(choices=TABLES, max_length=12),
        ),
        migrations.AddConstraint(
            model_name="savedview",
            constraint=models.CheckConstraint(
                condition=models.Q(("table__in", [key for key, _name in TABLES])),
                name="saved_view_table_known",
            ),
        ),
    ]
