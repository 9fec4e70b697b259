"""Build the practice image on a host through the Docker API."""

import tempfile
from hashlib import file_digest
from pathlib import Path

from deployments.services.image_builds import (
    BuiltImage,
    Content,
    ImageBuildError,
    build_image,
)
from deployments.services.local_host import LOCAL
from practice.image import (
    IMPORT_CHANGES,
    PRACTICE_IMAGE,
    PackingError,
    write_root_filesystem,
)

CONTENT_LABEL = "draftboard.practice.content"


def build_practice_image(host_name: str = LOCAL) -> BuiltImage:
    """Put the practice image onto a host, unless exactly this one is there.

    Raises:
        ImageBuildError: no host has the name, its engine does not answer, or this machine's
            Python cannot be packed.
    """
    with tempfile.TemporaryDirectory(prefix="draftboard-practice-") as directory:
        archive = Path(directory) / "root.tar"
        try:
            write_root_filesystem(archive)
        except PackingError as error:
            raise ImageBuildError(str(error)) from error
        with archive.open("rb") as packed:
            digest = file_digest(packed, "sha256").hexdigest()
        content = Content(
            reference=PRACTICE_IMAGE,
            changes=IMPORT_CHANGES,
            label=CONTENT_LABEL,
            digest=digest,
            opened=lambda: archive.open("rb"),
        )
        return build_image(host_name, content)
