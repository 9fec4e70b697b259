"""What probes of hosts found, for tests."""
# mypy: allow-untyped-calls

from factory.declarations import SubFactory
from factory.django import DjangoModelFactory

from deployments.models import HostProbe, ProbeSettings
from tests.factories import ClusterFactory, HostFactory


class ProbeSettingsFactory(DjangoModelFactory[ProbeSettings]):
    """A cluster whose hosts are probed when somebody asks."""

    class Meta:
        model = ProbeSettings

    cluster = SubFactory(ClusterFactory)


class HostProbeFactory(DjangoModelFactory[HostProbe]):
    """A host that nobody has probed yet."""

    class Meta:
        model = HostProbe

    host = SubFactory(HostFactory)
