"""Run one program in a container without network, read what it printed, and remove the container."""

import base64
import binascii
import hashlib
import time
import uuid
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from deployments.docker_api.archive import put_file
from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    ContainerFacts,
    create_container,
    inspect_container,
    list_containers,
    remove_container,
    signal_container,
    start_container,
)
from deployments.docker_api.errors import StateConflictError
from deployments.docker_api.images import ImageFacts
from deployments.docker_api.logs import read_head, read_tail
from deployments.docker_api.policy import ContainerPolicy
from deployments.planning.container import (
    ContainerSpec,
    ImageReference,
    Mount,
    NetworkMode,
)
from deployments.planning.text import Text, text
from deployments.services.errors import UseCaseError

PURPOSE = "draftboard.purpose"
OWNER = "draftboard.reader"
POLL_S = 0.1
STOPPED_WITHIN_S = 10
MOST_LINES = 20_000
PLACE = "/draftboard-program.py"


class ProgramError(UseCaseError):
    """The program gave no answer; the message says why."""

    code = "program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """As whom a program runs: those of the container that it stands in for."""

    user: str | None = None
    cap_add: tuple[str, ...] = ()
    group_add: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A Python program with its arguments and what it may see.

    It prints ``begin`` with a checksum, packed text and ``end``. ``owner`` is whose leftovers a later
    run may remove. ``longest_s`` is how long it may run.
    """

    purpose: str
    owner: str
    source: str
    arguments: tuple[str, ...]
    begin: str
    end: str
    mounts: tuple[Mount, ...] = ()
    rights: Rights = Rights()
    longest_s: float = 60
    largest_bytes: int = 64 << 20


def run_program(
    engine: Engine,
    image: ImageFacts,
    program: Program,
    on_wait: Callable[[], None] = lambda: None,
) -> bytes:
    """Run the program by the image's own python3; returns what it packed.

    Raises:
        ProgramError: it took too long, failed, or printed something else.
        NoEntrypointError: the image has no python3.
        DockerApiError: the Docker Engine refuses or does not answer.
    """
    container_id = _create(engine, image, program)
    try:
        put_file(engine, container_id, PLACE, program.source.encode())
        start_container(engine, container_id)
        ended = wait_ended(engine, container_id, program.longest_s, on_wait)
        if ended is None:
            raise ProgramError(
                text(
                    "Looking took longer than {seconds} s on {host}. Try again when the host or its "
                    "storage is less busy.",
                    seconds=round(program.longest_s),
                    host=engine.host,
                )
            )
        if ended.exit_code != 0:
            raise ProgramError(_failed(engine, container_id, ended))
        lines = [
            line.text for line in read_head(engine, container_id, most_lines=MOST_LINES)
        ]
    finally:
        remove_for_good(engine, container_id)
    return unpacked(lines, program.begin, program.end, program.largest_bytes)


def remove_leftovers(engine: Engine, owner: str) -> None:
    """Remove containers of this owner that a killed worker left behind.

    Raises:
        DockerApiError: the Docker Engine refuses or does not answer.
    """
    for one in list_containers(engine, label=f"{OWNER}={owner}"):
        remove_for_good(engine, one.container_id)


def remove_for_good(engine: Engine, container_id: str) -> None:
    """Remove a container, after ending it where it runs.

    Raises:
        DockerApiError: the Docker Engine refuses or does not answer.
    """
    try:
        remove_container(engine, container_id)
    except StateConflictError:
        signal_container(engine, container_id, "SIGKILL")
        wait_ended(engine, container_id, STOPPED_WITHIN_S)
        remove_container(engine, container_id)


def wait_ended(
    engine: Engine,
    container_id: str,
    longest_s: float,
    on_wait: Callable[[], None] = lambda: None,
) -> ContainerFacts | None:
    """The container when it has ended, ``None`` if it has not within the time, or is gone.

    Raises:
        DockerApiError: the Docker Engine does not answer.
    """
    deadline = time.monotonic() + longest_s
    while True:
        facts = inspect_container(engine, container_id)
        if facts is None:
            return None
        if not facts.running and facts.ever_started:
            return facts
        if time.monotonic() > deadline:
            return None
        on_wait()
        time.sleep(POLL_S)


def unpacked(lines: Iterable[str], begin: str, end: str, largest_bytes: int) -> bytes:
    """What a program packed between two marks; its checksum shows that no line is missing.

    Raises:
        ProgramError: there are no marks, a line is missing, or it unpacks to too much.
    """
    printed = list(lines)
    begins = [line for line in printed if line.startswith(begin)]
    if not begins or end not in printed:
        raise ProgramError(text("The program in the image printed no answer."))
    start = printed.index(begins[0])
    try:
        data = base64.b64decode(
            "".join(printed[start + 1 : printed.index(end)]), validate=True
        )
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(data, largest_bytes)
        whole = hashlib.sha256(data).hexdigest() == begins[0].split()[-1]
    except (binascii.Error, zlib.error):
        whole, content, unpacker = False, b"", zlib.decompressobj()
    if not whole:
        raise ProgramError(
            text("What the program in the image printed came incomplete. Try again.")
        )
    if unpacker.unconsumed_tail:
        raise ProgramError(
            text("What the program in the image printed is larger than is read.")
        )
    return content


def _create(engine: Engine, image: ImageFacts, program: Program) -> str:
    spec = ContainerSpec(
        name=f"draftboard-{program.purpose}-{uuid.uuid4().hex[:12]}",
        image=ImageReference(reference=image.image_id, image_id=image.image_id),
        command=("python3", "-I", "-S", "-B", PLACE, *program.arguments),
        mounts=program.mounts,
        user=program.rights.user,
        cap_add=program.rights.cap_add,
        group_add=program.rights.group_add,
        network_mode=NetworkMode.NONE,
        shm_size_bytes=1 << 20,
        pids_limit=64,
    )
    return create_container(
        engine,
        spec,
        image_id=image.image_id,
        labels={PURPOSE: program.purpose, OWNER: program.owner},
        policy=ContainerPolicy(
            mount_roots=tuple(mount.source for mount in program.mounts)
        ),
    )


def _failed(engine: Engine, container_id: str, ended: ContainerFacts) -> Text:
    last = [line.text for line in read_tail(engine, container_id, lines=1)]
    return text(
        "The program in the image ended with {code}: {line}",
        code=ended.exit_code or 0,
        line=(last or [ended.error])[0][:300],
    )
