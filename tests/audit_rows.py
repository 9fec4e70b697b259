"""Audit entries for tests, chained as the panel writes them."""
# mypy: allow-untyped-calls

from typing import Any

from factory.declarations import SubFactory
from factory.django import DjangoModelFactory

from deployments.models import AuditAction, AuditEntry, AuditHead
from deployments.services.audit import record
from tests.factories import DeploymentFactory, UserFactory


class AuditEntryFactory(DjangoModelFactory[AuditEntry]):
    """Somebody stopped a deployment in an emergency."""

    class Meta:
        model = AuditEntry

    action = AuditAction.EMERGENCY_STOP
    actor = SubFactory(UserFactory)
    on = SubFactory(DeploymentFactory)

    @classmethod
    def _create(
        cls, model_class: type[AuditEntry], *_args: Any, **told: Any
    ) -> AuditEntry:
        del model_class
        return record(told.pop("action"), told.pop("actor"), told.pop("on"), **told)


class AuditHeadFactory(DjangoModelFactory[AuditHead]):
    """The end of an empty chain."""

    class Meta:
        model = AuditHead

    pk = 1
