"""Claims: one owner at a time, by the database's clock, and a late owner is stopped."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from deployments.models import Command, CommandKind, CommandState
from deployments.services.rollout.claims import (
    Claim,
    LeaseLostError,
    claim,
    sweep_commands,
)
from tests.factories import ReleaseFactory, UserFactory

SECOND = timedelta(seconds=1)


@pytest.fixture
def command(db: None) -> Command:
    return make_command()


def make_command() -> Command:
    return Command.objects.create(
        release=ReleaseFactory.create(state="queued", live_at=None),
        kind=CommandKind.DEPLOY,
        requested_by=UserFactory.create(),
        idempotency_key="key",
    )


def change(command: Command, **values: object) -> None:
    Command.objects.filter(pk=command.pk).update(**values)


def claimed(command: Command) -> Claim:
    found = claim(command.pk)
    assert found is not None
    return found


def test_a_claimed_command_is_not_claimed_again(command: Command) -> None:
    first = claimed(command)
    assert claim(command.pk) is None
    command.refresh_from_db()
    assert (command.state, command.fence, first.fence) == (CommandState.RUNNING, 1, 1)
    assert not first.taken_over


def test_a_lease_that_ran_out_is_taken_over_and_the_first_owner_stopped(
    command: Command,
) -> None:
    first = claimed(command)
    change(command, lease_until=Now() - SECOND)
    second = claimed(command)
    assert (second.fence, second.taken_over) == (2, True)
    with pytest.raises(LeaseLostError):
        first.renew()
    with pytest.raises(LeaseLostError), first.fenced():
        change(command, error="written by a zombie")
    command.refresh_from_db()
    assert command.error == ""
    first.hand_back()
    first.finish(CommandState.FAILED)
    command.refresh_from_db()
    assert command.state == CommandState.RUNNING
    second.renew()


def test_what_is_written_before_the_lease_was_lost_is_rolled_back(
    command: Command,
) -> None:
    owner = claimed(command)

    def overtaken_in_the_middle() -> None:
        with owner.fenced():
            change(command, error="half")
            change(command, fence=9)
            owner.renew()

    with pytest.raises(LeaseLostError):
        overtaken_in_the_middle()
    command.refresh_from_db()
    assert (command.error, command.fence) == ("", 1)


def test_a_command_that_waits_is_not_claimed_before_its_time(command: Command) -> None:
    claimed(command).hand_back(delay_s=60)
    assert claim(command.pk) is None
    assert sweep_commands() == 0
    change(command, not_before=Now() - SECOND)
    assert claimed(command).fence == 2


def test_an_ended_command_is_not_claimed(command: Command) -> None:
    owner = claimed(command)
    with owner.fenced():
        owner.finish(CommandState.DONE)
    assert claim(command.pk) is None
    assert sweep_commands() == 0


def test_the_sweeper_sends_what_is_due_and_what_lost_its_owner(
    command: Command, sent: list[str]
) -> None:
    assert sweep_commands() == 1
    assert sweep_commands() == 0
    change(command, sent_at=Now() - 4 * SECOND)
    assert sweep_commands() == 1
    claimed(command)
    assert sweep_commands() == 0
    change(command, lease_until=Now() - SECOND)
    assert sweep_commands() == 1
    assert sent == [str(command.pk)] * 3


@pytest.mark.django_db(transaction=True)
def test_of_many_claims_at_once_one_wins() -> None:
    command = make_command()
    wins: list[Claim] = []
    gate = threading.Barrier(8)

    def attempt() -> None:
        gate.wait()
        found = claim(command.pk)
        if found is not None:
            wins.append(found)
        connection.close()

    threads = [threading.Thread(target=attempt) for _number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.fence for one in wins] == [1]
