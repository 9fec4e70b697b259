"""Profiles of wheels and images: a real archive, and a real Docker Engine."""

import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.containers import list_containers
from deployments.docker_api.images import import_image
from deployments.planning.engines.differences import unpack
from deployments.planning.engines.profile import find_profile, profile_document
from deployments.planning.engines.reading.reader import read_profile
from deployments.services.engine_images import EngineImageError, _unpacked
from deployments.services.engine_profiles import (
    EngineProfileError,
    profile_of_archive,
    profile_of_image,
    ship_profile,
)
from practice.image import IMPORT_CHANGES, write_root_filesystem
from tests.planning.engines.sources import VLLM

REPOSITORY = "draftboard/profile-test"
ENGINE_HOME = "opt/engine"


def test_wheel_gives_the_same_profile_as_its_files(tmp_path: Path) -> None:
    path = tmp_path / "vllm-0.99.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in VLLM.items():
            if name.startswith("vllm/"):
                wheel.writestr(name, text)
        wheel.writestr("vllm-0.99.0.dist-info/METADATA", "Version: 0.99.0+cpu\n")
        wheel.writestr("vllm/model_executor/models/big.py", "x" * 5_000_000)
    profile = profile_of_archive(path)
    expected = profile_document(read_profile(VLLM, source=path.name))
    assert profile_document(profile) == {**expected, "entrypoint": None}


def test_shipping_what_ships_changes_nothing(tmp_path: Path) -> None:
    for reference in ("vllm==0.32.0", "vllm-ascend==0.23.0"):
        path = ship_profile(find_profile(reference), tmp_path)
        shipped = resources.files("deployments.planning.engines") / "data" / path.name
        assert path.read_text() == shipped.read_text(encoding="utf-8")


def test_new_release_is_shipped_as_a_difference_at_the_end(tmp_path: Path) -> None:
    newest = find_profile("vllm==0.33.0")
    path = ship_profile(
        replace(newest, version="0.34.0", vllm_version="0.34.0"), tmp_path
    )
    *_older, last = unpack(json.loads(path.read_text()), {})
    assert last == {
        **profile_document(newest),
        "version": "0.34.0",
        "vllm_version": "0.34.0",
    }


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "printed no answer"),
        (["PROFILE-BEGIN abc", "PROFILE-END"], "came incomplete"),
        (["PROFILE-BEGIN abc", "!!", "PROFILE-END"], "came incomplete"),
        (["PROFILE-BEGIN abc", "AAAA"], "printed no answer"),
    ],
)
def test_what_came_incomplete_is_not_read(lines: list[str], sentence: str) -> None:
    with pytest.raises(EngineImageError, match=sentence):
        _unpacked(lines)


@pytest.fixture(scope="module")
def engine(docker_host: str) -> Iterator[Engine]:
    with open_engine(docker_host) as opened:
        yield opened


def _image(engine: Engine, folder: Path, tag: str, files: dict[str, str]) -> str:
    """The practice image's root with other Python files; its entrypoint is of another kind."""
    archive = folder / "root.tar"
    write_root_filesystem(archive)
    with tarfile.open(archive, "a") as file:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"{ENGINE_HOME}/{name}")
            entry.size = len(text.encode())
            file.addfile(entry, io.BytesIO(text.encode()))
    kept = tuple(one for one in IMPORT_CHANGES if not one.startswith("ENTRYPOINT"))
    changes = (
        *kept,
        f"ENV PYTHONPATH=/{ENGINE_HOME}",
        f"ENTRYPOINT {json.dumps(['/opt/start', 'serve'])}",
    )
    with archive.open("rb") as content:
        import_image(engine, content, repository=REPOSITORY, tag=tag, changes=changes)
    return f"{REPOSITORY}:{tag}"


@pytest.mark.docker
@pytest.mark.django_db
def test_image_is_read_by_a_container_that_is_gone_afterwards(
    engine: Engine, tmp_path: Path
) -> None:
    files = {path: text for path, text in VLLM.items() if path.startswith("vllm/")}
    metadata = {"vllm-0.99.0.dist-info/METADATA": "Name: vllm\nVersion: 0.99.0\n"}
    reference = _image(engine, tmp_path, "whole", {**files, **metadata})
    before = {one.container_id for one in list_containers(engine)}
    profile = profile_of_image(reference)
    expected = read_profile(VLLM, source="miniature")
    assert profile.entrypoint == ("/opt/start", "serve")
    assert profile.source.startswith(f"{reference} (sha256:")
    assert profile.arguments == expected.arguments
    assert profile.keys == expected.keys
    assert profile.spellings == expected.spellings
    assert {one.container_id for one in list_containers(engine)} <= before


@pytest.mark.docker
@pytest.mark.django_db
def test_image_without_vllm_says_so(engine: Engine, tmp_path: Path) -> None:
    reference = _image(engine, tmp_path, "empty", {})
    with pytest.raises(EngineImageError, match="holds no Python package vllm"):
        profile_of_image(reference)


@pytest.mark.docker
@pytest.mark.django_db
def test_image_that_is_not_there_says_so(engine: Engine) -> None:
    with pytest.raises(EngineProfileError, match="Pull it there first"):
        profile_of_image(f"{REPOSITORY}:missing")


@pytest.mark.django_db
def test_host_that_is_not_registered_says_so() -> None:
    with pytest.raises(EngineProfileError, match="No host is called “elsewhere”"):
        profile_of_image("vllm/vllm-openai:v0.32.0", "elsewhere")
