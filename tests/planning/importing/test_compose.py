"""Compose files, manifests and ``docker run``: the container and the command in it."""

import pytest

from deployments.planning.importing.container import PublishedPort
from deployments.planning.importing.launch import Launch
from deployments.planning.importing.reader import read_launches
from deployments.planning.importing.words import RemarkKind

CONFIG = '{"method":"mtp","num_speculative_tokens":3}'


def only(content: str) -> Launch:
    """The one launch of an input."""
    launches = read_launches(content).launches
    assert len(launches) == 1
    return launches[0]


@pytest.mark.parametrize(
    "command",
    [
        f'["--model", "M", "--speculative-config", {CONFIG!r}]',
        f"\n      - --model\n      - M\n      - --speculative-config\n      - '{CONFIG}'",
        f"--model M --speculative-config '{CONFIG}'",
        f">-\n      --model M\n      --speculative-config '{CONFIG}'",
        f"|\n      --model M\n      --speculative-config\n      '{CONFIG}'",
    ],
)
def test_a_command_in_every_style(command: str) -> None:
    launch = only(
        f"services:\n  a:\n    image: vllm/vllm-openai:v0.32.0\n    command: {command}\n    restart: always\n"
    )
    assert launch.program == "vllm serve"
    assert launch.model == "M"
    assert launch.speculation is not None
    assert launch.speculation.damage is None
    assert launch.speculation.num_speculative_tokens == 3
    assert launch.container is not None
    assert launch.container.image == "vllm/vllm-openai:v0.32.0"


def test_several_services_share_an_anchor() -> None:
    read = read_launches(
        "x-common: &common\n  image: vllm/vllm-openai:v0.32.0\n  ipc: host\n  environment: {A: '1'}\n"
        "services:\n"
        "  p:\n    <<: *common\n    command: --model M --port 1\n"
        "  d:\n    <<: *common\n    environment: [A=2]\n    command: --model M --port 2\n"
    )
    assert [one.value("--port") for one in read.launches] == ["1", "2"]
    assert [one.variable("A") for one in read.launches] == ["1", "2"]
    assert all(one.container and one.container.host_ipc for one in read.launches)


def test_container_facts_of_a_service() -> None:
    launch = only(
        "services:\n  a:\n    image: quay.io/ascend/vllm-ascend:v0.23.0\n    env_file: prod.env\n"
        "    devices: ['/dev/davinci0:/dev/davinci0']\n    shm_size: 1g\n    network_mode: host\n"
        "    volumes:\n      - /data:/models:ro\n      - {type: bind, source: /x, target: /y}\n"
        "    ports: ['8000:80', {target: 90, published: 9000}]\n"
        "    entrypoint: [vllm, serve]\n    command: [M, --served-model-name, $$x]\n"
        "    deploy: {resources: {reservations: {devices: [{device_ids: ['0', '1']}]}}}\n"
    )
    box = launch.container
    assert box is not None
    assert box.devices == ("/dev/davinci0",)
    assert box.mounts == (("/data", "/models"), ("/x", "/y"))
    assert box.ports == (
        PublishedPort(host=8000, container=80),
        PublishedPort(host=9000, container=90),
    )
    assert box.gpus == "device=0,1"
    assert box.host_network
    assert launch.value("--served-model-name") == "$x"


def test_a_missing_environment_file_is_remarked() -> None:
    read = read_launches(
        "services:\n  a:\n    image: vllm/vllm-openai:v1\n    env_file: [.env]\n    command: --model M\n"
    )
    assert [one.kind for one in read.remarks] == [RemarkKind.ENVIRONMENT_FILE]


def test_a_manifest_is_read_like_a_compose_file() -> None:
    launch = only(
        "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n"
        "        - name: llm\n          image: vllm/vllm-openai:v0.20.0\n          command: [vllm, serve]\n"
        "          args: [M, --port, '8000']\n          env:\n            - {name: A, value: '1'}\n"
        "          resources: {limits: {nvidia.com/gpu: 4}}\n"
    )
    assert launch.model == "M"
    assert launch.variable("A") == "1"
    assert launch.container is not None
    assert launch.container.gpus == "4"


@pytest.mark.parametrize(
    "options",
    [
        "--gpus all -p 8000:8000 -v /d:/m -e A=1 --ipc=host --name x",
        "--gpus=all -p8000:8000 -v/d:/m --env=A=1 --ipc host --rm -it",
        "--gpus all --publish 0.0.0.0:8000:8000/tcp --mount type=bind,source=/d,target=/m -e A=1 --ipc=host",
    ],
)
def test_docker_run_in_every_style(options: str) -> None:
    launch = only(f"docker run {options} vllm/vllm-openai:v0.32.0 --model M")
    box = launch.container
    assert box is not None
    assert box.gpus == "all"
    assert box.mounts == (("/d", "/m"),)
    assert box.ports == (PublishedPort(host=8000, container=8000),)
    assert box.host_ipc
    assert launch.variable("A") == "1"


def test_a_command_inside_a_container_that_was_started_before() -> None:
    launch = only(
        "docker run -itd quay.io/ascend/vllm-ascend:v0.23.0-a3 bash\nvllm serve M\n"
    )
    assert launch.container is not None
    assert launch.container.image == "quay.io/ascend/vllm-ascend:v0.23.0-a3"


def test_a_compose_file_inside_a_script() -> None:
    launch = only(
        "cat > compose.yaml <<EOF\nservices:\n  a:\n    image: vllm/vllm-openai:v0.32.0\n    command: --model M\nEOF\n"
        "docker compose up -d\n"
    )
    assert launch.model == "M"
