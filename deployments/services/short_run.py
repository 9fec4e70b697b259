"""Run a shell script in a short container: a read-only root, little time, always removed."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import start_container
from deployments.docker_api.errors import NoEntrypointError
from deployments.docker_api.images import ImageFacts
from deployments.docker_api.logs import read_head
from deployments.docker_api.policy import ContainerPolicy
from deployments.docker_api.short_containers import create_short_container
from deployments.planning.container import (
    ContainerSpec,
    DeviceNode,
    DeviceRequest,
    ImageReference,
    LogOptions,
    Mount,
    NetworkMode,
)
from deployments.planning.text import text
from deployments.services.errors import UseCaseError
from deployments.services.throwaway import OWNER, PURPOSE, remove_for_good, wait_ended

MOST_LINES = 4000
NO_PROGRAM = 127
"""What the engine's init ends with when there is nothing that it could start."""


class ShortRunError(UseCaseError):
    """The container gave no answer; the message says why."""

    code = "short_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortRun:
    """A command and what it may see; ``owner`` is whose leftovers a later run may remove.

    ``policy`` is what its mounts are held against, without one they are allowed as they stand.
    ``network`` is the host's only where the host's own settings are read.
    """

    purpose: str
    owner: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    mounts: tuple[Mount, ...] = ()
    devices: tuple[DeviceNode, ...] = ()
    device_requests: tuple[DeviceRequest, ...] = ()
    cap_add: tuple[str, ...] = ()
    group_add: tuple[str, ...] = ()
    user: str | None = None
    privileged: bool = False
    read_only: bool = True
    network: NetworkMode = NetworkMode.NONE
    policy: ContainerPolicy | None = None
    longest_s: float = 60
    pids_limit: int = 64
    most_lines: int = MOST_LINES
    on_wait: Callable[[], None] = field(default=lambda: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortAnswer:
    """What it printed, both streams, and how it ended."""

    lines: tuple[str, ...]
    exit_code: int
    oom_killed: bool = False


def run_short(engine: Engine, image: ImageFacts, run: ShortRun) -> ShortAnswer:
    """Run the command to its end and read what it printed.

    Raises:
        ShortRunError: it took too long, or the image has no such program.
        DeviceUnavailableError: the host lacks a device that should be mapped.
        DockerApiError: the Docker Engine refuses or does not answer.
    """
    container_id = create_short_container(
        engine,
        _spec(image, run),
        image_id=image.image_id,
        labels={PURPOSE: run.purpose, OWNER: run.owner},
        policy=run.policy
        or ContainerPolicy(mount_roots=tuple(one.source for one in run.mounts)),
        privileged=run.privileged,
        read_only=run.read_only,
    )
    try:
        start_container(engine, container_id)
        ended = wait_ended(engine, container_id, run.longest_s, run.on_wait)
        if ended is None:
            raise ShortRunError(
                text(
                    "The container took longer than {seconds} s on {host} and was ended. Try again "
                    "when the host is less busy.",
                    seconds=round(run.longest_s),
                    host=engine.host,
                )
            )
        if ended.exit_code == NO_PROGRAM:
            raise _without_program(image, run)
        told = read_head(engine, container_id, most_lines=run.most_lines)
        return ShortAnswer(
            lines=tuple(line.text for line in told),
            exit_code=ended.exit_code or 0,
            oom_killed=ended.oom_killed,
        )
    except NoEntrypointError as error:
        raise _without_program(image, run) from error
    finally:
        remove_for_good(engine, container_id)


def _without_program(image: ImageFacts, run: ShortRun) -> ShortRunError:
    return ShortRunError(
        text(
            "The image {image} has no {program}: choose another image.",
            image=(image.references or (image.image_id[:19],))[0],
            program=run.command[0],
        )
    )


def _spec(image: ImageFacts, run: ShortRun) -> ContainerSpec:
    return ContainerSpec(
        name=f"draftboard-{run.purpose}-{uuid.uuid4().hex[:12]}",
        image=ImageReference(reference=image.image_id, image_id=image.image_id),
        command=run.command,
        user=run.user,
        environment=run.environment,
        mounts=run.mounts,
        devices=run.devices,
        device_requests=run.device_requests,
        cap_add=run.cap_add,
        group_add=run.group_add,
        network_mode=run.network,
        shm_size_bytes=1 << 20,
        pids_limit=run.pids_limit,
        logging=LogOptions(max_size="4m", max_file=1),
    )
