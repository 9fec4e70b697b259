"""Build an image of this machine's own files on a host through the Docker API, without a registry."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO

from django.utils.translation import gettext as _

from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.images import find_image, import_image
from deployments.models import Host
from deployments.services.errors import UseCaseError
from deployments.services.host_access import open_host
from deployments.services.local_host import LOCAL, local_docker_address
from deployments.services.observation import look_at, store_observation


class ImageBuildError(UseCaseError):
    """The image cannot be built; the message says what is missing."""

    code = "image_build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What an image is made of: a digest that changes with it, and the root file system when asked for."""

    reference: str
    changes: tuple[str, ...]
    label: str
    digest: str
    opened: Callable[[], AbstractContextManager[BinaryIO]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltImage:
    """An image on a host; ``new`` is false if the same one was there already."""

    reference: str
    image_id: str
    new: bool


def build_image(host_name: str, content: Content) -> BuiltImage:
    """Put the image onto a host, unless exactly this one is there, and look at the host again.

    Raises:
        ImageBuildError: no host has the name, or its engine does not answer.
    """
    host = Host.objects.filter(name=host_name).order_by("created_at").first()
    if host is None and host_name != LOCAL:
        raise ImageBuildError(
            _("No host is called “%(name)s”. Register it first.") % {"name": host_name}
        )
    way = (
        open_engine(local_docker_address(), host=host_name)
        if host is None
        else open_host(host)
    )
    try:
        with way as engine:
            built = _build(engine, content)
            if host is not None:
                store_observation(host, look_at(engine))
    except DockerApiError as error:
        raise ImageBuildError(str(error)) from error
    return built


def _build(engine: Engine, content: Content) -> BuiltImage:
    known = find_image(engine, content.reference)
    if known is not None and known.labels.get(content.label) == content.digest:
        return BuiltImage(
            reference=content.reference, image_id=known.image_id, new=False
        )
    repository, _colon, tag = content.reference.rpartition(":")
    with content.opened() as archive:
        image_id = import_image(
            engine,
            archive,
            repository=repository,
            tag=tag,
            changes=(*content.changes, f"LABEL {content.label}={content.digest}"),
        )
    return BuiltImage(reference=content.reference, image_id=image_id, new=True)
