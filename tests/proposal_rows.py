"""Leaves to propose by itself, for tests."""
# mypy: allow-untyped-calls

from factory.declarations import SubFactory
from factory.django import DjangoModelFactory

from deployments import models
from tests.factories import DeploymentFactory, UserFactory


class ProposalScheduleFactory(DjangoModelFactory[models.ProposalSchedule]):
    """A deployment for which the panel looks once a week."""

    class Meta:
        model = models.ProposalSchedule

    deployment = SubFactory(DeploymentFactory)
    every_days = 7
    allowed_by = SubFactory(UserFactory)
