"""Which image a container runs: platform, revision, cluster rewrites, and what the host has."""

from deployments.planning.container import ImageReference
from deployments.planning.snapshot import ClusterSettings, HostSnapshot, ImageSnapshot

PRACTICE_REPOSITORY = "draftboard/practice-vllm"


def is_practice(image: str | None) -> bool:
    """Whether an image is the practice image, which serves no real model."""
    return image is not None and split_reference(image)[0] == PRACTICE_REPOSITORY


def split_reference(reference: str) -> tuple[str, str | None]:
    """Split off the tag; a port in a registry name is no tag, a digest stays with the name."""
    name, colon, tag = reference.rpartition(":")
    if not colon or "/" in tag or "@" in name:
        return reference, None
    return name, tag


def rewrite(reference: str, settings: ClusterSettings) -> str:
    """Apply the longest matching prefix of the cluster's image rewrites."""
    for prefix, replacement in sorted(
        settings.image_rewrites, key=lambda pair: (-len(pair[0]), pair)
    ):
        rest = reference[len(prefix) :]
        if reference.startswith(prefix) and (not rest or rest[0] in "/:@"):
            return replacement + rest
        if reference.startswith(prefix) and prefix.endswith("/"):
            return replacement + rest
    return reference


def resolve(reference: str, host: HostSnapshot) -> ImageReference:
    """Name the exact image when the host has it, else leave it unresolved."""
    for image in sorted(host.images, key=lambda one: (one.reference, one.image_id)):
        if _same(image, reference):
            return ImageReference(
                reference=reference, digest=image.digest, image_id=image.image_id
            )
    return ImageReference(reference=reference)


def _same(image: ImageSnapshot, reference: str) -> bool:
    return _full(image.reference) == _full(reference)


def _full(reference: str) -> str:
    name = reference.removeprefix("docker.io/").removeprefix("library/")
    return name if split_reference(name)[1] or "@" in name else f"{name}:latest"
