"""Indexes by which the overview finds the newest changes without reading all of them."""

from django.db import migrations, models
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    """In the order of requests decided or made, and of releases that changed."""

    dependencies = [("deployments", "0044_audit_filters")]

    operations = [
        migrations.AddIndex(
            model_name="approvalrequest",
            index=models.Index(
                Coalesce("decided_at", "created_at"), name="request_by_change"
            ),
        ),
        migrations.AddIndex(
            model_name="release",
            index=models.Index(fields=["state_since"], name="release_by_change"),
        ),
    ]
