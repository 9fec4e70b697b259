"""Tasks carry an id to one service; the names are those that beat and the outbox send."""

import uuid

import pytest
from celery import current_app

from deployments import tasks
from deployments.models import Command, Reachability, ReplicaState
from deployments.services.outbox import RUN_COMMAND
from panel.celery import app
from tests.factories import HostFactory, ReplicaFactory

pytestmark = pytest.mark.django_db

Sent = list[tuple[str, tuple[str, ...]]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Name and arguments of every message, instead of a broker."""
    messages: Sent = []
    for task in (tasks.read_host_logs, tasks.observe_host):

        def send(
            *, args: tuple[str, ...], expires: float, name: str = task.name
        ) -> None:
            assert expires > 0
            messages.append((name, args))

        monkeypatch.setattr(task, "apply_async", send)
    return messages


def test_everything_that_is_sent_by_name_is_a_task() -> None:
    names = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert names | {RUN_COMMAND} <= set(current_app.tasks)


def test_one_task_for_each_host_that_has_something_to_read(sent: Sent) -> None:
    idle = HostFactory.create()
    replica = ReplicaFactory.create(container_id="c1", state=ReplicaState.RUNNING)
    ReplicaFactory.create(
        host=replica.host, container_id="c2", state=ReplicaState.RUNNING
    )
    other = HostFactory.create(reachability=Reachability.DIFFERENT_ENGINE)
    ReplicaFactory.create(host=other, container_id="c3", state=ReplicaState.RUNNING)
    ReplicaFactory.create(host=idle, container_id="", state=ReplicaState.PLANNED)
    tasks.poll_logs()
    assert sent == [("deployments.read_host_logs", (str(replica.host_id),))]


def test_one_task_for_each_host_to_observe(sent: Sent) -> None:
    hosts = {str(HostFactory.create().pk) for _number in range(3)}
    tasks.observe_hosts()
    assert {args for _name, args in sent} == {(host,) for host in hosts}


def test_a_message_for_a_command_that_is_gone_or_ended_does_nothing() -> None:
    tasks.run_command(str(uuid.uuid4()))
    assert not Command.objects.exists()
