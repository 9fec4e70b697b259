"""Revisions, plans and decisions cannot be changed, whoever writes to the database."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

FROZEN = ("deployments_revision", "deployments_plan", "deployments_approval")


def freeze(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Add a trigger to each table that refuses every UPDATE."""
    if schema_editor.connection.vendor == "sqlite":
        for table in FROZEN:
            schema_editor.execute(
                f"CREATE TRIGGER {table}_frozen BEFORE UPDATE ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} rows are frozen'); END"
            )
        return
    schema_editor.execute(
        "CREATE FUNCTION deployments_refuse_update() RETURNS trigger AS $$ "
        "BEGIN RAISE EXCEPTION '% rows are frozen', TG_TABLE_NAME "
        "USING ERRCODE = 'integrity_constraint_violation'; END $$ LANGUAGE plpgsql",
        params=None,
    )
    for table in FROZEN:
        schema_editor.execute(
            f"CREATE TRIGGER {table}_frozen BEFORE UPDATE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION deployments_refuse_update()"
        )


def thaw(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the triggers away again."""
    postgres = schema_editor.connection.vendor == "postgresql"
    for table in FROZEN:
        suffix = f" ON {table}" if postgres else ""
        schema_editor.execute(f"DROP TRIGGER {table}_frozen{suffix}")
    if postgres:
        schema_editor.execute("DROP FUNCTION deployments_refuse_update()")


class Migration(migrations.Migration):
    """Triggers, since no constraint can compare a row with its earlier self."""

    dependencies = [("deployments", "0001_first_tables")]

    operations = [migrations.RunPython(freeze, thaw)]
