"""When an approved plan may start, and whether it does so by itself."""

from django.db import migrations, models
from django.db.models import F, Q

import deployments.models.sentences


class Migration(migrations.Migration):
    """Requests from before may start at any time, by an operator."""

    dependencies = [("deployments", "0025_preflight")]

    operations = [
        migrations.AddField(
            model_name="approvalrequest",
            name="wait_minutes",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="approvalrequest",
            name="starts_itself",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="approvalrequest",
            name="start_from",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="approvalrequest",
            name="start_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="approvalrequest",
            name="start_zone",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.AddField(
            model_name="approvalrequest",
            name="start_problem",
            field=deployments.models.sentences.SentenceField(blank=True, default=""),
        ),
        migrations.AddConstraint(
            model_name="approvalrequest",
            constraint=models.CheckConstraint(
                name="request_start_has_both_ends",
                condition=Q(start_from__isnull=True, start_until__isnull=True)
                | Q(start_until__gt=F("start_from")),
            ),
        ),
    ]
