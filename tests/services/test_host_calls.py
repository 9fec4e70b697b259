"""A host that fails or is slow costs little: calls rest, tasks have two places, and its state says so."""

import time
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from deployments.docker_api.engine import EngineFacts
from deployments.docker_api.errors import (
    EngineFaultError,
    EngineUnreachableError,
    NotTriedError,
)
from deployments.models import Host, HostSlot, Reachability
from deployments.services import host_calls, replica_observation
from deployments.services.host_access import open_host
from deployments.services.host_calls import FAILURES, REST, bounded_calls
from deployments.services.observation import (
    Observation,
    store_observation,
    store_unreachable,
)
from deployments.services.replica_observation import hosts_to_observe, observe_host
from tests.factories import DeviceFactory, HostFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def host() -> Host:
    """A host whose engine nobody reaches."""
    made: Host = HostFactory.create(
        name="gpu-01", docker_address="unix:///nowhere/docker.sock"
    )
    return made


def call(host: Host, *, insists: bool = False) -> None:
    host.refresh_from_db()
    with open_host(host, insists=insists):
        raise AssertionError("nobody listens there")


def seen(**changes: object) -> Observation:
    """What a healthy engine says."""
    facts = EngineFacts(
        engine_id="ONE",
        version="28.1",
        architecture="x86_64",
        system_time=datetime(2026, 1, 1, tzinfo=UTC),
        runtimes=(),
        cgroup_version="2",
        security_options=(),
    )
    healthy = Observation(
        engine=facts, images=(), containers=(), clock_offset_ms=3, answer_ms=12
    )
    return replace(healthy, **changes)  # type: ignore[arg-type]


def test_after_failures_in_a_row_calls_rest_and_then_one_is_tried(host: Host) -> None:
    for _ in range(FAILURES):
        with pytest.raises(EngineUnreachableError):
            call(host)
    assert hosts_to_observe() == []
    with pytest.raises(NotTriedError, match=r"^3 calls to gpu-01 failed in a row"):
        call(host)
    with pytest.raises(EngineUnreachableError):
        call(host, insists=True)
    host.refresh_from_db()
    assert host.next_try_at is not None
    assert host.next_try_at - timezone.now() <= REST
    Host.objects.update(next_try_at=timezone.now() - timedelta(seconds=1))
    assert hosts_to_observe() == [host.pk]
    with pytest.raises(EngineUnreachableError):
        call(host)
    assert hosts_to_observe() == []


def test_an_answer_ends_the_rest(host: Host) -> None:
    Host.objects.update(failed_calls=FAILURES, next_try_at=timezone.now() + REST)
    host.refresh_from_db()
    with bounded_calls(host, insists=True):
        pass
    host.refresh_from_db()
    assert (host.failed_calls, host.next_try_at) == (0, None)


def test_a_rest_leaves_what_was_seen_and_why(host: Host) -> None:
    store_unreachable(host, EngineUnreachableError("Nobody answers."))
    Host.objects.update(failed_calls=FAILURES, next_try_at=timezone.now() + REST)
    observe_host(host.pk)
    host.refresh_from_db()
    assert host.reason == "Nobody answers."


def test_two_tasks_wait_for_a_slow_host_and_a_third_does_not_begin(
    host: Host,
) -> None:
    host.reachability = Reachability.DEGRADED
    with bounded_calls(host, insists=False), bounded_calls(host, insists=False):
        with (
            pytest.raises(NotTriedError, match="2 tasks already wait for gpu-01"),
            bounded_calls(host, insists=False),
        ):
            pass
        with bounded_calls(host, insists=True):
            pass
    assert not HostSlot.objects.exclude(taken_until=None).exists()
    HostSlot.objects.update(taken_until=timezone.now() - timedelta(seconds=1))
    with bounded_calls(host, insists=False):
        assert HostSlot.objects.filter(taken_until__gt=timezone.now()).count() == 1


def test_releases_take_turns_at_a_host_that_fails_and_stopping_never_waits(
    host: Host,
) -> None:
    def turn() -> AbstractContextManager[None]:
        return bounded_calls(host, insists=True, in_turn=True)

    with turn(), turn(), turn():
        assert not HostSlot.objects.exists()
    host.failed_calls = 1
    with turn(), turn():
        with pytest.raises(NotTriedError, match="2 tasks already wait"), turn():
            pass
        with bounded_calls(host, insists=True):
            pass


def test_a_quick_host_needs_no_place(host: Host) -> None:
    host.reachability = Reachability.REACHABLE
    with bounded_calls(host, insists=False):
        assert not HostSlot.objects.exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"answer_ms": 2500}, "It took 2500 ms to answer"),
        ({"clock_offset_ms": -90_000}, "Its clock differs by -90000 ms"),
    ],
)
def test_a_host_that_answers_badly_is_degraded_until_it_is_well(
    host: Host, changes: dict[str, object], why: str
) -> None:
    assert store_observation(host, seen(**changes))
    assert (host.reachability, host.unreachable_since) == (Reachability.DEGRADED, None)
    assert host.reason.startswith(why)
    assert store_observation(host, seen())
    assert (host.reachability, host.reason) == (Reachability.REACHABLE, "")


def test_slowness_ends_well_below_where_it_began(host: Host) -> None:
    store_observation(host, seen(answer_ms=1500))
    assert host.reachability == Reachability.REACHABLE
    store_observation(host, seen(answer_ms=2100))
    store_observation(host, seen(answer_ms=1500))
    assert host.reachability == Reachability.DEGRADED


def test_failing_devices_degrade_a_host(host: Host) -> None:
    DeviceFactory.create(host=host, number=3, healthy=False)
    store_observation(host, seen())
    assert host.reason.startswith("Devices 3 are not healthy")


def test_an_engine_that_answers_errors_is_degraded_and_not_unreachable(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_any: object, **_named: object) -> None:
        raise EngineFaultError("The Docker Engine of gpu-01 could not list: broken.")

    monkeypatch.setattr(replica_observation, "open_host", fault)
    observe_host(host.pk)
    host.refresh_from_db()
    assert host.reachability == Reachability.DEGRADED
    assert host.reason.endswith("broken.")


@pytest.mark.django_db(transaction=True)
def test_a_place_is_kept_as_long_as_its_task_lasts(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_calls, "SLOT_BEAT_S", 0.01)
    host.reachability = Reachability.DEGRADED
    kept = HostSlot.objects.filter(taken_until__gt=timezone.now())
    with bounded_calls(host, insists=False):
        HostSlot.objects.update(taken_until=timezone.now() - timedelta(seconds=1))
        until = time.monotonic() + 10
        while not kept.exists():
            assert time.monotonic() < until
            time.sleep(0.01)
    assert not HostSlot.objects.exclude(taken_until=None).exists()
