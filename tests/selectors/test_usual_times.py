"""How long starts took before, on the same hosts, is read from the journal."""

from datetime import UTC, datetime, timedelta

import pytest

from deployments.models import (
    Deployment,
    EventKind,
    Host,
    Release,
    ReleaseEvent,
    ReleaseState,
)
from deployments.selectors.usual_times import usual_start
from tests.factories import (
    DeploymentFactory,
    HostFactory,
    ReleaseFactory,
    ReplicaFactory,
)

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


def started(deployment: Deployment, host: Host, seconds: float) -> None:
    """An earlier release whose one replica answered after so many seconds."""
    release = ReleaseFactory.create(deployment=deployment, state=ReleaseState.STOPPED)
    replica = ReplicaFactory.create(release=release, host=host)
    for number, (step, at) in enumerate((("START", 0.0), ("WAIT_READY", seconds)), 1):
        event = ReleaseEvent.objects.create(
            release=release,
            replica=replica,
            sequence=number,
            step=step,
            kind=EventKind.DONE,
            message="",
        )
        moment = NOW + timedelta(seconds=at)
        ReleaseEvent.objects.filter(pk=event.pk).update(created_at=moment)


def test_the_median_of_earlier_starts_on_the_same_hosts() -> None:
    host = HostFactory.create()
    deployment = DeploymentFactory.create(cluster=host.cluster)
    for seconds in (40.0, 60.0, 500.0):
        started(deployment, host, seconds)
    started(deployment, HostFactory.create(cluster=host.cluster), 7.0)
    started(DeploymentFactory.create(cluster=host.cluster), host, 8.0)
    release: Release = ReleaseFactory.create(
        deployment=deployment, state=ReleaseState.STARTING
    )
    assert usual_start(release, {host.pk}) == 60.0
    assert usual_start(release, {HostFactory.create().pk}) is None
    release.state = ReleaseState.VERIFYING
    assert usual_start(release, {host.pk}) is None
