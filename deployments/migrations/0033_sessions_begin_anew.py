"""Everybody logs in again, so that every session is one that its person can see and end."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def end_all(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Sessions of before are in no list."""
    apps.get_model("sessions", "Session").objects.all().delete()


class Migration(migrations.Migration):
    """Nothing is lost: a session holds the log-in and messages that were not shown yet."""

    dependencies = [
        ("deployments", "0032_notices"),
        ("sessions", "0001_initial"),
    ]

    operations = [migrations.RunPython(end_all, migrations.RunPython.noop)]
