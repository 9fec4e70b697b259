"""Decisions and audit entries are never removed, audit entries never changed, whoever writes."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

AUDIT = "deployments_auditentry"
KEPT = ("deployments_approval", AUDIT)
REFUSAL = "deployments_refuse_removal"


def keep(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Add triggers that refuse UPDATE of entries, and DELETE and TRUNCATE of both tables."""
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            f"CREATE TRIGGER {AUDIT}_frozen BEFORE UPDATE ON {AUDIT} "
            f"BEGIN SELECT RAISE(ABORT, '{AUDIT} rows are frozen'); END"
        )
        for table in KEPT:
            schema_editor.execute(
                f"CREATE TRIGGER {table}_kept BEFORE DELETE ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} rows are kept'); END"
            )
        return
    schema_editor.execute(
        f"CREATE TRIGGER {AUDIT}_frozen BEFORE UPDATE ON {AUDIT} "
        "FOR EACH ROW EXECUTE FUNCTION deployments_refuse_update()"
    )
    schema_editor.execute(
        f"CREATE FUNCTION {REFUSAL}() RETURNS trigger AS $$ "
        "BEGIN RAISE EXCEPTION '% rows are kept', TG_TABLE_NAME "
        "USING ERRCODE = 'integrity_constraint_violation'; END $$ LANGUAGE plpgsql",
        params=None,
    )
    for table in KEPT:
        schema_editor.execute(
            f"CREATE TRIGGER {table}_kept BEFORE DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {REFUSAL}()"
        )
        schema_editor.execute(
            f"CREATE TRIGGER {table}_whole BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {REFUSAL}()"
        )


def release(_apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the triggers away again."""
    postgres = schema_editor.connection.vendor == "postgresql"
    names = ("kept", "whole") if postgres else ("kept",)
    triggers = [(AUDIT, "frozen"), *((table, name) for table in KEPT for name in names)]
    for table, name in triggers:
        suffix = f" ON {table}" if postgres else ""
        schema_editor.execute(f"DROP TRIGGER {table}_{name}{suffix}")
    if postgres:
        schema_editor.execute(f"DROP FUNCTION {REFUSAL}()")


class Migration(migrations.Migration):
    """Triggers, since no constraint can forbid a statement."""

    dependencies = [("deployments", "0021_audit")]

    operations = [migrations.RunPython(keep, release)]
