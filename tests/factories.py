"""Rows for tests: each valid on its own, names in sequence, nothing random.

Call ``XFactory.create(...)``, which is typed.
"""
# mypy: allow-untyped-calls

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from factory.declarations import (
    LazyAttribute,
    LazyFunction,
    SelfAttribute,
    Sequence,
    SubFactory,
)
from factory.django import DjangoModelFactory

from deployments import models
from deployments.planning.canonical import Json, canonical_json, digest_of

RUN_STARTED_AT = "2026-11-27T08:00:00.000000000Z"


class TeamFactory(DjangoModelFactory[models.Team]):
    """A team without members."""

    class Meta:
        model = models.Team

    name = Sequence(lambda n: f"Team {n}")
    slug = Sequence(lambda n: f"team-{n}")


class UserFactory(DjangoModelFactory[models.User]):
    """A person who can log in but is in no team."""

    class Meta:
        model = models.User
        skip_postgeneration_save = True

    username = Sequence(lambda n: f"person-{n}")


class MembershipFactory(DjangoModelFactory[models.Membership]):
    """A person in a team, without roles."""

    class Meta:
        model = models.Membership

    team = SubFactory(TeamFactory)
    user = SubFactory(UserFactory)


class RoleGrantFactory(DjangoModelFactory[models.RoleGrant]):
    """One role of one member."""

    class Meta:
        model = models.RoleGrant

    membership = SubFactory(MembershipFactory)
    role = models.TeamRole.VIEWER


class ClusterFactory(DjangoModelFactory[models.Cluster]):
    """A cluster whose policy asks for another approver."""

    class Meta:
        model = models.Cluster

    team = SubFactory(TeamFactory)
    name = Sequence(lambda n: f"cluster-{n}")
    slug = Sequence(lambda n: f"cluster-{n}")


class HostFactory(DjangoModelFactory[models.Host]):
    """A reachable NVIDIA host without devices."""

    class Meta:
        model = models.Host

    cluster = SubFactory(ClusterFactory)
    name = Sequence(lambda n: f"host-{n}")
    docker_address = "unix:///var/run/docker.sock"
    docker_version = "29.0.1"
    platform = models.Platform.NVIDIA
    architecture = "x86_64"
    reachability = models.Reachability.REACHABLE
    seen_at = LazyFunction(timezone.now)


class DeviceFactory(DjangoModelFactory[models.Device]):
    """One device of 80 GiB."""

    class Meta:
        model = models.Device

    host = SubFactory(HostFactory)
    number = Sequence(lambda n: n % 32_000)
    name = "NVIDIA H100 80GB HBM3"
    memory_bytes = 80 * 1024**3


def model_document(key: str, **changes: Any) -> dict[str, Json]:
    """A small catalog entry that planning can read."""
    document: dict[str, Json] = {
        "key": key,
        "name": key.rpartition("/")[2],
        "family": "example",
        "sources": {"parameters": "config.json of the repository"},
        "parameters": 8_000_000_000,
        "context_length": 40_960,
        "checkpoints": [
            {
                "key": "bf16",
                "repository": key,
                "directory": key.rpartition("/")[2],
                "platforms": ["nvidia", "cpu"],
                "source": "model card",
                "quantisation": "BF16",
                "size_bytes": 16_000_000_000,
            }
        ],
    }
    return {**document, **changes}


class TargetModelFactory(DjangoModelFactory[models.TargetModel]):
    """A shipped target model; its columns follow its document."""

    class Meta:
        model = models.TargetModel

    team = None
    key = Sequence(lambda n: f"example/model-{n}")
    document = LazyAttribute(lambda row: model_document(row.key))
    name = LazyAttribute(lambda row: row.document["name"])
    family = LazyAttribute(lambda row: row.document["family"])
    parameters = LazyAttribute(lambda row: row.document.get("parameters"))
    active_parameters = LazyAttribute(lambda row: row.document.get("active_parameters"))
    context_length = LazyAttribute(lambda row: row.document.get("context_length"))
    has_mtp = LazyAttribute(lambda row: row.document.get("has_mtp"))


class CheckpointFactory(DjangoModelFactory[models.Checkpoint]):
    """One checkpoint of a target model."""

    class Meta:
        model = models.Checkpoint

    target_model = SubFactory(TargetModelFactory)
    key = Sequence(lambda n: f"checkpoint-{n}")
    repository = Sequence(lambda n: f"example/checkpoint-{n}")


class DrafterFactory(DjangoModelFactory[models.Drafter]):
    """An EAGLE-3 head of a target model."""

    class Meta:
        model = models.Drafter

    target_model = SubFactory(TargetModelFactory)
    key = Sequence(lambda n: f"drafter-{n}")
    repository = Sequence(lambda n: f"example/drafter-{n}")
    method = "eagle3"


class DeploymentFactory(DjangoModelFactory[models.Deployment]):
    """A deployment without revisions."""

    class Meta:
        model = models.Deployment

    cluster = SubFactory(ClusterFactory)
    team = SelfAttribute("cluster.team")
    name = Sequence(lambda n: f"deployment-{n}")
    created_by = SubFactory(UserFactory)


class RevisionFactory(DjangoModelFactory[models.Revision]):
    """A revision; its document is a stand-in unless a test gives a real one."""

    class Meta:
        model = models.Revision

    deployment = SubFactory(DeploymentFactory)
    number = Sequence(lambda n: n + 1)
    document = LazyAttribute(lambda row: {"name": row.deployment.name})
    created_by = SubFactory(UserFactory)


class PlanFactory(DjangoModelFactory[models.Plan]):
    """A plan row whose digest fits its text; the text is a stand-in (see ``stored_plan``)."""

    class Meta:
        model = models.Plan

    revision = SubFactory(RevisionFactory)
    document = LazyAttribute(
        lambda row: canonical_json(
            {"deployment": row.revision.deployment.name, "number": row.revision.number}
        ).decode()
    )
    digest = LazyAttribute(
        lambda row: digest_of(
            {"deployment": row.revision.deployment.name, "number": row.revision.number}
        )
    )
    can_submit = True
    method = "eagle3"
    num_speculative_tokens = 3
    model_key = "example/model"
    schema_version = 1
    planner_version = "1"


class ApprovalRequestFactory(DjangoModelFactory[models.ApprovalRequest]):
    """An open request that runs out in a week."""

    class Meta:
        model = models.ApprovalRequest

    plan = SubFactory(PlanFactory)
    digest = LazyAttribute(lambda row: row.plan.digest)
    submitted_by = SubFactory(UserFactory)
    requires_other_approver = True
    policy_version = 1
    expires_at = LazyFunction(lambda: timezone.now() + timedelta(days=7))
    decided_at = LazyAttribute(
        lambda row: None if row.state == models.RequestState.OPEN else timezone.now()
    )
    state = models.RequestState.OPEN


class ApprovalFactory(DjangoModelFactory[models.Approval]):
    """One approving vote."""

    class Meta:
        model = models.Approval

    request = SubFactory(ApprovalRequestFactory)
    user = SubFactory(UserFactory)
    user_name = LazyAttribute(lambda row: str(row.user))
    decision = models.Decision.APPROVE
    digest = LazyAttribute(lambda row: row.request.digest)


class ReleaseFactory(DjangoModelFactory[models.Release]):
    """A live release with its plan and its released request."""

    class Meta:
        model = models.Release

    deployment = SubFactory(DeploymentFactory)
    plan = SubFactory(PlanFactory, revision__deployment=SelfAttribute("...deployment"))
    request = SubFactory(
        ApprovalRequestFactory,
        plan=SelfAttribute("..plan"),
        state=models.RequestState.RELEASED,
    )
    number = Sequence(lambda n: n + 1)
    state = models.ReleaseState.LIVE
    started_by = SubFactory(UserFactory)
    live_at = LazyAttribute(
        lambda row: timezone.now() if row.state == models.ReleaseState.LIVE else None
    )
    cause = LazyAttribute(
        lambda row: (
            "The container exited with code 1."
            if row.state in {models.ReleaseState.FAILED, models.ReleaseState.BLOCKED}
            else ""
        )
    )


class ReplicaFactory(DjangoModelFactory[models.Replica]):
    """A running combined replica on a host of the same cluster."""

    class Meta:
        model = models.Replica

    release = SubFactory(ReleaseFactory)
    host = SubFactory(
        HostFactory, cluster=SelfAttribute("..release.deployment.cluster")
    )
    role = "combined"
    rank = Sequence(lambda n: n)
    container_name = Sequence(lambda n: f"draftboard-{n}")
    container_id = Sequence(lambda n: f"{n:064x}")
    state = models.ReplicaState.RUNNING


class BookingFactory(DjangoModelFactory[models.Booking]):
    """A device that a replica holds."""

    class Meta:
        model = models.Booking

    replica = SubFactory(ReplicaFactory)
    host = LazyAttribute(lambda row: row.replica.host)
    device = Sequence(lambda n: n % 32_000)


class ReleaseEventFactory(DjangoModelFactory[models.ReleaseEvent]):
    """A line of a journal."""

    class Meta:
        model = models.ReleaseEvent

    release = SubFactory(ReleaseFactory)
    sequence = Sequence(lambda n: n + 1)
    step = "VALIDATE"
    kind = models.EventKind.DONE
    message = "The plan's digest is the approved one."


class CommandFactory(DjangoModelFactory[models.Command]):
    """A command that waits for a worker."""

    class Meta:
        model = models.Command

    release = SubFactory(ReleaseFactory)
    kind = models.CommandKind.DEPLOY
    requested_by = SubFactory(UserFactory)
    idempotency_key = Sequence(lambda n: f"key-{n}")


class SavedViewFactory(DjangoModelFactory[models.SavedView]):
    """A view of the deployments that one person keeps."""

    class Meta:
        model = models.SavedView

    user = SubFactory(UserFactory)
    table = models.TableKey.DEPLOYMENTS
    name = Sequence(lambda n: f"view {n}")
    query = "show=live"


class LogCursorFactory(DjangoModelFactory[models.LogCursor]):
    """A cursor on the standard error of a replica's container."""

    class Meta:
        model = models.LogCursor

    replica = SubFactory(ReplicaFactory)
    container_id = LazyAttribute(lambda row: row.replica.container_id)
    run_started_at = RUN_STARTED_AT
    stream = "stderr"


class LogGapFactory(DjangoModelFactory[models.LogGap]):
    """Lines that were gone before they were read."""

    class Meta:
        model = models.LogGap

    replica = SubFactory(ReplicaFactory)
    container_id = LazyAttribute(lambda row: row.replica.container_id)
    from_ns = 1_000
    to_ns = 2_000
    reason = "rotated"


class LogRequestFactory(DjangoModelFactory[models.LogRequest]):
    """Somebody looks at the present run of a replica."""

    class Meta:
        model = models.LogRequest

    replica = SubFactory(ReplicaFactory)
    wanted_until = LazyFunction(lambda: timezone.now() + timedelta(seconds=30))


class LogTailFactory(DjangoModelFactory[models.LogTail]):
    """A tail without lines that was read just now."""

    class Meta:
        model = models.LogTail

    request = SubFactory(LogRequestFactory)
    container_id = LazyAttribute(lambda row: row.request.replica.container_id)
    run_started_at = RUN_STARTED_AT
    line_count = LazyAttribute(lambda row: len(row.lines))
    newest = LazyAttribute(lambda row: row.lines[-1][0] if row.lines else 0)
    filled_at = LazyFunction(timezone.now)
    lines = LazyFunction(list)


def nanoseconds(moment: datetime) -> int:
    """A time as the engine stamps log lines: nanoseconds since 1970."""
    return round(moment.astimezone(UTC).timestamp() * 1_000_000) * 1_000


class AcceptanceSampleFactory(DjangoModelFactory[models.AcceptanceSample]):
    """A window of ten seconds: 406 of 609 tokens accepted in 203 drafts of three."""

    class Meta:
        model = models.AcceptanceSample

    replica = SubFactory(ReplicaFactory)
    deployment = LazyAttribute(lambda row: row.replica.release.deployment)
    container_id = LazyAttribute(lambda row: row.replica.container_id)
    run_started_at = RUN_STARTED_AT
    stream = "stderr"
    timestamp_ns = LazyFunction(lambda: nanoseconds(timezone.now()))
    sequence = Sequence(lambda n: n)
    accepted = 406
    drafted = 609
    num_drafts = 203
    per_position = LazyFunction(lambda: [183, 132, 91])
    num_speculative_tokens = 3
    window_s = 10.0


class AlarmFactory(DjangoModelFactory[models.Alarm]):
    """An open alarm: nothing was accepted in half an hour."""

    class Meta:
        model = models.Alarm

    deployment = SubFactory(DeploymentFactory)
    kind = models.AlarmKind.SILENT_ZERO
    release_number = 1
    opened_at = LazyFunction(timezone.now)
    began_at = SelfAttribute("opened_at")
    seen_at = SelfAttribute("opened_at")
    text = "0 of 6000 drafted tokens were accepted."
    evidence = {"accepted": 0, "drafted": 6000, "window_s": 1800, "threshold": 0.01}


class MinuteRollupFactory(DjangoModelFactory[models.MinuteRollup]):
    """A minute with one window of 406 of 609 tokens in 203 drafts."""

    class Meta:
        model = models.MinuteRollup

    replica = SubFactory(ReplicaFactory)
    deployment = LazyAttribute(lambda row: row.replica.release.deployment)
    start_s = 1_795_800_000
    positions = LazyAttribute(lambda row: len(row.per_position))
    accepted = 406
    drafted = 609
    num_drafts = 203
    per_position = LazyFunction(lambda: [183, 132, 91])
    windows = 1
    newest_ns = LazyAttribute(lambda row: (row.start_s + 10) * 10**9)


class HourRollupFactory(MinuteRollupFactory):
    """The same as an hour."""

    class Meta:
        model = models.HourRollup

    start_s = 1_795_798_800


class DayRollupFactory(MinuteRollupFactory):
    """The same as a day."""

    class Meta:
        model = models.DayRollup

    start_s = 1_795_737_600


class RollupRoundFactory(DjangoModelFactory[models.RollupRound]):
    """The only row of its table."""

    class Meta:
        model = models.RollupRound


class AcceptanceStandingFactory(DjangoModelFactory[models.AcceptanceStanding]):
    """A deployment that was heard of just now and never judged."""

    class Meta:
        model = models.AcceptanceStanding

    deployment = SubFactory(DeploymentFactory)
    heard_at = LazyFunction(timezone.now)


def member(team: models.Team, name: str, *roles: models.TeamRole) -> models.User:
    """A person of the team with exactly these roles."""
    user = UserFactory.create(username=name)
    membership = MembershipFactory.create(team=team, user=user)
    for role in roles:
        RoleGrantFactory.create(membership=membership, role=role)
    return user
