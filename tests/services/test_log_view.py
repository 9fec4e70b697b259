"""Asking for a tail: who may, for how long, how many, and who is woken."""

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone
from kombu.transport.memory import Channel
from pytest_django.fixtures import DjangoCaptureOnCommitCallbacks

from deployments.models import LogRequest, LogRun, Replica, ReplicaState
from deployments.services.log_view import MOST_REPLICAS, WANTED_S, ask_for_tails
from tests.factories import ReleaseFactory, ReplicaFactory, member
from tests.services.conftest import Team1


@pytest.fixture
def replica(team1: Team1) -> Replica:
    """A running replica of the team."""
    deployment = team1.plan("chat", 1).revision.deployment
    row: Replica = ReplicaFactory.create(
        release=ReleaseFactory.create(deployment=deployment), host=team1.host
    )
    return row


def woken() -> list[Any]:
    """The messages that wait in the memory broker."""
    return list(Channel.queues["default"].queue) if Channel.queues else []


def test_a_member_without_roles_asks_and_a_worker_is_woken_once(
    team1: Team1,
    replica: Replica,
    memory_broker: str,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    viewer = member(team1.team, "viewer")
    with django_capture_on_commit_callbacks(execute=True):
        ask_for_tails(viewer, [replica.pk], LogRun.CURRENT)
    request = LogRequest.objects.get()
    assert request.replica == replica
    left = request.wanted_until - timezone.now()
    assert timedelta(0) < left <= timedelta(seconds=WANTED_S)
    assert len(woken()) == 1

    with django_capture_on_commit_callbacks(execute=True):
        ask_for_tails(viewer, [replica.pk], LogRun.CURRENT)
    assert LogRequest.objects.get().wanted_until > request.wanted_until
    assert len(woken()) == 1


def test_a_log_that_was_left_alone_is_read_at_once_again(
    team1: Team1,
    replica: Replica,
    memory_broker: str,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    old = timezone.now() - timedelta(seconds=5)
    LogRequest.objects.create(replica=replica, wanted_until=old)
    with django_capture_on_commit_callbacks(execute=True):
        ask_for_tails(team1.alice, [replica.pk], LogRun.CURRENT)
    assert len(woken()) == 1
    assert LogRequest.objects.count() == 1


def test_runs_are_asked_for_apart(team1: Team1, replica: Replica) -> None:
    for run in LogRun:
        ask_for_tails(team1.alice, [replica.pk], run)
    assert set(LogRequest.objects.values_list("run", flat=True)) == set(LogRun)


def test_strangers_and_replicas_without_container_ask_for_nothing(
    team1: Team1, replica: Replica
) -> None:
    ask_for_tails(team1.charlie, [replica.pk], LogRun.CURRENT)
    planned = ReplicaFactory.create(
        release=replica.release,
        host=replica.host,
        container_id="",
        state=ReplicaState.PLANNED,
    )
    ask_for_tails(team1.alice, [planned.pk], LogRun.CURRENT)
    assert not LogRequest.objects.exists()


def test_nobody_asks_for_more_than_a_screen_holds(
    team1: Team1, replica: Replica
) -> None:
    more = [
        ReplicaFactory.create(release=replica.release, host=replica.host)
        for _ in range(MOST_REPLICAS + 2)
    ]
    ask_for_tails(team1.alice, [one.pk for one in more], LogRun.CURRENT)
    assert LogRequest.objects.count() == MOST_REPLICAS


def test_a_broker_that_is_down_costs_nothing(
    team1: Team1,
    replica: Replica,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    monkeypatch.setattr(current_app.conf, "broker_write_url", "redis://127.0.0.1:1/0")
    with django_capture_on_commit_callbacks(execute=True):
        ask_for_tails(team1.alice, [replica.pk], LogRun.CURRENT)
    assert LogRequest.objects.exists()
