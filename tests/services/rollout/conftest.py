"""The practice image on the tests' engine, and a world around it."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from celery import current_app

from deployments.docker_api.client import open_engine
from deployments.docker_api.images import find_image, import_image
from deployments.services.rollout import running, stopping, verifying
from practice.image import IMPORT_CHANGES, PRACTICE_IMAGE, write_root_filesystem
from tests.services.rollout.world import World, make_world


@pytest.fixture(scope="session")
def practice_image_id(
    docker_host: str, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The practice image under its real name; built only if its content changed."""
    archive: Path = tmp_path_factory.mktemp("practice") / "root.tar"
    write_root_filesystem(archive)
    digest = sha256(archive.read_bytes()).hexdigest()
    label = "draftboard.practice.content"
    repository, _colon, tag = PRACTICE_IMAGE.rpartition(":")
    with open_engine(docker_host) as engine:
        known = find_image(engine, PRACTICE_IMAGE)
        if known is not None and known.labels.get(label) == digest:
            return known.image_id
        with archive.open("rb") as content:
            return import_image(
                engine,
                content,
                repository=repository,
                tag=tag,
                changes=(*IMPORT_CHANGES, f"LABEL {label}={digest}"),
            )


@pytest.fixture
def one_act_per_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand the command back after every act, so that a test can step in between."""
    monkeypatch.setattr(running, "SLICE_S", -1.0)


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again soon: the practice image is ready in a moment."""
    monkeypatch.setattr(verifying, "LOOK_AGAIN_S", 0.1)
    monkeypatch.setattr(stopping, "LOOK_AGAIN_S", 0.1)


@pytest.fixture
def world(
    db: None, short_waits: None, docker_host: str, practice_image_id: str
) -> Iterator[World]:
    """A world that is rolled back; its containers are removed."""
    made = make_world(docker_host, practice_image_id)
    yield made
    made.clean()


@pytest.fixture
def committed_world(
    transactional_db: None,
    short_waits: None,
    docker_host: str,
    practice_image_id: str,
) -> Iterator[World]:
    """A world that other processes see."""
    made = make_world(docker_host, practice_image_id)
    yield made
    made.clean()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command ids of the messages that were sent, instead of a broker."""
    ids: list[str] = []

    def send(_name: str, *, args: list[str], **_options: object) -> None:
        ids.extend(args)

    monkeypatch.setattr(current_app, "send_task", send)
    return ids
