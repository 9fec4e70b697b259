"""A panel full of rows: hosts, deployments with what runs, alarms, people, a day of samples."""

import json
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model
from django.utils import timezone

from deployments import models as m
from deployments.planning.canonical import canonical_json, digest_of
from deployments.planning.text import text

SAMPLES_EACH = 48
HOUR_NS = 3600 * 10**9
CLUSTERS = 20
WAITING = 40
FAILED_ONE_IN = 10
METHODS = (("mtp", 2), ("eagle3", 3), ("mtp", 3), ("ngram", 4), ("off", None))
MODELS = ("zai-org/GLM-4.7", "deepseek-ai/DeepSeek-V3.2", "Qwen/Qwen3-32B")
BATCH = 2000
COLUMNS = (
    "id",
    "created_at",
    "deployment_id",
    "replica_id",
    "container_id",
    "run_started_at",
    "stream",
    "timestamp_ns",
    "sequence",
    "accepted",
    "drafted",
    "num_drafts",
    "per_position",
    "num_speculative_tokens",
    "window_s",
)

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A team with clusters, hosts and people; each of them holds every role."""

    team: m.Team
    people: list[m.User]
    clusters: list[m.Cluster]
    hosts: list[m.Host]


def fill_panel(*, hosts: int = 1000, people: int = 50) -> Panel:
    """Make a team without deployments."""
    team = m.Team.objects.create(name="Benchmark", slug="benchmark")
    clusters = _made(
        m.Cluster(team=team, name=f"cluster-{n:02}", slug=f"cluster-{n:02}")
        for n in range(CLUSTERS)
    )
    return Panel(
        team=team,
        people=_people(team, people),
        clusters=clusters,
        hosts=_hosts(clusters, hosts),
    )


def add_deployments(
    panel: Panel,
    numbers: range,
    *,
    samples: int = SAMPLES_EACH,
    waiting: int = WAITING,
    alarms: int = 0,
) -> None:
    """Make the deployments of these numbers, each with ``samples`` windows over the last 24 hours.

    Some ``waiting`` wait for an approval, of the rest one in ten failed, and the others are live.
    So many ``alarms`` are open.
    """
    deployments = _made(
        m.Deployment(
            cluster=panel.clusters[n % CLUSTERS],
            team_id=panel.clusters[n % CLUSTERS].team_id,
            name=f"{MODELS[n % 3].rpartition('/')[2].lower().replace('.', '-')}-{n:05}",
            created_by=panel.people[n % len(panel.people)],
        )
        for n in numbers
    )
    step = len(deployments) // waiting if waiting else 0
    replicas = _released(deployments, panel.hosts, panel.people[0], step)
    _alarms(deployments[:alarms])
    _samples(replicas, samples)
    postgres = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if postgres else "ANALYZE")


def _people(team: m.Team, count: int) -> list[m.User]:
    people = _made(m.User(username=f"person-{n:02}") for n in range(count))
    memberships = _made(m.Membership(team=team, user=person) for person in people)
    _made(
        m.RoleGrant(membership=membership, role=role)
        for membership in memberships
        for role in m.TeamRole
    )
    return people


def _hosts(clusters: list[m.Cluster], count: int) -> list[m.Host]:
    hosts = _made(
        m.Host(
            cluster=clusters[n % CLUSTERS],
            name=f"gpu-{n:04}",
            docker_address=f"tcp://10.0.{n // 250}.{n % 250}:2376",
            docker_version="29.0.1",
            platform=m.Platform.NVIDIA,
            architecture="x86_64",
            reachability=m.Reachability.REACHABLE,
            seen_at=timezone.now(),
            clock_offset_ms=n % 40,
        )
        for n in range(count)
    )
    _made(
        m.Device(host=host, number=number, name="NVIDIA H100 80GB HBM3")
        for host in hosts
        for number in range(8)
    )
    return hosts


def _released(
    deployments: list[m.Deployment], hosts: list[m.Host], author: m.User, step: int
) -> list[m.Replica]:
    """A revision, a plan, a request and a release for each; one in ``step`` waits."""
    now = timezone.now()

    def waits(n: int) -> bool:
        return bool(step) and n % step == 0

    def failed(n: int) -> bool:
        return n % FAILED_ONE_IN == 1

    revisions = _made(
        m.Revision(
            deployment=row, number=1, document={"name": row.name}, created_by=author
        )
        for row in deployments
    )
    plans = _made(map(_plan, range(len(revisions)), revisions))
    requests = _made(
        m.ApprovalRequest(
            plan=plan,
            digest=plan.digest,
            submitted_by=plan.revision.deployment.created_by,
            requires_other_approver=True,
            policy_version=1,
            expires_at=now + timedelta(days=7),
            state=m.RequestState.OPEN if waits(n) else m.RequestState.RELEASED,
            decided_at=None if waits(n) else now,
        )
        for n, plan in enumerate(plans)
    )
    releases = _made(
        m.Release(
            deployment=request.plan.revision.deployment,
            plan=request.plan,
            request=request,
            number=1,
            state=m.ReleaseState.FAILED if failed(n) else m.ReleaseState.LIVE,
            cause=text("The container exited with code {code}.", code=1)
            if failed(n)
            else "",
            started_by=author,
            live_at=now,
        )
        for n, request in enumerate(requests)
        if not waits(n)
    )
    return _made(
        m.Replica(
            release=release,
            host=hosts[n % len(hosts)],
            role="combined",
            rank=0,
            container_name=f"draftboard-{n}",
            container_id=f"{n:064x}",
            state=m.ReplicaState.RUNNING,
        )
        for n, release in enumerate(releases)
    )


def _alarms(deployments: list[m.Deployment]) -> None:
    now = timezone.now()
    _made(
        m.Alarm(
            deployment=deployment,
            kind=m.AlarmKind.SILENT_ZERO,
            release_number=1,
            opened_at=now - timedelta(minutes=n),
            began_at=now - timedelta(minutes=n + 30),
            seen_at=now,
            text=text(
                "{accepted} of {drafted} drafted tokens were accepted.",
                accepted=0,
                drafted=6000 + n,
            ),
        )
        for n, deployment in enumerate(deployments)
    )


def _plan(n: int, revision: m.Revision) -> m.Plan:
    document: dict[str, Any] = {"deployment": revision.deployment.name, "number": 1}
    method, count = METHODS[n % len(METHODS)]
    return m.Plan(
        revision=revision,
        document=canonical_json(document).decode(),
        digest=digest_of(document),
        can_submit=True,
        method=method,
        num_speculative_tokens=count,
        model_key=MODELS[n % 3],
        schema_version=1,
        planner_version="1",
    )


def _samples(replicas: list[m.Replica], each: int) -> None:
    rows = _sample_rows(replicas, each)
    if connection.vendor != "postgresql":
        _made(
            m.AcceptanceSample(**dict(zip(COLUMNS, row, strict=True))) for row in rows
        )
        return
    table = m.AcceptanceSample._meta.db_table
    with connection.cursor() as cursor:
        copying = cursor.copy(f"COPY {table} ({', '.join(COLUMNS)}) FROM STDIN")
        with copying as copy:
            for row in rows:
                plain = (
                    json.dumps(one) if isinstance(one, list) else one for one in row
                )
                copy.write_row(tuple(plain))


def _sample_rows(replicas: list[m.Replica], each: int) -> Iterator[tuple[Any, ...]]:
    now = timezone.now()
    newest = int(now.timestamp() * 10**9) - HOUR_NS // 60
    step = 24 * HOUR_NS // max(each, 1)
    for place, replica in enumerate(replicas):
        for n in range(each):
            accepted = 300 + (place * 7 + n * 13) % 200
            yield (
                uuid.uuid4(),
                now,
                replica.release.deployment_id,
                replica.pk,
                replica.container_id,
                "2026-11-27T08:00:00.000000000Z",
                "stderr",
                newest - n * step,
                n,
                accepted,
                609,
                203,
                [accepted // 2, accepted // 3, accepted // 6],
                3,
                10.0,
            )


def _made(rows: Iterable[M]) -> list[M]:
    listed = list(rows)
    if listed:
        type(listed[0])._default_manager.bulk_create(listed, batch_size=BATCH)
    return listed
