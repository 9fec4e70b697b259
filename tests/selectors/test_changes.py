"""What a plan would change: no leaf of a container can change without a row that says so."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from deployments.planning.container import (
    ContainerSpec,
    DeviceNode,
    DeviceRequest,
    HealthCheck,
    ImageReference,
    LogDirectory,
    LogOptions,
    Mount,
    NetworkMode,
    PortMapping,
    SecretVariable,
)
from deployments.planning.plan import (
    ExpectedSpeculation,
    Plan,
    PlannedReplica,
    ReplaceStrategy,
    Role,
)
from deployments.selectors.changes import (
    Mark,
    Setting,
    command_changes,
    diff_lines,
    file_changes,
    setting_changes,
)
from deployments.selectors.plan_settings import replica_settings
from tests.plan_values import plan_value, planned_replica

NAMED = "chat-key"
FULL = replace(
    planned_replica(),
    container=ContainerSpec(
        name="chat-combined-0",
        image=ImageReference(reference="img:1", digest="sha256:" + "a" * 64),
        command=("vllm", "serve", "/models/x", "--max-num-seqs", "8", "--enable-x"),
        entrypoint=("/bin/e",),
        user="1000",
        environment=(("A", "1"),),
        mounts=(Mount(source="/data/x", target="/models/x"),),
        log_directories=(LogDirectory(source="/var/log/x", target="/plogs"),),
        devices=(DeviceNode(host_path="/dev/d0", container_path="/dev/d0"),),
        device_requests=(
            DeviceRequest(driver="nvidia", device_ids=("0",), capabilities=("gpu",)),
        ),
        runtime="runc",
        group_add=("44",),
        cap_add=("IPC_LOCK",),
        ports=(PortMapping(host=8000, container=8000, purpose="api"),),
        health_check=HealthCheck(test=("CMD", "true")),
        time_zone="UTC",
        labels=(("a", "b"),),
        secrets=(SecretVariable(variable="VLLM_API_KEY", secret=NAMED, version=1),),
    ),
)


def with_replicas(*replicas: PlannedReplica) -> Plan:
    """A plan of exactly these replicas."""
    return plan_value(replicas=replicas)


def changed(value: Any) -> Any:
    """The same kind of value, but another one."""
    if isinstance(value, tuple):
        return (*value[:-1], changed(value[-1])) if value else ("x",)
    if isinstance(value, NetworkMode):
        return NetworkMode.HOST
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x"


def leaves(value: Any) -> list[Any]:
    """Every value that differs from the given dataclass in exactly one leaf."""
    found = []
    for field in fields(value):
        old = getattr(value, field.name)
        if is_dataclass(old):
            found += [replace(value, **{field.name: new}) for new in leaves(old)]
        elif isinstance(old, tuple) and old and is_dataclass(old[0]):
            found += [replace(value, **{field.name: (new,)}) for new in leaves(old[0])]
        elif not isinstance(old, Role):
            found.append(replace(value, **{field.name: changed(old)}))
    return found


VARIANTS = leaves(FULL)


def test_every_field_is_tried() -> None:
    assert len(VARIANTS) > 45
    assert LogOptions() == FULL.container.logging


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_leaf_of_a_replica_changes_unseen(variant: PlannedReplica) -> None:
    """An approver sees every difference that the digest covers."""
    before, after = with_replicas(FULL), with_replicas(variant)
    assert before.digest != after.digest
    rows = setting_changes(before, after)
    assert rows
    assert all(row.before != row.after for row in rows)


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "other"},
        {"checkpoint": "other"},
        {"engine_version": "0.33.0"},
        {"replace": ReplaceStrategy.CREATE_THEN_REMOVE},
    ],
    ids=str,
)
def test_no_choice_of_the_plan_changes_unseen(changes: dict[str, Any]) -> None:
    before = with_replicas(FULL)
    assert len(setting_changes(before, replace(before, **changes))) == 1


def test_same_plan_changes_nothing() -> None:
    plan = with_replicas(FULL)
    assert setting_changes(plan, plan) == ()
    assert not any(change.changed for change in command_changes(plan, plan))


def test_flag_with_json_is_told_key_by_key() -> None:
    rows = setting_changes(plan_value(count=3), plan_value(count=5))
    assert (
        Setting(
            name="--speculative-config.num_speculative_tokens",
            scope="",
            before="3",
            after="5",
        )
        in rows
    )


def test_flag_that_appears_or_goes_has_its_sign() -> None:
    off, on = plan_value(method=None), plan_value(method="mtp")
    name = "--speculative-config.method"
    appears = next(row for row in setting_changes(off, on) if row.name == name)
    goes = next(row for row in setting_changes(on, off) if row.name == name)
    assert (appears.sign, appears.before, appears.after) == ("+", None, "mtp")
    assert (goes.sign, goes.after) == ("\N{MINUS SIGN}", None)


def test_change_of_one_role_names_the_role_and_of_one_rank_the_rank() -> None:
    def plan(*sequences: str) -> Plan:
        roles = ((Role.PREFILL, 0), (Role.DECODE, 0), (Role.DECODE, 1))
        return with_replicas(
            *(
                planned_replica(role=role, rank=rank, flags=("--max-num-seqs", number))
                for (role, rank), number in zip(roles, sequences, strict=True)
            )
        )

    before = plan("8", "8", "8")

    def scopes(after: Plan) -> set[str]:
        return {row.scope for row in setting_changes(before, after)}

    assert scopes(plan("9", "9", "9")) == {""}
    assert scopes(plan("8", "9", "9")) == {"decode"}
    assert scopes(plan("8", "8", "9")) == {"decode 1"}
    assert scopes(plan("9", "8", "9")) == {"decode 1; prefill"}


def test_commands_with_the_same_difference_are_shown_once() -> None:
    def plan(number: str) -> Plan:
        return with_replicas(
            *(
                planned_replica(rank=rank, flags=("--max-num-seqs", number))
                for rank in range(4)
            )
        )

    (change,) = command_changes(plan("8"), plan("9"))
    assert change.title == ""
    assert [(line.mark, line.text) for line in change.lines if "seqs" in line.text] == [
        (Mark.REMOVED, "--max-num-seqs 8"),
        (Mark.ADDED, "--max-num-seqs 9"),
    ]


def test_lines_far_from_a_change_are_left_out() -> None:
    before = [str(number) for number in range(20)]
    lines = diff_lines(before, [*before[:10], "new", *before[11:]])
    assert [(line.mark, line.text) for line in lines] == [
        (Mark.SKIPPED, ""),
        (Mark.SAME, "8"),
        (Mark.SAME, "9"),
        (Mark.REMOVED, "10"),
        (Mark.ADDED, "new"),
        (Mark.SAME, "11"),
        (Mark.SAME, "12"),
        (Mark.SKIPPED, ""),
    ]


def test_files_that_one_side_lacks_are_whole() -> None:
    gone, new = file_changes({"a": "1\n2\n"}, {"b": "3\n"})
    assert [line.mark for line in gone.lines] == [Mark.REMOVED, Mark.REMOVED]
    assert [line.mark for line in new.lines] == [Mark.ADDED]
    (whole,) = file_changes(None, {"b": "3\n"})
    assert [line.mark for line in whole.lines] == [Mark.SAME]


def test_expected_speculation_is_told() -> None:
    other = replace(
        FULL, speculation=ExpectedSpeculation(method="mtp", num_speculative_tokens=9)
    )
    (row,) = setting_changes(with_replicas(FULL), with_replicas(other))
    assert (row.name, row.before, row.after) == (
        "expected in the start-up log",
        "mtp, 3",
        "mtp, 9",
    )


def numbered(number: int, name: str, label: str) -> Plan:
    """A plan of a revision whose container names a number, as does its label."""
    replica = planned_replica()
    container = replace(
        replica.container, name=name, labels=(("draftboard.revision", label),)
    )
    return replace(
        plan_value(number=number), replicas=(replace(replica, container=container),)
    )


def test_what_only_names_the_revision_is_no_change() -> None:
    before = numbered(3, "chat-r3-combined-0", "3")
    after = numbered(12, "chat-r12-combined-0", "12")
    assert setting_changes(before, after) == ()


@pytest.mark.parametrize(
    ("name", "label", "told"),
    [
        ("other-r12-combined-0", "12", "container name"),
        ("chat-r4-combined-0", "12", "container name"),
        ("chat-r12-combined-0", "13", "label draftboard.revision"),
    ],
)
def test_another_name_or_label_is_told(name: str, label: str, told: str) -> None:
    before = numbered(3, "chat-r3-combined-0", "3")
    (row,) = setting_changes(before, numbered(12, name, label))
    assert row.name == told


def test_ports_of_one_purpose_share_a_line_that_names_each() -> None:
    kv = tuple(PortMapping(host=n, container=n, purpose="kv") for n in (8100, 8101))
    two = replace(FULL, container=replace(FULL.container, ports=kv))
    assert replica_settings(two)["KV transfer port"] == (
        "0.0.0.0:8100 (in the container 8100), 0.0.0.0:8101 (in the container 8101)"
    )
