"""What a plan takes from the rows of a host."""

import pytest
from pytest_django import DjangoAssertNumQueries

from deployments.models import Host, HostProbe
from deployments.selectors.planning_inputs import host_snapshots
from tests.factories import HostFactory

pytestmark = pytest.mark.django_db


def test_the_driver_is_what_a_probe_read_and_unknown_without_one(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    probed, unread, never = (HostFactory.create(name=name) for name in ("a", "b", "c"))
    HostProbe.objects.create(host=probed, driver_version="25.5.1", compatible=True)
    HostProbe.objects.create(host=unread)
    with django_assert_num_queries(4):
        found = host_snapshots([probed, unread, never])
    assert [(one.driver_version, one.driver_compatible) for one in found] == [
        ("25.5.1", True),
        (None, None),
        (None, None),
    ]
    rows = list(Host.objects.select_related("probe").order_by("name"))
    with django_assert_num_queries(3):
        assert host_snapshots(rows, just_read=True) == found
