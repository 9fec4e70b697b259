"""Whatever somebody changes leaves its entry, what is refused leaves none, secrets are in none."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from deployments.models import (
    AuditAction,
    AuditEntry,
    Decision,
    Density,
    Platform,
    Release,
    ReleaseState,
    TargetModel,
    Team,
    TeamRole,
    Theme,
    User,
)
from deployments.models.fleet import HostAccess
from deployments.planning.approval_rules import ApprovalRules
from deployments.planning.engine_address import read_address
from deployments.planning.freezing import Repeat, Window, WindowKind
from deployments.selectors.audit_chain import check_database, content_of
from deployments.selectors.planning_inputs import host_snapshots
from deployments.services.alarms import acknowledge_alarm
from deployments.services.approvals import decide, withdraw
from deployments.services.benchmarks import keep_result, remove_result
from deployments.services.bootstrap import (
    add_member,
    add_person,
    bootstrap,
    reset_password,
)
from deployments.services.catalog_entries import import_documents, remove_entry
from deployments.services.clusters import change_policy, policy_of
from deployments.services.emergency_stop import emergency_stop
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.freezes import add_window, end_window
from deployments.services.host_credentials import ssh_credentials
from deployments.services.host_devices import set_devices
from deployments.services.hosts import (
    HostFacts,
    NewHost,
    add_host,
    change_address,
    change_host_facts,
    confirm_engine,
    confirm_host_key,
    remove_host,
)
from deployments.services.plans import submit_plan
from deployments.services.policies import change_rules
from deployments.services.probe_settings import ProbeChoice, change_probe
from deployments.services.releases import (
    cancel_release,
    release_again,
    remove_release,
    start_release,
    stop_release,
)
from deployments.services.restart_notes import acknowledge_restarts, note_restart
from deployments.services.settings import change_settings
from deployments.services.team_secrets import remove_secret, store_secret
from deployments.tasks.approvals import follow_requests
from deployments.telemetry.accelerators import Accelerator
from tests.factories import AlarmFactory, DeploymentFactory, member, model_document
from tests.plan_rows import released, stored, vote
from tests.plan_values import plan_value
from tests.services.conftest import Team1
from tests.services.test_plans import make_wish
from tests.services.test_releases import in_state
from tests.telemetry.benchmarks.blocks import block, runs

A = AuditAction
PASSPHRASE = "correct horse battery"  # noqa: S105
Act = Callable[[Team1, User], object]


def told() -> list[AuditEntry]:
    """Every entry, the first first."""
    return list(AuditEntry.objects.order_by("sequence"))


def actions() -> list[str]:
    return [entry.action for entry in told()]


@pytest.fixture
def admin(team1: Team1) -> User:
    """An admin of the team."""
    return member(team1.team, "dora", TeamRole.ADMIN)


def submit(team1: Team1, _admin: User) -> None:
    wish = make_wish(team1)
    shown = wish.digest()
    for _click in range(2):
        submit_plan(team1.alice, wish.inputs, wish.spec, shown_digest=shown)


def approve(team1: Team1, _admin: User) -> None:
    request = team1.request()
    for _click in range(2):
        decide(team1.bob, request, Decision.APPROVE, shown_digest=request.digest)


def reject(team1: Team1, _admin: User) -> None:
    request = team1.request()
    decide(
        team1.bob, request, Decision.REJECT, shown_digest=request.digest, comment="no"
    )


def start(team1: Team1, _admin: User) -> Release:
    request = team1.approved()
    start_release(team1.alice, request, "key")
    return start_release(team1.alice, request, "key")


def know_of_a_restart(team1: Team1, admin: User) -> None:
    release = in_state(start(team1, admin), ReleaseState.LIVE)
    replica = release.replicas.get()
    note_restart(replica, "running")
    acknowledge_restarts(team1.alice, release)
    with pytest.raises(ConflictError):
        acknowledge_restarts(team1.alice, release)


def stop_and_remove(team1: Team1, admin: User) -> None:
    release = in_state(start(team1, admin), ReleaseState.LIVE)
    for _click in range(2):
        stop_release(team1.alice, release, "stop")
    remove_release(team1.alice, in_state(release, ReleaseState.STOPPED), "remove")


def restore(team1: Team1, _admin: User) -> None:
    snapshots = tuple((one.name, one.digest) for one in host_snapshots([team1.host]))
    value = replace(plan_value(), snapshot_digests=snapshots)
    deployment = DeploymentFactory.create(cluster=team1.cluster, name="chat")
    first = released(stored(deployment, value), value, ReleaseState.STOPPED)
    vote(first.request, team1.bob)
    for _click in range(2):
        release_again(team1.alice, first, "again")


def stop_at_once(team1: Team1, _admin: User) -> None:
    deployment = DeploymentFactory.create(cluster=team1.cluster, name="other")
    value = plan_value(name="other")
    released(stored(deployment, value), value, ReleaseState.LIVE)
    for _click in range(2):
        emergency_stop(team1.bob, deployment, " nonsense ", "key")


def change_cluster(team1: Team1, admin: User) -> None:
    policy = replace(policy_of(team1.cluster), model_roots=("/data",))
    for _click in range(2):
        change_policy(admin, team1.cluster, policy, shown_version=1)


def change_the_rules(team1: Team1, admin: User) -> None:
    rules = ApprovalRules(approvals_low=1, approvals_normal=2, approvals_high=2)
    change_rules(admin, team1.cluster, rules, shown_version=1)


def run_a_host(team1: Team1, admin: User) -> None:
    """Everything that happens to a host, with a key that nobody may read afterwards."""
    host = add_host(
        admin,
        team1.cluster,
        NewHost(
            name="gpu-2",
            platform=Platform.NVIDIA,
            address=read_address("ssh://root@gpu-2"),
            credentials=ssh_credentials(""),
        ),
    )
    facts = HostFacts(model_root="/m", address="10.0.0.2", interface="eth0")
    change_host_facts(admin, host, facts)
    set_devices(admin, host, [Accelerator(number=0, name="H100", memory_bytes=1)])
    change_address(admin, host, read_address("ssh://root@gpu-3"), ssh_credentials(""))
    rows = HostAccess.objects.filter(host=host)
    rows.update(offered_host_key="ssh-ed25519 AAAA", offered_engine_id="E2")
    confirm_host_key(admin, host, "ssh-ed25519 AAAA")
    confirm_engine(admin, host, "E2")
    remove_host(admin, host)


def keep_a_secret(team1: Team1, admin: User) -> None:
    store_secret(admin, team1.team, "hub", PASSPHRASE)
    store_secret(admin, team1.team, "hub", PASSPHRASE * 2)
    remove_secret(admin, team1.team, "hub")


def keep_a_model(team1: Team1, _admin: User) -> None:
    row = import_documents(team1.alice, team1.team, model_document("own/small"))[0]
    import_documents(
        team1.alice, team1.team, model_document("own/small", family="other")
    )
    remove_entry(team1.alice, TargetModel.objects.get(pk=row.pk))


def settle(team1: Team1, _admin: User) -> None:
    """The time zone matters to others, who read times of this person; how pages look does not."""
    for zone in ("", "Asia/Shanghai"):
        change_settings(
            team1.alice,
            language="zh-hans",
            time_zone=zone,
            theme=Theme.DARK,
            density=Density.COMPACT,
        )


def acknowledge(team1: Team1, _admin: User) -> None:
    alarm = AlarmFactory.create(deployment__cluster=team1.cluster)
    acknowledge_alarm(team1.alice, alarm, "known")


def freeze(team1: Team1, admin: User) -> None:
    window = Window(
        name="night",
        kind=WindowKind.DENY,
        time_zone="UTC",
        begins=datetime(2026, 12, 28, 18),  # noqa: DTZ001 a wall clock
        minutes=90,
        repeat=Repeat.DAILY,
    )
    end_window(admin, add_window(admin, team1.cluster, window, whole_team=False))


def keep_a_benchmark(team1: Team1, _admin: User) -> None:
    kept = keep_result(team1.alice, team1.team, "a", runs(block()))
    for _click in range(2):
        remove_result(team1.alice, kept)


ACTS: list[tuple[Act, list[AuditAction]]] = [
    (submit, [A.REQUEST_SUBMITTED]),
    (approve, [A.REQUEST_APPROVED]),
    (reject, [A.REQUEST_REJECTED]),
    (
        lambda team1, _admin: withdraw(team1.alice, team1.request()),
        [A.REQUEST_WITHDRAWN],
    ),
    (start, [A.RELEASE_STARTED]),
    (
        lambda team1, admin: cancel_release(team1.alice, start(team1, admin)),
        [A.RELEASE_STARTED, A.RELEASE_CANCELLED],
    ),
    (stop_and_remove, [A.RELEASE_STARTED, A.RELEASE_STOPPED, A.RELEASE_REMOVED]),
    (know_of_a_restart, [A.RELEASE_STARTED, A.RESTARTS_KNOWN]),
    (restore, [A.RELEASE_RESTORED]),
    (stop_at_once, [A.EMERGENCY_STOP]),
    (change_cluster, [A.CLUSTER_CHANGED]),
    (change_the_rules, [A.RULES_CHANGED]),
    (
        lambda team1, admin: change_probe(
            admin, team1.cluster, ProbeChoice(image="", repeats=True, privileged=False)
        ),
        [A.PROBE_CHANGED],
    ),
    (
        run_a_host,
        [
            *(A.HOST_ADDED, A.HOST_CHANGED, A.HOST_DEVICES, A.HOST_CREDENTIALS),
            *(A.HOST_MOVED, A.HOST_KEY, A.HOST_ENGINE, A.HOST_REMOVED),
        ],
    ),
    (keep_a_secret, [A.SECRET_STORED, A.SECRET_STORED, A.SECRET_REMOVED]),
    (keep_a_model, [A.MODEL_KEPT, A.MODEL_KEPT, A.MODEL_REMOVED]),
    (settle, [A.PERSON_CHANGED]),
    (acknowledge, [A.ALARM_ACKNOWLEDGED]),
    (freeze, [A.FREEZE_ADDED, A.FREEZE_ENDED]),
    (keep_a_benchmark, [A.BENCHMARK_KEPT, A.BENCHMARK_REMOVED]),
]


@pytest.mark.parametrize(("act", "expected"), ACTS)
def test_an_act_leaves_its_entry_and_a_second_click_none(
    team1: Team1, admin: User, act: Act, expected: list[AuditAction]
) -> None:
    act(team1, admin)
    assert actions() == [one.value for one in expected]
    assert check_database().broken is None
    people = {entry.actor for entry in told()}
    assert people <= {team1.alice, team1.bob, admin}
    personal = {A.PERSON_CHANGED.value}
    assert {one.team for one in told() if one.action not in personal} <= {team1.team}
    everything = str([content_of(entry) for entry in told()])
    assert PASSPHRASE not in everything
    assert "PRIVATE KEY" not in everything


def test_what_starts_by_itself_is_told_of_who_asked_and_of_the_worker(
    team1: Team1,
) -> None:
    request = team1.approved()
    type(request).objects.filter(pk=request.pk).update(starts_itself=True)
    follow_requests()
    (entry,) = told()
    assert (entry.action, entry.actor) == (A.RELEASE_STARTED, request.submitted_by)
    assert (entry.agent, entry.address) == ("worker", "")


def test_entries_say_what_was_before_and_after(team1: Team1, admin: User) -> None:
    change_cluster(team1, admin)
    keep_a_secret(team1, admin)
    reject(team1, admin)
    stop_at_once(team1, admin)
    changed, _first, second, _removed, rejected, stopped = told()
    assert (changed.before, changed.after) == (
        {"model_roots": []},
        {"model_roots": ["/data"]},
    )
    assert second.after == {"version": 2}
    assert rejected.reason == "no"
    assert stopped.reason == "nonsense"


@pytest.mark.parametrize(
    "act",
    [
        lambda team1: withdraw(team1.charlie, team1.request()),
        lambda team1: start_release(team1.bob, team1.approved(), "key"),
        lambda team1: store_secret(team1.alice, team1.team, "hub", PASSPHRASE),
        lambda team1: remove_host(team1.alice, team1.host),
    ],
)
def test_what_is_refused_leaves_none(
    team1: Team1, act: Callable[[Team1], object]
) -> None:
    with pytest.raises(NotAllowedError):
        act(team1)
    assert told() == []


def test_what_cannot_be_done_leaves_none(team1: Team1, admin: User) -> None:
    policy = replace(policy_of(team1.cluster), split_cards=True)
    with pytest.raises(ConflictError):
        change_policy(admin, team1.cluster, policy, shown_version=7)
    with pytest.raises(ConflictError):
        confirm_host_key(admin, team1.host, "ssh-ed25519 AAAA")
    assert told() == []


@pytest.mark.django_db
def test_people_that_commands_make_and_passwords_that_they_reset_are_told() -> None:
    made = bootstrap()
    team = Team.objects.get()
    shown = add_person("eve", team, TeamRole.VIEWER)
    eve = User.objects.get(username="eve")
    add_member(team, eve, TeamRole.VIEWER)
    add_member(team, eve, TeamRole.OPERATOR)
    again = reset_password("eve")
    assert actions() == [
        *("person.added", "member.added", "person.added", "member.added"),
        *("member.added", "person.password_reset"),
    ]
    granted = told()[4]
    assert (granted.before, granted.after) == (
        {"roles": ["viewer"]},
        {"roles": ["operator", "viewer"]},
    )
    assert {(one.actor_name, one.address) for one in told()} == {("command line", "")}
    everything = str([content_of(entry) for entry in told()])
    assert made.password is not None
    for secret in (made.password, shown, again):
        assert secret not in everything
