"""Build the practice image on a host through the Docker API."""

import tempfile
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from django.utils.translation import gettext as _

from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.images import find_image, import_image
from deployments.models import Host
from deployments.services.errors import UseCaseError
from deployments.services.host_access import open_host
from deployments.services.local_host import LOCAL, local_docker_address
from deployments.services.observation import look_at, store_observation
from practice.image import (
    IMPORT_CHANGES,
    PRACTICE_IMAGE,
    PackingError,
    write_root_filesystem,
)


class PracticeImageError(UseCaseError):
    """The image cannot be built; the message says what is missing."""

    code = "practice_image"


CONTENT_LABEL = "draftboard.practice.content"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltImage:
    """The practice image on a host; ``new`` is false if the same one was there already."""

    reference: str
    image_id: str
    new: bool


def build_practice_image(host_name: str = LOCAL) -> BuiltImage:
    """Put the practice image onto a host, unless exactly this one is there.

    Raises:
        PracticeImageError: no host has the name, its engine does not answer, or this machine's
            Python cannot be packed.
    """
    host = Host.objects.filter(name=host_name).order_by("created_at").first()
    if host is None and host_name != LOCAL:
        raise PracticeImageError(
            _("No host is called “%(name)s”. Register it first.") % {"name": host_name}
        )
    way = (
        open_engine(local_docker_address(), host=host_name)
        if host is None
        else open_host(host)
    )
    try:
        with way as engine:
            built = _build(engine)
            if host is not None:
                store_observation(host, look_at(engine))
    except (DockerApiError, PackingError) as error:
        raise PracticeImageError(str(error)) from error
    return built


def _build(engine: Engine) -> BuiltImage:
    repository, _colon, tag = PRACTICE_IMAGE.rpartition(":")
    with tempfile.TemporaryDirectory(prefix="draftboard-practice-") as directory:
        archive = Path(directory) / "root.tar"
        write_root_filesystem(archive)
        with archive.open("rb") as content:
            digest = file_digest(content, "sha256").hexdigest()
        known = find_image(engine, PRACTICE_IMAGE)
        if known is not None and known.labels.get(CONTENT_LABEL) == digest:
            return BuiltImage(
                reference=PRACTICE_IMAGE, image_id=known.image_id, new=False
            )
        with archive.open("rb") as content:
            image_id = import_image(
                engine,
                content,
                repository=repository,
                tag=tag,
                changes=(*IMPORT_CHANGES, f"LABEL {CONTENT_LABEL}={digest}"),
            )
    return BuiltImage(reference=PRACTICE_IMAGE, image_id=image_id, new=True)
