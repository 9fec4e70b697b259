"""Acts and kinds of objects in the order of the audit: its filters read no more than they show."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Indexes alone."""

    dependencies = [("deployments", "0043_token_scopes")]

    operations = [
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["action", "at"], name="audit_by_action"),
        ),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["object_kind", "at"], name="audit_by_kind"),
        ),
    ]
