"""The practice image is built once for one content, and found by planning at once."""

from pathlib import Path

import pytest

from deployments.models import Host
from deployments.services.image_builds import ImageBuildError
from deployments.services.practice_image import build_practice_image
from practice.image import PRACTICE_IMAGE
from tests.factories import HostFactory

pytestmark = pytest.mark.django_db


def test_an_unknown_host_is_named() -> None:
    with pytest.raises(ImageBuildError, match="gpu-9"):
        build_practice_image("gpu-9")


def test_without_an_engine_one_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(ImageBuildError, match="Start Docker"):
        build_practice_image()


@pytest.mark.docker
def test_the_same_content_is_built_once_and_shown_on_the_host(docker_host: str) -> None:
    host: Host = HostFactory.create(
        name="bench", docker_address=docker_host, docker_engine_id=""
    )
    first = build_practice_image("bench")
    again = build_practice_image("bench")
    host.refresh_from_db()
    assert (first.reference, again.new) == (PRACTICE_IMAGE, False)
    assert first.image_id == again.image_id
    shown = {image["reference"]: image["image_id"] for image in host.images}
    assert shown[PRACTICE_IMAGE] == first.image_id
