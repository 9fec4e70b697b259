"""What an audit entry names of the row that an act was done to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from deployments.models import (
    Alarm,
    ApprovalRequest,
    AuditKind,
    BenchmarkResult,
    Cluster,
    Deployment,
    FreezeWindow,
    Host,
    NoticeChannel,
    Release,
    TargetModel,
    Team,
    TeamSecret,
    User,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An object by its kind, id and name; ``within`` is the id of what it belongs to."""

    kind: AuditKind
    id: str
    name: str
    team: Team | None = None
    within: str = ""


def subject_of(row: Model | Subject) -> Subject:
    """What to name of a row.

    Raises:
        KeyError: entries are not written about rows of this kind.
    """
    # The person behind a request is a proxy, which is known by its class alone.
    return row if isinstance(row, Subject) else SUBJECTS[row.__class__](row)


def _deployment(row: Deployment) -> Subject:
    return Subject(
        kind=AuditKind.DEPLOYMENT,
        id=str(row.pk),
        name=row.name,
        team=row.team,
        within=str(row.cluster_id),
    )


def _request(row: ApprovalRequest) -> Subject:
    revision = row.plan.revision
    return Subject(
        kind=AuditKind.REQUEST,
        id=str(row.pk),
        name=f"{revision.deployment.name} r{revision.number}",
        team=revision.deployment.team,
        within=str(revision.deployment_id),
    )


def _release(row: Release) -> Subject:
    return Subject(
        kind=AuditKind.RELEASE,
        id=str(row.pk),
        name=f"{row.deployment.name} {row.number}",
        team=row.deployment.team,
        within=str(row.deployment_id),
    )


def _cluster(row: Cluster) -> Subject:
    return Subject(kind=AuditKind.CLUSTER, id=str(row.pk), name=row.name, team=row.team)


def _host(row: Host) -> Subject:
    return Subject(
        kind=AuditKind.HOST,
        id=str(row.pk),
        name=row.name,
        team=row.cluster.team,
        within=str(row.cluster_id),
    )


def _secret(row: TeamSecret) -> Subject:
    return Subject(kind=AuditKind.SECRET, id=str(row.pk), name=row.name, team=row.team)


def _model(row: TargetModel) -> Subject:
    return Subject(kind=AuditKind.MODEL, id=str(row.pk), name=row.key, team=row.team)


def _alarm(row: Alarm) -> Subject:
    return Subject(
        kind=AuditKind.ALARM,
        id=str(row.pk),
        name=f"{row.deployment.name}: {row.kind}",
        team=row.deployment.team,
        within=str(row.deployment_id),
    )


def _freeze(row: FreezeWindow) -> Subject:
    return Subject(
        kind=AuditKind.FREEZE,
        id=str(row.pk),
        name=row.name,
        team=row.team,
        within=str(row.cluster_id or ""),
    )


def _benchmark(row: BenchmarkResult) -> Subject:
    return Subject(
        kind=AuditKind.BENCHMARK,
        id=str(row.pk),
        name=row.name,
        team=row.team,
        within=str(row.deployment_id or ""),
    )


def _channel(row: NoticeChannel) -> Subject:
    return Subject(kind=AuditKind.CHANNEL, id=str(row.pk), name=row.name, team=row.team)


def _team(row: Team) -> Subject:
    return Subject(kind=AuditKind.TEAM, id=str(row.pk), name=row.name, team=row)


def _person(row: User) -> Subject:
    return Subject(kind=AuditKind.PERSON, id=str(row.pk), name=row.username)


SUBJECTS: Mapping[type[Model], Callable[[Any], Subject]] = {
    Deployment: _deployment,
    ApprovalRequest: _request,
    Release: _release,
    Cluster: _cluster,
    Host: _host,
    TeamSecret: _secret,
    TargetModel: _model,
    Alarm: _alarm,
    FreezeWindow: _freeze,
    BenchmarkResult: _benchmark,
    NoticeChannel: _channel,
    Team: _team,
    User: _person,
}
