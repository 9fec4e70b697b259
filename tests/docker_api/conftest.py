"""An open engine, a busybox image on it, and containers that are removed afterwards."""

import time
import uuid
from collections.abc import Callable, Iterator

import pytest

from deployments.docker_api.client import Engine, open_engine
from deployments.docker_api.containers import (
    create_container,
    inspect_container,
    list_containers,
    remove_container,
    signal_container,
    start_container,
)
from deployments.docker_api.images import import_image
from deployments.docker_api.policy import ContainerPolicy
from deployments.planning.container import ContainerSpec, ImageReference
from tests.docker_api.busybox import busybox_archive

RUN_LABEL = "draftboard.test"
Run = Callable[..., str]


@pytest.fixture
def engine(docker_host: str) -> Iterator[Engine]:
    with open_engine(docker_host, host="tests") as opened:
        yield opened


@pytest.fixture(scope="session")
def busybox_image(docker_host: str) -> str:
    """The id of an image that holds a static busybox and its usual names."""
    with open_engine(docker_host) as opened:
        return import_image(
            opened,
            busybox_archive(),
            repository="draftboard-test/busybox",
            tag="1",
            changes=(),
        )


@pytest.fixture
def run_label() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def create(engine: Engine, busybox_image: str, run_label: str) -> Iterator[Run]:
    """Create a container that runs a shell script; gives its id."""

    def create_one(script: str, **changes: object) -> str:
        spec = ContainerSpec(
            name=f"t{uuid.uuid4().hex[:12]}",
            image=ImageReference(reference="draftboard-test/busybox:1"),
            command=("/bin/sh", "-c", script),
            shm_size_bytes=1 << 20,
            **changes,  # type: ignore[arg-type]
        )
        return create_container(
            engine,
            spec,
            image_id=busybox_image,
            labels={RUN_LABEL: run_label},
            policy=ContainerPolicy(),
        )

    yield create_one
    for one in list_containers(engine, label=f"{RUN_LABEL}={run_label}"):
        signal_container(engine, one.container_id, "SIGKILL")
        wait_stopped(engine, one.container_id)
        remove_container(engine, one.container_id)


@pytest.fixture
def run(engine: Engine, create: Run) -> Run:
    """Create and start a container that runs a shell script; gives its id."""

    def run_one(script: str, **changes: object) -> str:
        container_id = create(script, **changes)
        start_container(engine, container_id)
        return container_id

    return run_one


def wait_stopped(engine: Engine, container_id: str, within_s: float = 20) -> None:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        facts = inspect_container(engine, container_id)
        if facts is None or not facts.running:
            return
        time.sleep(0.05)
    raise AssertionError(f"{container_id} still runs")
