"""The config.json of a model that lies on a host, read without running anything there.

A container is created from any image that the host has, with the directory mounted read-only and
no network, and never started; the engine's archive call takes the two files out of it.
"""

import posixpath
import uuid
from dataclasses import dataclass

from django.utils.translation import gettext as _

from deployments.docker_api.archive import read_file
from deployments.docker_api.client import Engine
from deployments.docker_api.containers import create_container, remove_container
from deployments.docker_api.errors import DockerApiError, MountMissingError
from deployments.docker_api.images import ImageFacts, list_images
from deployments.docker_api.policy import ContainerPolicy
from deployments.models import Host
from deployments.planning.container import (
    ContainerSpec,
    ImageReference,
    Mount,
    NetworkMode,
)
from deployments.planning.model_config.documents import (
    CONFIG,
    INDEX,
    LARGEST_CONFIG_BYTES,
    LARGEST_INDEX_BYTES,
)
from deployments.services.errors import UseCaseError
from deployments.services.host_access import open_host
from deployments.services.rollout.rollout import policy_of

MOUNTED_AT = "/model"
PURPOSE = ("draftboard.purpose", "model-config")


class ModelDirectoryError(UseCaseError):
    """The directory shows no model; the message says why and what to do."""

    code = "model_directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """What was found in the directory; ``index`` is ``None`` for weights in one file."""

    config: bytes
    index: bytes | None


def read_model_directory(host: Host, directory: str) -> ModelFiles:
    """Read config.json and, where there is one, model.safetensors.index.json.

    Raises:
        ModelDirectoryError: the directory is outside what plans may mount, is not there, holds no
            config.json, the host has no image at all, or its engine does not answer.
    """
    path = directory.rstrip("/")
    roots = policy_of(host).mount_roots
    inside = any(path == root or path.startswith(f"{root}/") for root in roots)
    if not inside or posixpath.normpath(path) != path:
        raise ModelDirectoryError(
            _(
                "%(path)s is outside the model directories of %(host)s (%(roots)s). Name a "
                "directory below one of them, or let a team admin add it to the cluster."
            )
            % {"path": path, "host": host.name, "roots": ", ".join(roots) or "-"}
        )
    try:
        with open_host(host) as engine:
            return _read(engine, host, path)
    except MountMissingError as error:
        raise ModelDirectoryError(
            _("%(host)s has no directory %(path)s.") % {"host": host.name, "path": path}
        ) from error
    except DockerApiError as error:
        raise ModelDirectoryError(str(error)) from error


def _read(engine: Engine, host: Host, path: str) -> ModelFiles:
    images = list_images(engine)
    if not images:
        raise ModelDirectoryError(
            _(
                "%(host)s has no image yet, and reading needs any one of them. Pull the "
                "engine's image first."
            )
            % {"host": host.name}
        )
    container_id = _create(engine, min(images, key=lambda one: one.size_bytes), path)
    try:
        config = read_file(
            engine,
            container_id,
            f"{MOUNTED_AT}/{CONFIG}",
            largest_bytes=LARGEST_CONFIG_BYTES,
        )
        index = read_file(
            engine,
            container_id,
            f"{MOUNTED_AT}/{INDEX}",
            largest_bytes=LARGEST_INDEX_BYTES,
        )
    finally:
        remove_container(engine, container_id)
    if config is None:
        raise ModelDirectoryError(
            _(
                "%(path)s on %(host)s holds no config.json. Name the directory of one model."
            )
            % {"path": path, "host": host.name}
        )
    return ModelFiles(config=config, index=index)


def _create(engine: Engine, image: ImageFacts, path: str) -> str:
    spec = ContainerSpec(
        name=f"draftboard-model-{uuid.uuid4().hex[:12]}",
        image=ImageReference(reference=image.image_id, image_id=image.image_id),
        command=("true",),
        mounts=(Mount(source=path, target=MOUNTED_AT),),
        network_mode=NetworkMode.NONE,
        shm_size_bytes=1 << 20,
        pids_limit=16,
    )
    return create_container(
        engine,
        spec,
        image_id=image.image_id,
        labels=dict([PURPOSE]),
        policy=ContainerPolicy(mount_roots=(path,)),
    )
