"""Tokens that only ask for plans, or only deploy what people approved."""

from django.db import migrations, models

SCOPES = [
    ("read", "Read"),
    ("request", "Read, and ask for plans"),
    ("deploy", "Read, and deploy what is approved"),
    ("operate", "Read, ask for plans and deploy"),
]


class Migration(migrations.Migration):
    """What was made keeps its scope."""

    dependencies = [("deployments", "0042_request_comments")]

    operations = [
        migrations.RemoveConstraint(model_name="apitoken", name="token_scope_known"),
        migrations.AlterField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(choices=SCOPES, max_length=8),
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.CheckConstraint(
                condition=models.Q(("scope__in", [scope for scope, _label in SCOPES])),
                name="token_scope_known",
            ),
        ),
    ]
