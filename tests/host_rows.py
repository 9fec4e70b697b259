"""How the panel reaches hosts of other machines, for tests."""
# mypy: allow-untyped-calls

from factory.declarations import SubFactory
from factory.django import DjangoModelFactory

from deployments.models.fleet import HostAccess
from tests.factories import HostFactory


class HostAccessFactory(DjangoModelFactory[HostAccess]):
    """A host whose way nobody has tested yet."""

    class Meta:
        model = HostAccess

    host = SubFactory(HostFactory)
