"""Images are found by what they really are; pulls report, end, and say why they failed."""

import threading
import uuid
from collections.abc import Iterator

import pytest

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import (
    DockerApiError,
    ImageMissingError,
    PullCancelledError,
    PullStalledError,
    RegistryDeniedError,
    RegistryUnavailableError,
)
from deployments.docker_api.images import (
    PullLimits,
    PullProgress,
    find_image,
    list_images,
    pull_image,
    registry_digest,
    repository_of,
)
from tests.docker_api.registry import Registry, serving

pytestmark = pytest.mark.docker


@pytest.fixture
def registry(engine: Engine) -> Iterator[Registry]:
    with serving(Registry(salt=uuid.uuid4().hex)) as made:
        yield made
        found = find_image(engine, made.reference)
        if found is not None:
            engine.call(
                "DELETE",
                f"/images/{found.image_id}",
                act="clean",
                params={"force": "1"},
            )


def accept(_progress: PullProgress) -> bool:
    return True


@pytest.mark.parametrize(
    ("reference", "repository"),
    [
        ("vllm/vllm-openai:v0.32.0", "vllm/vllm-openai"),
        ("registry:5000/a/b", "registry:5000/a/b"),
        ("registry:5000/a/b:tag", "registry:5000/a/b"),
        ("busybox", "busybox"),
        ("a/b@sha256:" + "0" * 64, "a/b"),
        ("a/b:1@sha256:" + "0" * 64, "a/b"),
    ],
)
def test_repository_of_a_reference(reference: str, repository: str) -> None:
    assert repository_of(reference) == repository


def test_a_pulled_image_is_found_by_name_digest_and_id(
    engine: Engine, registry: Registry
) -> None:
    shown: list[PullProgress] = []

    def note(progress: PullProgress) -> bool:
        shown.append(progress)
        return True

    assert find_image(engine, registry.reference) is None
    pull_image(engine, registry.reference, digest=registry.digest, on_progress=note)
    by_digest = find_image(engine, registry.reference, digest=registry.digest)
    assert by_digest is not None
    assert find_image(engine, "other:1", image_id=by_digest.image_id) == by_digest
    assert shown[-1].layers_done == shown[-1].layers == 1
    pull_image(engine, registry.reference, on_progress=accept)
    by_name = find_image(engine, registry.reference)
    assert by_name is not None
    assert by_name.image_id == by_digest.image_id
    assert by_name in list_images(engine)


def test_an_image_that_the_registry_lacks_is_missing(
    engine: Engine, registry: Registry
) -> None:
    with pytest.raises(ImageMissingError):
        pull_image(engine, f"{repository_of(registry.reference)}:2", on_progress=accept)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, RegistryDeniedError), (429, RegistryUnavailableError)],
)
def test_a_registry_that_refuses_is_told_apart(
    engine: Engine, registry: Registry, status: int, kind: type[DockerApiError]
) -> None:
    registry.refuse = status
    with pytest.raises(kind):
        pull_image(engine, registry.reference, on_progress=accept)


def test_a_host_asks_the_registry_for_a_digest_and_pulls_nothing(
    engine: Engine, registry: Registry
) -> None:
    assert registry_digest(engine, registry.reference) == registry.digest
    named = registry_digest(engine, registry.reference, digest=registry.digest)
    assert named == registry.digest
    assert find_image(engine, registry.reference) is None
    with pytest.raises(ImageMissingError):
        registry_digest(engine, f"{repository_of(registry.reference)}:2")


def test_a_registry_that_is_not_there_may_be_tried_again(engine: Engine) -> None:
    with pytest.raises(RegistryUnavailableError) as caught:
        pull_image(engine, "127.0.0.1:1/a/b:1", on_progress=accept)
    assert caught.value.retryable


def test_a_pull_without_progress_ends(engine: Engine, registry: Registry) -> None:
    registry.stall = threading.Event()
    with pytest.raises(PullStalledError, match="no progress"):
        pull_image(
            engine,
            registry.reference,
            on_progress=accept,
            limits=PullLimits(total_s=30, stall_s=1),
        )


def test_a_pull_can_be_cancelled(engine: Engine, registry: Registry) -> None:
    with pytest.raises(PullCancelledError):
        pull_image(engine, registry.reference, on_progress=lambda _progress: False)
