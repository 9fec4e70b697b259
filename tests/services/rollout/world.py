"""A team with a real Docker Engine as its host, plans of the practice image, and a way to run them."""

import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.containers import (
    list_containers,
    remove_container,
    signal_container,
)
from deployments.docker_api.logs import read_tail
from deployments.models import (
    Command,
    CommandState,
    Deployment,
    EventKind,
    Host,
    Platform,
    Release,
    Replica,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.container import (
    ContainerSpec,
    ImageReference,
    PortMapping,
)
from deployments.planning.plan import (
    ExpectedSpeculation,
    Plan,
    PlannedReplica,
    ReplaceStrategy,
    Role,
)
from deployments.selectors.planning_inputs import host_snapshots
from deployments.services.observation import look_at, store_observation
from deployments.services.releases import start_release
from deployments.services.rollout.executor import run_command
from practice.image import PRACTICE_IMAGE
from tests.factories import ClusterFactory, DeploymentFactory, HostFactory, member
from tests.plan_rows import request_for, stored, vote
from tests.plan_values import plan_value

QUICK = (("PRACTICE_READY_AFTER", "0.3"), ("VLLM_LOG_STATS_INTERVAL", "1"))
FAST_TRAFFIC = (("PRACTICE_TRAFFIC", "4"),)
DEADLINE_S = 90.0


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One team whose host ``here`` is the engine of the tests."""

    host: Host
    alice: User
    bob: User
    deployment: Deployment
    image_id: str

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """The host's engine."""
        with open_engine(self.host.docker_address, host=self.host.name) as engine:
            yield engine

    def replica(  # noqa: PLR0913 - tests name what they care about
        self,
        *,
        number: int = 1,
        port: int | None = None,
        environment: tuple[tuple[str, str], ...] = (),
        devices: tuple[int, ...] = (),
        role: Role = Role.COMBINED,
        rank: int = 0,
        count: int = 3,
        command: tuple[str, ...] | None = None,
        image: ImageReference | None = None,
        ready_deadline_s: int = 60,
        practice: bool = True,
    ) -> PlannedReplica:
        """A replica of the practice image with n-gram speculation."""
        port = port or free_port()
        speculative = f'{{"method":"ngram","num_speculative_tokens":{count},"prompt_lookup_max":4}}'
        return PlannedReplica(
            role=role,
            rank=rank,
            host=self.host.name,
            devices=devices,
            container=ContainerSpec(
                name=f"{self.deployment.name}-r{number}-{role}-{rank}",
                image=image
                or ImageReference(reference=PRACTICE_IMAGE, image_id=self.image_id),
                command=command
                or (
                    "vllm", "serve", "acme/target", "--port", "8000",
                    "--served-model-name", "chat", "--speculative-config", speculative,
                ),
                environment=tuple(sorted(dict((*QUICK, *environment)).items())),
                ports=(
                    PortMapping(
                        host=port, container=8000, purpose="api", host_address="127.0.0.1"
                    ),
                ),
                shm_size_bytes=64 << 20,
                stop_grace_s=10,
            ),
            served_model_name="chat",
            speculation=ExpectedSpeculation(method="ngram", num_speculative_tokens=count),
            health_port=port,
            ready_deadline_s=ready_deadline_s,
            practice=practice,
        )  # fmt: skip

    def plan(
        self,
        *replicas: PlannedReplica,
        number: int = 1,
        strategy: ReplaceStrategy = ReplaceStrategy.REMOVE_THEN_CREATE,
    ) -> Plan:
        """A plan of these replicas against the host as it is known now."""
        snapshots = host_snapshots([self.host])
        return replace(
            plan_value(
                name=self.deployment.name,
                number=number,
                method="ngram",
                replicas=replicas or (self.replica(number=number),),
            ),
            snapshot_digests=tuple((one.name, one.digest) for one in snapshots),
            replace=strategy,
        )

    def release(self, plan: Plan) -> Release:
        """Store, approve and begin the release of a plan."""
        request = request_for(stored(self.deployment, plan), RequestState.APPROVED)
        vote(request, self.bob)
        return start_release(self.alice, request, uuid.uuid4().hex)

    def deploy(self, plan: Plan) -> Release:
        """Release a plan and run its command to the end."""
        release = self.release(plan)
        drive(release)
        return release

    def our_containers(self) -> list[tuple[str, str]]:
        """(name, state) of the containers that carry this host's label."""
        with self.engine() as engine:
            listed = list_containers(
                engine, label=f"draftboard.instance={self.host.pk}"
            )
        return sorted((one.name, one.state) for one in listed)

    def until_accepted(self, release: Release, lines: int = 1) -> None:
        """Wait until the release's replica has printed some acceptance lines."""
        container_id = only_replica(release).container_id
        end = time.monotonic() + DEADLINE_S
        with self.engine() as engine:
            while time.monotonic() < end:
                printed = read_tail(engine, container_id, lines=500)
                if sum("SpecDecoding metrics:" in one.text for one in printed) >= lines:
                    return
                time.sleep(0.1)
        raise AssertionError(f"{release} printed no {lines} acceptance lines")

    def clean(self) -> None:
        """Remove every container of this world, and those whose name a test took."""
        with self.engine() as engine:
            for one in list_containers(engine):
                ours = one.labels.get("draftboard.instance") == str(self.host.pk)
                if ours or one.name.startswith(self.deployment.name):
                    signal_container(engine, one.container_id, "SIGKILL")
                    remove_when_dead(engine, one.container_id)


def remove_when_dead(engine: Engine, container_id: str) -> None:
    """Remove a container that was just killed."""
    end = time.monotonic() + 10
    while True:
        try:
            remove_container(engine, container_id)
        except Exception:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return


def make_world(docker_host: str, image_id: str) -> World:
    """Rows for one test; names are new each time, since the engine is shared."""
    cluster = ClusterFactory.create()
    host = HostFactory.create(
        cluster=cluster,
        name="here",
        docker_address=docker_host,
        docker_engine_id="",
        platform=Platform.CPU,
    )
    with open_engine(docker_host, host="here") as engine:
        store_observation(host, look_at(engine))
    alice = member(
        cluster.team,
        f"alice-{uuid.uuid4().hex[:6]}",
        TeamRole.OPERATOR,
        TeamRole.APPROVER,
    )
    return World(
        host=host,
        alice=alice,
        bob=member(cluster.team, f"bob-{uuid.uuid4().hex[:6]}", TeamRole.APPROVER),
        deployment=DeploymentFactory.create(
            cluster=cluster, name=f"t{uuid.uuid4().hex[:8]}", created_by=alice
        ),
        image_id=image_id,
    )


def drive(release: Release, *, done: str = "", hurry: bool = False) -> None:
    """Run the slices of the release's newest command until it ends, or until a step is done.

    ``hurry`` does not wait out the pauses between two tries.
    """
    end = time.monotonic() + DEADLINE_S
    command = Command.objects.filter(release=release).latest("created_at")
    while time.monotonic() < end:
        run_command(command.pk)
        command.refresh_from_db()
        release.refresh_from_db()
        if command.state not in {CommandState.READY, CommandState.RUNNING}:
            return
        if release.events.filter(step=done, kind=EventKind.DONE).exists():
            return
        if hurry:
            Command.objects.filter(pk=command.pk).update(not_before=None)
        time.sleep(0.1)
    raise AssertionError(f"{command} is still {command.state}, {release.state}")


def only_replica(release: Release) -> Replica:
    """The one replica of a release."""
    return release.replicas.get()
