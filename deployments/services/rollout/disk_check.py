"""Disk space of every host of a plan: what is free there, asked by a throw-away container, and what is needed.

The Docker API does not say how much is free. A container's root lies in the engine's data root, as
images, volumes and logs do, so a container without network that reads it knows.
"""

import json
import logging
from collections.abc import Iterable
from importlib import resources

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import (
    DockerApiError,
    MountMissingError,
    NoEntrypointError,
)
from deployments.docker_api.images import ImageFacts, find_image
from deployments.docker_api.storage import volume_names
from deployments.models import Host, PreflightCheck
from deployments.planning.container import ImageReference, Mount
from deployments.planning.disk import (
    CACHE_BYTES,
    DiskNeed,
    DiskSpace,
    judge_disk,
    logs_bytes,
)
from deployments.planning.sizes import MODELS_IN_CONTAINER
from deployments.planning.text import said_by, text
from deployments.services.model_listing import images_with_python
from deployments.services.rollout.checklist import Checklist, Told
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Layout, Member
from deployments.services.throwaway import (
    Program,
    ProgramError,
    remove_leftovers,
    run_program,
)

logger = logging.getLogger(__name__)
PURPOSE = "disk"
LONGEST_S = 30
BEGIN, END = "DISK-BEGIN", "DISK-END"
ROOT = "/"
SCRIPT = (
    resources.files("deployments.services")
    .joinpath("disk_script.py")
    .read_text(encoding="utf-8")
)


def prove_disks(layout: Layout, found: Checklist) -> None:
    """Prove for every host that images to pull, caches and logs fit.

    Raises:
        StepFailedError: they do not, in a release.
        DockerApiError: a host does not answer, in a release.
    """
    for host in layout.hosts:
        with layout.engine(host) as engine:
            prove_disk(layout, found, engine, host)


def prove_disk(layout: Layout, found: Checklist, engine: Engine, host: Host) -> None:
    """The same for one host, before an image is pulled there.

    Raises:
        StepFailedError: it does not fit, in a release.
        DockerApiError: the host does not answer, in a release.
    """
    with found.checking(PreflightCheck.DISK, host) as told:
        _look(layout, engine, host, told)


def _look(layout: Layout, engine: Engine, host: Host, told: Told) -> None:
    members = layout.members_on(host)
    need = _need(layout, engine, members)
    try:
        space = _space(layout, engine, members)
    except ProgramError as error:
        told.skip(
            text(
                "How much is free on {host} was not read: {why}",
                host=host.name,
                why=said_by(error),
            )
        )
        return
    verdict = judge_disk(host.name, space, need)
    if verdict.fits is False:
        raise StepFailedError("disk_full", verdict.sentence, verdict.fix)
    if verdict.fits is None:
        told.note(verdict.sentence)
    else:
        told.sentence = verdict.sentence


def _need(layout: Layout, engine: Engine, members: Iterable[Member]) -> DiskNeed:
    members = list(members)
    there = volume_names(engine)
    wanted = {
        volume.name for one in members for volume in one.planned.container.volumes
    }
    images = dict.fromkeys(one.planned.container.image for one in members)
    return DiskNeed(
        images={
            image.reference: _size_elsewhere(layout, engine, image)
            for image in images
            if not _is_there(engine, image)
        },
        caches=CACHE_BYTES * len(wanted - there),
        logs=sum(logs_bytes(one.planned.container) for one in members),
    )


def _is_there(engine: Engine, image: ImageReference) -> bool:
    return _found(engine, image) is not None


def _found(engine: Engine, image: ImageReference) -> ImageFacts | None:
    return find_image(
        engine, image.reference, digest=image.digest, image_id=image.image_id
    )


def _size_elsewhere(
    layout: Layout, engine: Engine, image: ImageReference
) -> int | None:
    """The size of an image as another host of the plan has it; a registry does not say it by this way."""
    for host in layout.hosts:
        if host.name == engine.host:
            continue
        try:
            with layout.engine(host) as other:
                found = _found(other, image)
        except DockerApiError:
            logger.info("image not looked for", extra={"host": host.name})
            continue
        if found is not None:
            return found.size_bytes
    return None


def _space(layout: Layout, engine: Engine, members: Iterable[Member]) -> DiskSpace:
    mounts = {
        mount.source: mount
        for one in members
        for mount in one.planned.container.mounts
        if mount.target.startswith(f"{MODELS_IN_CONTAINER}/")
    }
    owner = str(layout.release.pk)
    remove_leftovers(engine, owner)
    free = _ask(layout, engine, owner, tuple(mounts.values()))
    return DiskSpace(
        root=free[ROOT],
        models={one.source: free[one.target] for one in mounts.values()},
    )


def _ask(
    layout: Layout, engine: Engine, owner: str, mounts: tuple[Mount, ...]
) -> dict[str, int]:
    """Free bytes by path in the container, read in the first image of the host that has Python.

    Raises:
        ProgramError: no image can do it, a directory is not there, or it took too long.
        DockerApiError: the engine refuses or does not answer.
    """
    asked = {"begin": BEGIN, "end": END, "paths": [ROOT, *(m.target for m in mounts)]}
    program = Program(
        purpose=PURPOSE,
        owner=owner,
        source=SCRIPT,
        arguments=(json.dumps(asked),),
        begin=BEGIN,
        end=END,
        mounts=mounts,
        longest_s=LONGEST_S,
        largest_bytes=1 << 16,
    )
    for image in images_with_python(engine):
        try:
            answer = run_program(engine, image, program, layout.keep_alive)
        except NoEntrypointError:
            continue
        except MountMissingError as error:
            raise ProgramError(said_by(error)) from error
        return _sizes(answer)
    raise ProgramError(text("No image there has the Python that looking needs."))


def _sizes(answer: bytes) -> dict[str, int]:
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise ProgramError(
            text("The program in the image printed no answer.")
        ) from error
    return {str(path): int(free) for path, free in found.items()}
