"""Command rows and the messages that wake a worker."""

import logging
import time
from pathlib import Path

import pytest
from celery import current_app
from pytest_django.fixtures import DjangoCaptureOnCommitCallbacks

from deployments.models import Command, CommandKind, CommandState
from deployments.services.errors import ConflictError
from deployments.services.outbox import add_command, wake_command
from tests.factories import ReleaseFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_command_is_written_ready(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    release, user = ReleaseFactory.create(), UserFactory.create()
    with django_capture_on_commit_callbacks() as callbacks:
        command = add_command(release, CommandKind.STOP, user, "key-1")
    assert command.state == CommandState.READY
    assert (command.fence, command.owner, command.lease_until) == (0, "", None)
    assert len(callbacks) == 1


def test_same_key_wakes_nobody_again(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    release, user = ReleaseFactory.create(), UserFactory.create()
    first = add_command(release, CommandKind.STOP, user, "key-1")
    with django_capture_on_commit_callbacks() as callbacks:
        assert add_command(release, CommandKind.STOP, user, "key-1") == first
    assert callbacks == []


def test_same_key_finds_a_command_that_is_done() -> None:
    release, user = ReleaseFactory.create(), UserFactory.create()
    first = add_command(release, CommandKind.STOP, user, "key-1")
    Command.objects.update(state=CommandState.DONE)
    assert add_command(release, CommandKind.STOP, user, "key-1") == first


def test_second_command_waits_for_the_first() -> None:
    release, user = ReleaseFactory.create(), UserFactory.create()
    add_command(release, CommandKind.DEPLOY, user, "key-1")
    with pytest.raises(ConflictError, match="already being changed"):
        add_command(release, CommandKind.STOP, user, "key-2")
    Command.objects.update(state=CommandState.FAILED)
    assert add_command(release, CommandKind.STOP, user, "key-2").kind == "stop"


def test_key_of_another_release_is_refused() -> None:
    user = UserFactory.create()
    add_command(ReleaseFactory.create(), CommandKind.STOP, user, "key-1")
    with pytest.raises(ConflictError, match="out of date"):
        add_command(ReleaseFactory.create(), CommandKind.STOP, user, "key-1")


def test_message_carries_the_id_and_nothing_else(memory_broker: str) -> None:
    release, user = ReleaseFactory.create(), UserFactory.create()
    command = add_command(release, CommandKind.STOP, user, "key-1")
    wake_command(command.pk)
    with (
        current_app.connection_for_read(memory_broker) as connection,
        connection.SimpleQueue("rollout") as queue,
    ):
        message = queue.get(timeout=5)
        message.ack()
    assert message.headers["task"] == "deployments.run_command"
    arguments, named, _callbacks = message.payload
    assert (arguments, named) == ([str(command.pk)], {})
    command.refresh_from_db()
    assert command.sent_at is not None
    assert command.state == CommandState.READY


def test_broker_that_is_down_costs_neither_time_nor_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    release, user = ReleaseFactory.create(), UserFactory.create()
    command = add_command(release, CommandKind.STOP, user, "key-1")
    nobody = f"redis+socket://{tmp_path}/nobody.sock"
    monkeypatch.setattr(current_app.conf, "broker_url", nobody)
    monkeypatch.setattr(current_app.conf, "broker_write_url", nobody)
    began = time.monotonic()
    with caplog.at_level(logging.WARNING, "deployments.services.waking"):
        wake_command(command.pk)
    assert time.monotonic() - began < 2
    assert [record.message for record in caplog.records] == ["queue unreachable"]
    command.refresh_from_db()
    assert (command.state, command.sent_at) == (CommandState.READY, None)


def test_worker_that_was_faster_than_the_note_keeps_its_claim(
    memory_broker: str,
) -> None:
    release, user = ReleaseFactory.create(), UserFactory.create()
    command = add_command(release, CommandKind.STOP, user, "key-1")
    Command.objects.update(state=CommandState.DONE)
    wake_command(command.pk)
    command.refresh_from_db()
    assert (command.state, command.sent_at) == (CommandState.DONE, None)
