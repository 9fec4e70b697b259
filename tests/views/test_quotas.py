"""The device quota on its page: numbers for members, a form for admins."""

import pytest

from deployments.models import DeviceQuota, TeamRole
from tests.factories import BookingFactory, ClusterFactory, ReplicaFactory, member
from tests.team_rows import DeviceQuotaFactory
from tests.views.pages import parsed, queries_for, text_of
from tests.world import browser

pytestmark = pytest.mark.django_db


def test_an_admin_sets_the_quota_and_everybody_sees_what_is_left() -> None:
    cluster = ClusterFactory.create()
    replica = ReplicaFactory.create(release__deployment__cluster=cluster)
    BookingFactory.create(replica=replica, device=3)
    admin = browser(member(cluster.team, "ada", TeamRole.ADMIN))
    page = f"/fleet/clusters/{cluster.pk}/quota/"
    assert "no limit" in text_of(admin.get(page))
    assert admin.post(page, {"devices": "-1"}).status_code == 422
    assert admin.post(page, {"devices": "4"}).status_code == 302
    assert DeviceQuota.objects.get().devices == 4
    seen = browser(member(cluster.team, "vera")).get(page)
    assert parsed(seen).select("main form") == []
    assert "Held by releases 1 Asked for by requests 0 Left 3" in text_of(seen)
    assert admin.post(page, {"devices": ""}).status_code == 302
    assert not DeviceQuota.objects.exists()


def test_the_page_takes_few_queries() -> None:
    quota = DeviceQuotaFactory.create()
    admin = browser(member(quota.team, "ada", TeamRole.ADMIN))
    assert queries_for(admin, f"/fleet/clusters/{quota.cluster.pk}/quota/") <= 12
