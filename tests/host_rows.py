"""How the panel reaches hosts of other machines, for tests."""
# mypy: allow-untyped-calls

from factory.declarations import SubFactory
from factory.django import DjangoModelFactory

from deployments import models
from tests.factories import HostFactory


class HostAccessFactory(DjangoModelFactory[models.HostAccess]):
    """A host whose way nobody has tested yet."""

    class Meta:
        model = models.HostAccess

    host = SubFactory(HostFactory)
