"""What a plan takes from the rows of a host."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from deployments.models import Host, HostProbe, ModelListing
from deployments.selectors.planning_inputs import host_snapshots
from tests.factories import HostFactory
from tests.host_rows import ModelDirectoryFactory

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
    rows = list(Host.objects.select_related("probe", "model_listing").order_by("name"))
    with django_assert_num_queries(3):
        assert host_snapshots(rows, just_read=True) == found


def test_what_a_look_saw_is_known_only_after_a_whole_one_that_no_other_follows() -> (
    None
):
    now, before = timezone.now(), timezone.now() - timedelta(hours=1)
    looks: dict[str, dict[str, Any]] = {
        "a": {"read_at": now, "asked_at": before},
        "b": {"read_at": before, "asked_at": now},
        "c": {"read_at": now, "cut": "time"},
        "d": {"read_at": now, "problem": "It has no such directory."},
        "e": {"asked_at": now},
    }
    for name, look in looks.items():
        host = HostFactory.create(name=name)
        ModelListing.objects.create(host=host, **look)
        ModelDirectoryFactory.create(host=host, path="/data/models/odd one", odd=True)
    HostFactory.create(name="f")
    found = host_snapshots(Host.objects.all())
    assert [one.listed for one in found] == [("/data/models/odd one",), *[None] * 5]
    assert not any(one.models for one in found)
