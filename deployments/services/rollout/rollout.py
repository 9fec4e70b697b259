"""A plan on its hosts, and one slice of work on it: the claim, the rows, and the way to the engines."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Self
from uuid import UUID

from django.db.models.functions import Now

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import ContainerFacts
from deployments.docker_api.policy import ContainerPolicy
from deployments.models import (
    Booking,
    BreakGlass,
    Command,
    CommandKind,
    Host,
    Platform,
    Release,
    ReleaseState,
    Replica,
    ReplicaState,
)
from deployments.planning.plan import Plan, PlannedReplica, ReplaceStrategy, Role
from deployments.planning.platforms.ascend import DRIVER_MOUNTS, FABRIC_MOUNTS
from deployments.planning.platforms.ascend_950 import DRIVER_MOUNTS_950
from deployments.planning.text import Text, text
from deployments.selectors.plans import stored_plan
from deployments.services.device_queue import stop_waiting, wake_waiting
from deployments.services.host_access import OpenHosts, prove_same_engine
from deployments.services.rollout.claims import Claim
from deployments.services.rollout.journal import Journal

INSTANCE_LABEL = "draftboard.instance"
RELEASE_LABEL = "draftboard.release"
DIGEST_LABEL = "draftboard.digest"
REPLICA_LABEL = "draftboard.replica"
ROLE_ORDER = (Role.PREFILL, Role.DECODE, Role.COMBINED, Role.ROUTER)


@dataclass(frozen=True, slots=True)
class Member:
    """A replica of a release beside what the plan says of it."""

    row: Replica
    planned: PlannedReplica

    @property
    def host(self) -> Host:
        """The host it runs on."""
        return self.row.host

    @property
    def name(self) -> str:
        """The name of its container."""
        return self.row.container_name


def resources(member: Member) -> list[tuple[str, int]]:
    """The devices and ports of a replica, as (column, number)."""
    devices = [("device", number) for number in member.planned.devices]
    return devices + [("port", port.host) for port in member.planned.container.ports]


def _needs(members: tuple[Member, ...]) -> set[tuple[object, str, object]]:
    """What no two replicas can have at once: devices, ports and names of a host."""
    needs: set[tuple[object, str, object]] = {
        (member.host.pk, "name", member.name) for member in members
    }
    return needs.union(
        (member.host.pk, column, number)
        for member in members
        for column, number in resources(member)
    )


def members_of(release: Release, plan: Plan) -> tuple[Member, ...]:
    """The replicas of a release in the order in which they start."""
    planned = {(str(one.role), one.rank): one for one in plan.replicas}
    rows = release.replicas.select_related("host__cluster", "release")
    return in_order([Member(row, planned[row.role, row.rank]) for row in rows])


def in_order(members: Iterable[Member]) -> tuple[Member, ...]:
    """The members in the order in which they start."""
    return tuple(
        sorted(
            members,
            key=lambda one: (ROLE_ORDER.index(one.planned.role), one.planned.rank),
        )
    )


class Layout(ABC):
    """Which replica of a plan runs where, what it replaces, and the way to the engines.

    ``release`` of a trial is not stored. Used as a context manager, it closes the ways at the end.
    """

    def __init__(
        self, release: Release, plan: Plan, members: tuple[Member, ...]
    ) -> None:
        self.release, self.plan, self.members = release, plan, members
        self.open = OpenHosts()

    def __enter__(self) -> Self:
        """Nothing is open yet."""
        return self

    def __exit__(self, *_raised: object) -> None:
        """Close what was opened."""
        self.open.close()

    @abstractmethod
    def keep_alive(self) -> None:
        """Say that the work goes on; called again and again while something lasts."""

    @property
    def old(self) -> Release | None:
        """The release that this one replaces."""
        return self.release.replaces

    @property
    def old_members(self) -> tuple[Member, ...]:
        """The replicas of the release that is replaced."""
        if self.old is None:
            return ()
        return members_of(self.old, stored_plan(self.old.plan))

    @cached_property
    def removes_first(self) -> bool:
        """Whether the old release must stop before the new one can start.

        Its plan may have been made when something else ran, so what both need decides too.
        """
        if self.old is None:
            return False
        if self.plan.replace is ReplaceStrategy.REMOVE_THEN_CREATE:
            return True
        return not _needs(self.members).isdisjoint(_needs(self.old_members))

    @cached_property
    def digest(self) -> str:
        """The digest of the plan, worked out once: it covers all replicas, and each container asks for it."""
        return self.plan.digest

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The hosts of this release, each once."""
        return tuple({member.host.pk: member.host for member in self.members}.values())

    def members_on(self, host: Host) -> tuple[Member, ...]:
        """The members on one host."""
        return tuple(member for member in self.members if member.host == host)

    def member(self, row: Replica) -> Member:
        """The member of a replica of this release."""
        return self._by_row[row.pk]

    @cached_property
    def _by_row(self) -> dict[UUID, Member]:
        return {member.row.pk: member for member in self.members}

    @contextmanager
    def engine(self, host: Host) -> Iterator[Engine]:
        """A host's engine, opened at the first use, after saying that the work goes on.

        Raises:
            LeaseLostError: another worker owns the command.
            DifferentEngineError: another engine answers there, which nobody has confirmed.
            DockerApiError: the engine does not answer.
        """
        self.keep_alive()
        prove_same_engine(host)
        with self.open.engine(host) as engine:
            yield engine


class Rollout(Layout):
    """What the steps of one command share during one slice.

    ``left_alone`` are steps and replicas that were tried with many others already: what is not done by
    that is left to the act of each.
    """

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.command = Command.objects.select_related(
            "release__deployment__cluster",
            "release__plan",
            "release__request",
            "release__replaces__plan",
        ).get(pk=claim.command_id)
        release = self.command.release
        self.journal = Journal(claim, release)
        self.left_alone: set[tuple[str, UUID]] = set()
        plan = stored_plan(release.plan)
        super().__init__(release, plan, members_of(release, plan))
        # What stops or removes something is never kept waiting.
        self.open = OpenHosts(in_turn=self.command.kind == CommandKind.DEPLOY)

    @cached_property
    def broke_glass(self) -> bool:
        """Whether it was started without approval, which is settled when a release is made."""
        return BreakGlass.objects.filter(release=self.release).exists()

    def keep_alive(self) -> None:
        """Prolong the lease.

        Raises:
            LeaseLostError: another worker owns the command.
        """
        self.claim.renew()

    def enter(self, state: ReleaseState, deadline: timedelta) -> None:
        """Move the release on, once, with the time until when it may stay; within ``fenced``."""
        if self.release.state == state:
            return
        moved = Release.objects.filter(
            pk=self.release.pk, state=self.release.state
        ).update(state=state, state_since=Now(), deadline_at=Now() + deadline)
        if moved == 1:
            self.release.state = state

    def past_deadline(self) -> bool:
        """Whether the state has lasted longer than it may, by the database's clock."""
        return Release.objects.filter(
            pk=self.release.pk, deadline_at__lte=Now()
        ).exists()


def labels_of(member: Member, digest: str) -> dict[str, str]:
    """The labels that say whose container this is.

    The host's row id stands for this panel: another panel has another row for the same host.
    """
    return {
        INSTANCE_LABEL: str(member.host.pk),
        RELEASE_LABEL: str(member.row.release_id),
        DIGEST_LABEL: digest,
        REPLICA_LABEL: str(member.row.pk),
    }


def is_ours(facts: ContainerFacts, member: Member, digest: str) -> bool:
    """Whether a container is the one that this release makes of this replica."""
    return labels_of(member, digest).items() <= facts.labels.items()


def policy_of(host: Host) -> ContainerPolicy:
    """The directories that containers on the host may mount from and keep log files in."""
    roots = [str(root) for root in host.cluster.model_roots]
    if host.model_root:
        roots.append(host.model_root)
    if Platform(host.platform).startswith("ascend"):
        roots += [*DRIVER_MOUNTS, *FABRIC_MOUNTS, *DRIVER_MOUNTS_950]
    return ContainerPolicy(mount_roots=tuple(roots), log_roots=(host.cluster.log_root,))


def observed(row: Replica, facts: ContainerFacts | None) -> dict[str, object]:
    """The columns of a replica that an inspection of its container gives."""
    if facts is None:
        return {"state": ReplicaState.REMOVED, "ready": False, "observed_at": Now()}
    if facts.running:
        state = ReplicaState.RUNNING
    elif facts.ever_started:
        state = ReplicaState.EXITED
    else:
        state = ReplicaState.CREATED
    return {
        "state": state,
        "container_id": facts.container_id,
        "image_id": facts.image_id,
        "exit_code": facts.exit_code if state == ReplicaState.EXITED else None,
        "started_at": facts.started_at if facts.ever_started else "",
        "ready": row.ready and facts.running,
        "observed_at": Now(),
    }


def save_created(row: Replica, container_id: str) -> None:
    """Store that the replica's container was made this moment; nobody has looked at it yet."""
    row.container_id, row.state, row.ready = container_id, ReplicaState.CREATED, False
    Replica.objects.filter(pk=row.pk).update(
        container_id=container_id,
        state=ReplicaState.CREATED,
        exit_code=None,
        started_at="",
        ready=False,
        observed_at=Now(),
    )


def save_started(rows: Sequence[Replica]) -> None:
    """Store that the replicas' containers were started just now; when exactly, the next look tells."""
    for row in rows:
        row.state = ReplicaState.RUNNING
    Replica.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=ReplicaState.RUNNING, observed_at=Now()
    )


def save_observed(row: Replica, facts: ContainerFacts | None) -> None:
    """Store what was seen of a replica's container."""
    values = observed(row, facts)
    Replica.objects.filter(pk=row.pk).update(**values)
    for name, value in values.items():
        if name != "observed_at":
            setattr(row, name, value)


def release_bookings(row: Replica) -> int:
    """Free the devices and ports of a replica whose container was seen not running.

    Who waits for them looks again when the transaction commits.
    """
    freed = Booking.objects.filter(replica=row, released_at=None).update(
        released_at=Now()
    )
    if freed + stop_waiting(row):
        wake_waiting(row.host)
    return freed


def place(member: Member) -> Text:
    """The object of a sentence: the container and its host."""
    return text("{name} on {host}", name=member.name, host=member.host.name)
