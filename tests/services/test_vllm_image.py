"""The image of a real vLLM: half an archive makes no image, and the same recipe is packed once."""

import io
import tarfile
from typing import BinaryIO

import pytest

from deployments.docker_api.client import open_engine
from deployments.docker_api.images import find_image
from deployments.models import Host
from deployments.services import vllm_image
from deployments.services.image_builds import ImageBuildError
from practice.vllm_cpu.install import InstallError
from tests.factories import HostFactory

pytestmark = [pytest.mark.django_db, pytest.mark.docker]
REFERENCE = "draftboard/vllm-cpu-packing:test"


@pytest.fixture
def bench(docker_host: str, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr(vllm_image, "VLLM_IMAGE", REFERENCE)
    monkeypatch.setattr(vllm_image, "recipe", lambda: "one-recipe")
    host: Host = HostFactory.create(
        name="bench", docker_address=docker_host, docker_engine_id=""
    )
    return host


def test_half_an_archive_is_no_image_and_the_same_recipe_is_packed_once(
    bench: Host, docker_host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = [True]

    def pack(stream: BinaryIO) -> None:
        with tarfile.open(fileobj=stream, mode="w|") as archive:
            entry = tarfile.TarInfo("file")
            entry.size = 1 << 16
            archive.addfile(entry, io.BytesIO(bytes(entry.size)))
            if broken:
                raise InstallError("A package file is damaged.")

    monkeypatch.setattr(vllm_image, "write_root_filesystem", pack)
    with pytest.raises(ImageBuildError, match="damaged"):
        vllm_image.build_vllm_image("bench")
    with open_engine(docker_host, host="bench") as engine:
        assert find_image(engine, REFERENCE) is None
    broken.clear()
    assert vllm_image.build_vllm_image("bench").new
    assert not vllm_image.build_vllm_image("bench").new
    bench.refresh_from_db()
    assert REFERENCE in {image["reference"] for image in bench.images}
