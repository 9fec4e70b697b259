"""How the panel reaches hosts of other machines, for tests."""
# mypy: allow-untyped-calls

from django.utils import timezone
from factory.declarations import LazyFunction, Sequence, SubFactory
from factory.django import DjangoModelFactory

from deployments.models import ModelDirectory, ModelListing
from deployments.models.fleet import HostAccess
from tests.factories import HostFactory


class HostAccessFactory(DjangoModelFactory[HostAccess]):
    """A host whose way nobody has tested yet."""

    class Meta:
        model = HostAccess

    host = SubFactory(HostFactory)


class ModelListingFactory(DjangoModelFactory[ModelListing]):
    """A host whose model directories nobody has looked at yet."""

    class Meta:
        model = ModelListing

    host = SubFactory(HostFactory)


class ModelDirectoryFactory(DjangoModelFactory[ModelDirectory]):
    """A complete model on a host, of which nothing but its place is known."""

    class Meta:
        model = ModelDirectory

    host = SubFactory(HostFactory)
    path = Sequence(lambda n: f"/data/models/model-{n}")
    state = "complete"
    digest = "sha256:" + "0" * 64
    since = LazyFunction(timezone.now)
    seen_at = LazyFunction(timezone.now)
