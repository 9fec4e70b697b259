"""The practice image in a real Docker Engine: it starts, answers, stops and runs out of memory."""

import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container

from deployments.telemetry.logs.startup import StartupReader
from practice import image
from tests.practice.running import speculation

pytestmark = pytest.mark.docker

MEMORY_LIMIT_BYTES = 64 * 1024 * 1024
DEADLINE_S = 30.0


@pytest.fixture(scope="module")
def client(docker_host: str) -> Iterator[docker.DockerClient]:
    client = docker.DockerClient(base_url=docker_host)
    yield client
    client.close()


@pytest.fixture(scope="module")
def reference(
    client: docker.DockerClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Import the image under a name of this run alone."""
    path: Path = tmp_path_factory.mktemp("image") / "rootfs.tar"
    image.write_root_filesystem(path)
    tag = uuid.uuid4().hex
    client.api.import_image(
        str(path),
        repository="practice-test",
        tag=tag,
        changes=list(image.IMPORT_CHANGES),
    )
    yield f"practice-test:{tag}"
    client.images.remove(f"practice-test:{tag}", force=True)


@pytest.fixture
def started(client: docker.DockerClient) -> Iterator[list[Container]]:
    containers: list[Container] = []
    yield containers
    for container in containers:
        container.remove(force=True)


def wait_for(container: Container, words: bytes) -> bytes:
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        output: bytes = container.logs()
        if words in output:
            return output
        time.sleep(0.1)
    raise AssertionError(container.logs()[-2000:])


def test_whole_command_runs_with_the_entrypoint_cleared(
    client: docker.DockerClient, reference: str, started: list[Container]
) -> None:
    container = client.containers.run(
        reference,
        ["vllm", "serve", "/models/glm", *speculation("mtp", 3)],
        entrypoint=[],
        environment={"PRACTICE_READY_AFTER": "0.5"},
        network_mode="none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        init=True,
        detach=True,
    )
    started.append(container)
    output = wait_for(container, b"Application startup complete.")
    facts = StartupReader().feed(output.decode())
    assert (facts.method, facts.num_speculative_tokens) == ("mtp", 3)
    health = container.exec_run(["curl", "-fsS", "http://127.0.0.1:8000/health"])
    assert health.exit_code == 0
    container.stop(timeout=30)
    assert container.wait()["StatusCode"] == 0


def test_image_labels_itself_and_serves_by_default(
    client: docker.DockerClient, reference: str, started: list[Container]
) -> None:
    assert client.images.get(reference).labels["draftboard.practice"] == "true"
    container = client.containers.run(
        reference, ["--no-such-flag"], network_mode="none", detach=True
    )
    started.append(container)
    assert container.wait()["StatusCode"] == 2
    assert b"unrecognized arguments: --no-such-flag" in container.logs()


def test_real_allocation_is_ended_by_the_kernel(
    client: docker.DockerClient, reference: str, started: list[Container]
) -> None:
    container = client.containers.run(
        reference,
        ["/models/glm"],
        environment={"PRACTICE_OUT_OF_MEMORY": "allocate", "PRACTICE_READY_AFTER": "0"},
        mem_limit=MEMORY_LIMIT_BYTES,
        network_mode="none",
        detach=True,
    )
    started.append(container)
    container.wait()
    container.reload()
    assert container.attrs["State"]["OOMKilled"] is True
