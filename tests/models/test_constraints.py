"""Wrong states are refused by the database itself, whoever writes."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import Error, transaction
from django.db.models import Model
from django.utils import timezone

from deployments import models as m
from tests import factories as f

pytestmark = pytest.mark.django_db


def refused(make: Callable[[], object]) -> None:
    """Assert that the database refuses the write."""
    with pytest.raises(Error), transaction.atomic():
        make()


@pytest.mark.parametrize(
    ("factory", "wrong"),
    [
        (f.HostFactory, {"platform": "abacus"}),
        (f.HostFactory, {"reachability": "maybe"}),
        (f.HostFactory, {"reachability": "unreachable", "unreachable_since": None}),
        (f.RoleGrantFactory, {"role": "owner"}),
        (f.RevisionFactory, {"number": 0}),
        (f.PlanFactory, {"digest": "md5:0"}),
        (f.ApprovalRequestFactory, {"state": "approved", "decided_at": None}),
        (f.ApprovalRequestFactory, {"state": "waved through"}),
        (f.ApprovalFactory, {"decision": "abstain"}),
        (f.ReleaseFactory, {"state": "almost"}),
        (f.ReleaseFactory, {"state": "failed", "cause": ""}),
        (f.ReleaseFactory, {"state": "blocked", "cause": ""}),
        (f.ReleaseFactory, {"state": "live", "live_at": None}),
        (f.ReplicaFactory, {"state": "lost"}),
        (f.BookingFactory, {"device": None, "port": None}),
        (f.BookingFactory, {"device": 1, "port": 8000}),
        (f.ReleaseEventFactory, {"kind": "thought"}),
        (f.CommandFactory, {"state": "maybe"}),
        (f.CommandFactory, {"kind": "explode"}),
        (f.CommandFactory, {"state": "running", "lease_until": None}),
        (f.LogCursorFactory, {"stream": "stdmix"}),
        (f.LogRequestFactory, {"run": "next"}),
        (f.LogTailFactory, {"line_count": 1001}),
        (f.AcceptanceSampleFactory, {"accepted": 11, "drafted": 10}),
        (f.AcceptanceSampleFactory, {"accepted": -1}),
    ],
)
def test_a_row_in_a_wrong_state_is_refused(factory: Any, wrong: dict[str, Any]) -> None:
    refused(lambda: factory.create(**wrong))


def test_a_running_command_has_a_fence() -> None:
    refused(
        lambda: f.CommandFactory.create(
            state="running", lease_until=timezone.now(), fence=0
        )
    )


def test_a_device_is_booked_once_until_it_is_released() -> None:
    first = f.BookingFactory.create(device=3)
    second = f.ReplicaFactory.create(host=first.host)
    refused(lambda: f.BookingFactory.create(replica=second, device=3))
    first.released_at = timezone.now()
    first.save()
    f.BookingFactory.create(replica=second, device=3)


def test_a_port_is_booked_once_until_it_is_released() -> None:
    first = f.BookingFactory.create(device=None, port=8000)
    second = f.ReplicaFactory.create(host=first.host)
    refused(lambda: f.BookingFactory.create(replica=second, device=None, port=8000))
    f.BookingFactory.create(replica=second, device=None, port=8001)


def test_a_deployment_has_one_changing_and_one_live_release() -> None:
    live = f.ReleaseFactory.create(state="live")
    refused(lambda: f.ReleaseFactory.create(deployment=live.deployment, state="live"))
    f.ReleaseFactory.create(deployment=live.deployment, state="queued")
    refused(
        lambda: f.ReleaseFactory.create(deployment=live.deployment, state="starting")
    )
    f.ReleaseFactory.create(deployment=live.deployment, state="failed")


def test_a_plan_has_one_live_request() -> None:
    request = f.ApprovalRequestFactory.create(state="approved")
    refused(lambda: f.ApprovalRequestFactory.create(plan=request.plan, state="open"))
    f.ApprovalRequestFactory.create(plan=request.plan, state="withdrawn")


def test_a_person_votes_once_on_a_request() -> None:
    vote = f.ApprovalFactory.create()
    refused(lambda: f.ApprovalFactory.create(request=vote.request, user=vote.user))


def test_a_release_has_one_open_command() -> None:
    command = f.CommandFactory.create()
    refused(lambda: f.CommandFactory.create(release=command.release))
    m.Command.objects.filter(pk=command.pk).update(state="done")
    f.CommandFactory.create(release=command.release)


def test_a_key_is_one_command() -> None:
    command = f.CommandFactory.create(state="done")
    refused(lambda: f.CommandFactory.create(idempotency_key=command.idempotency_key))


def test_a_sample_is_stored_once() -> None:
    sample = f.AcceptanceSampleFactory.create()
    same = {
        name: getattr(sample, name)
        for name in (
            "replica",
            "deployment",
            "container_id",
            "run_started_at",
            "stream",
            "timestamp_ns",
            "sequence",
        )
    }
    refused(lambda: f.AcceptanceSampleFactory.create(**same))


def test_a_run_of_a_log_is_asked_for_in_one_row_with_one_tail() -> None:
    tail = f.LogTailFactory.create()
    request = tail.request
    refused(lambda: f.LogRequestFactory.create(replica=request.replica))
    refused(lambda: f.LogTailFactory.create(request=request))
    f.LogRequestFactory.create(replica=request.replica, run="previous")


@pytest.mark.parametrize(
    ("factory", "change"),
    [
        (f.RevisionFactory, {"document": {"name": "other"}}),
        (f.PlanFactory, {"document": "{}"}),
        (f.PlanFactory, {"digest": "sha256:" + "0" * 64}),
        (f.ApprovalFactory, {"decision": "reject"}),
    ],
)
def test_what_people_decided_on_is_frozen(factory: Any, change: dict[str, Any]) -> None:
    row: Model = factory.create()
    refused(lambda: type(row)._default_manager.filter(pk=row.pk).update(**change))


def test_shipped_models_are_unique_without_a_team() -> None:
    f.TargetModelFactory.create(key="a/b")
    refused(lambda: f.TargetModelFactory.create(key="a/b"))
    f.TargetModelFactory.create(key="a/b", team=f.TeamFactory.create())
