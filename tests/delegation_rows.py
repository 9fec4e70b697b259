"""Absences, and votes that were given for somebody absent, for tests."""
# mypy: allow-untyped-calls

from datetime import timedelta

from django.utils import timezone
from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute, SubFactory
from factory.django import DjangoModelFactory

from deployments import models
from tests.factories import ApprovalFactory, TeamFactory, UserFactory


class DelegationFactory(DjangoModelFactory[models.Delegation]):
    """An absence of a week."""

    class Meta:
        model = models.Delegation

    team = SubFactory(TeamFactory)
    approver = SubFactory(UserFactory)
    delegate = SubFactory(UserFactory)
    ends_at = LazyFunction(lambda: timezone.now() + timedelta(days=7))


class DelegatedVoteFactory(DjangoModelFactory[models.DelegatedVote]):
    """An approving vote for somebody else."""

    class Meta:
        model = models.DelegatedVote

    vote = SubFactory(ApprovalFactory)
    request = SelfAttribute("vote.request")
    approver = SubFactory(UserFactory)
    approver_name = LazyAttribute(lambda row: str(row.approver))
