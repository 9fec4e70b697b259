"""Who is asked behind a router, and what would measure two ways of drafting at once."""

from dataclasses import replace

import pytest

from deployments.models import Release
from deployments.planning.plan import Role
from deployments.services.bench.measured import measured_of
from deployments.services.errors import ConflictError
from tests.factories import HostFactory, ReleaseFactory, ReplicaFactory
from tests.plan_rows import stored
from tests.plan_values import plan_value, planned_replica

pytestmark = pytest.mark.django_db


def released(*, canary: bool) -> Release:
    """Prefill and a decode on one host, another decode on a second, the router beside the first."""
    replicas = [
        planned_replica(role=Role.PREFILL, port=8100),
        planned_replica(role=Role.DECODE, port=8200),
        planned_replica(role=Role.DECODE, rank=1, host="gpu-2", port=8200),
        planned_replica(role=Role.ROUTER, port=8001, devices=(), method=None),
    ]
    replicas[2] = replace(replicas[2], canary=canary)
    router = replicas[3].container
    replicas[3] = replace(
        replicas[3], container=replace(router, command=("vllm-router",))
    )
    release = ReleaseFactory.create()
    plan = stored(release.deployment, plan_value(replicas=tuple(replicas), number=9))
    Release.objects.filter(pk=release.pk).update(plan=plan)
    hosts = {
        name: HostFactory.create(cluster=release.deployment.cluster, name=name)
        for name in ("gpu-1", "gpu-2")
    }
    for one in replicas:
        ReplicaFactory.create(
            release=release, role=one.role, rank=one.rank, host=hosts[one.host]
        )
    release.refresh_from_db()
    return release


def test_the_router_is_asked_by_an_engine_image_of_its_own_host() -> None:
    measured = measured_of(released(canary=False))
    assert (measured.replica.role, measured.engine.role) == ("router", "prefill")
    assert measured.engine.host == measured.replica.host
    assert measured.served.base_url == "http://127.0.0.1:8000"


def test_behind_a_router_a_canary_is_not_measured_with_the_others() -> None:
    with pytest.raises(ConflictError, match="promote it or roll it back first"):
        measured_of(released(canary=True))
