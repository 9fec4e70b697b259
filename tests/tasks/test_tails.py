"""The round that fills tails: a task for each host that somebody looks at, none else."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from deployments.models import LogRequest, LogTail, Reachability
from deployments.tasks import fill_host_tails, poll_log_tails
from panel.celery import app
from tests.factories import (
    HostFactory,
    LogRequestFactory,
    LogTailFactory,
    ReplicaFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The arguments of the tasks that a round sends."""
    found: list[tuple[str, ...]] = []

    def keep(*, args: tuple[str, ...], **_options: Any) -> None:
        found.append(args)

    monkeypatch.setattr(fill_host_tails, "apply_async", keep)
    return found


def test_nothing_is_sent_when_nobody_looks(sent: list[tuple[str, ...]]) -> None:
    LogRequestFactory.create(wanted_until=timezone.now() - timedelta(seconds=1))
    poll_log_tails()
    assert sent == []


def test_one_task_for_each_host_that_somebody_looks_at(
    sent: list[tuple[str, ...]],
) -> None:
    first, second = LogRequestFactory.create(), LogRequestFactory.create()
    host = first.replica.host
    LogRequestFactory.create(
        replica=ReplicaFactory.create(release=first.replica.release, host=host)
    )
    other = HostFactory.create(reachability=Reachability.DIFFERENT_ENGINE)
    LogRequestFactory.create(replica=ReplicaFactory.create(host=other))
    poll_log_tails()
    assert sorted(sent) == sorted([(str(host.pk),), (str(second.replica.host.pk),)])


def test_what_nobody_looks_at_is_forgotten_after_a_minute(
    sent: list[tuple[str, ...]],
) -> None:
    now = timezone.now()
    recent = LogTailFactory.create(request__wanted_until=now - timedelta(seconds=50))
    LogTailFactory.create(request__wanted_until=now - timedelta(seconds=70))
    poll_log_tails()
    assert list(LogTail.objects.all()) == [recent]
    assert LogRequest.objects.count() == 1


def test_a_host_without_readers_is_not_opened() -> None:
    host = HostFactory.create(docker_address="unix:///nowhere/docker.sock")
    fill_host_tails(str(host.pk))
    with pytest.raises(ValueError, match="badly formed"):
        fill_host_tails("no id")


def test_the_round_is_in_the_schedule() -> None:
    entry = app.conf.beat_schedule["poll_log_tails"]
    assert entry["task"] == "deployments.poll_log_tails"
    assert entry["schedule"] == entry["options"]["expires"] == 2.0
