"""One ContainerSpec, three renderings that mean the same."""

import json
import os
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from deployments.planning.canonical import Json
from deployments.planning.container import (
    ContainerSpec,
    ImageReference,
    Mount,
    NetworkMode,
)
from deployments.planning.launch.command import readable_command
from deployments.planning.launch.compose import compose_document, compose_file
from deployments.planning.launch.engine_api import create_body
from deployments.planning.launch.files import launch_files
from deployments.planning.launch.meaning import entrypoint_of
from deployments.planning.launch.script import launch_script, shell_word
from deployments.planning.launch.yaml_text import quoted, yaml_text
from tests.planning.builders import a3, apart, codes, decode, plan, prefill
from tests.planning.cases import CASES

SPECS = [
    pytest.param(replica.container, id=replica.container.name + "-" + name)
    for name, make in CASES.items()
    for replica in make().replicas
]
ADDRESS = "HOST_ADDRESS=10.9.8.7\n"
NASTY = ContainerSpec(
    name="nasty",
    image=ImageReference(reference="registry:5000/vllm:v1", digest="sha256:ab"),
    command=(
        "vllm",
        "serve",
        "a b",
        "--x",
        'it\'s "$HOME" `id` \\',
        "--empty",
        "",
        "--y",
        "no",
    ),
    environment=(
        ("A", "1e3"),
        ("B", "$PATH ${HOST_ADDRESS}"),
        ("C", "line\nbreak\ttab\u2028"),
    ),
    mounts=(Mount(source="/data/my models", target="/models", read_only=False),),
    user="1000",
    runtime="nvidia",
    group_add=("video",),
    time_zone="Asia/Shanghai",
    init=False,
)


def _undoubled(value: Json) -> Json:
    if isinstance(value, str):
        return value.replace("$$", "$")
    if isinstance(value, list):
        return [_undoubled(item) for item in value]
    if isinstance(value, dict):
        return {key: _undoubled(item) for key, item in value.items()}
    return value


def _service(spec: ContainerSpec) -> dict[str, Json]:
    read: dict[str, Json] = yaml.safe_load(compose_file([spec]))
    services = read["services"]
    assert isinstance(services, dict)
    service = _undoubled(services[spec.name])
    assert isinstance(service, dict)
    return service


@pytest.mark.parametrize("spec", [*SPECS, NASTY])
def test_compose_file_reads_back_as_the_container(spec: ContainerSpec) -> None:
    service = _service(spec)
    assert service["command"] == list(spec.command)
    assert service["entrypoint"] == list(entrypoint_of(spec))
    wanted = dict(spec.environment)
    if spec.time_zone:
        wanted["TZ"] = spec.time_zone
    assert service.get("environment", {}) == wanted
    volumes = service.get("volumes", [])
    assert isinstance(volumes, list)
    assert volumes == [
        {
            "type": "bind",
            "source": mount.source,
            "target": mount.target,
            "read_only": mount.read_only,
            "bind": {"create_host_path": False, "propagation": "rprivate"},
        }
        for mount in spec.mounts
    ] + [
        {"type": "volume", "source": one.name, "target": one.target}
        for one in spec.volumes
    ] + [
        {
            "type": "bind",
            "source": one.source,
            "target": one.target,
            "bind": {"create_host_path": True},
        }
        for one in spec.log_directories
    ]
    assert service["shm_size"] == spec.shm_size_bytes
    assert service["network_mode"] == spec.network_mode.value
    assert ("ports" in service) == (
        spec.network_mode is NetworkMode.BRIDGE and bool(spec.ports)
    )


@pytest.mark.parametrize("spec", [*SPECS, NASTY])
def test_every_string_in_a_compose_file_is_double_quoted(spec: ContainerSpec) -> None:
    root = yaml.compose(compose_file([spec]), Loader=yaml.SafeLoader)
    values: list[yaml.ScalarNode] = []
    assert root is not None
    pending: list[yaml.Node] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            pending += [value for _key, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value
        elif isinstance(node, yaml.ScalarNode):
            values.append(node)
    strings = [node for node in values if node.tag == "tag:yaml.org,2002:str"]
    assert strings
    assert {node.style for node in strings} == {'"'}


def test_dollar_is_doubled_but_the_plans_variables_are_not() -> None:
    services = compose_document([NASTY])["services"]
    assert isinstance(services, dict)
    service = services["nasty"]
    assert isinstance(service, dict)
    environment = service["environment"]
    assert isinstance(environment, dict)
    assert environment["B"] == "$$PATH ${HOST_ADDRESS}"


@pytest.mark.parametrize(
    "text", ["y", "no", "1e3", "08", "~", "a: b", "é", "\ufeff", "\x7f", '"\\', "- x"]
)
def test_quoted_text_reads_back(text: str) -> None:
    assert yaml.safe_load(quoted(text)) == text


def test_yaml_of_nested_values_reads_back() -> None:
    value: dict[str, Json] = {
        "on": True,
        "none": None,
        "empty_list": [],
        "empty": {},
        "Number": 3,
        "deep": [[1, ["a"]], {"b": [False], "c": {"d": "e"}}],
    }
    assert yaml.safe_load(yaml_text(value)) == value


def _docker_calls(
    script: str, folder: Path, env_file: str = "", *, pasted: bool = False
) -> list[list[str]]:
    """What a stand-in for docker was asked; it fails where the name of the container is ``fails``."""
    fake = folder / "bin" / "docker"
    fake.parent.mkdir()
    log = folder / "calls"
    fake.write_text(
        f'#!/usr/bin/env bash\nprintf "%s\\0" "$@" >> {log}\nprintf "END\\0" >> {log}\n'
        '[ "$4" != fails ]\n'
    )
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    path = folder / "launch.sh"
    path.write_text(script, encoding="utf-8")
    if env_file:
        (folder / ".env").write_text(env_file, encoding="utf-8")
    typed = ["--norc", "--noprofile", "-i"] if pasted else [str(path)]
    subprocess.run(
        ["/usr/bin/env", "bash", *typed],
        input=script.encode() if pasted else None,
        cwd=folder if pasted else "/",
        check=True,
        capture_output=True,
        env={"PATH": f"{fake.parent}:{os.environ['PATH']}", "HISTFILE": ""},
    )
    calls: list[list[str]] = [[]]
    for word in log.read_text(encoding="utf-8").split("\0")[:-1]:
        if word == "END":
            calls.append([])
        else:
            calls[-1].append(word)
    return calls[:-1]


@pytest.mark.parametrize("spec", [*SPECS, NASTY])
def test_script_hands_docker_the_same_words(
    spec: ContainerSpec, tmp_path: Path
) -> None:
    (call,) = _docker_calls(launch_script([spec]), tmp_path, ADDRESS)
    first, *rest = entrypoint_of(spec)
    words = [*rest, *spec.command]
    assert call[:2] == ["run", "--detach"]
    assert call[-len(words) :] == words
    wanted = {
        "--name": [spec.name],
        "--entrypoint": [first],
        "--shm-size": [str(spec.shm_size_bytes)],
        "--network": [spec.network_mode.value],
        "--cap-drop": list(spec.cap_drop),
        "--user": [spec.user] if spec.user else [],
    }
    options = call[: -len(words) - 1]
    given = {
        flag: [options[index + 1] for index, word in enumerate(options) if word == flag]
        for flag in wanted
    }
    assert given == wanted
    environment = [
        options[index + 1] for index, word in enumerate(options) if word == "--env"
    ]
    assert {
        f"{name}={value}".replace("${HOST_ADDRESS}", "10.9.8.7")
        for name, value in spec.environment
    } <= set(environment)


def test_script_stops_at_the_first_failure_and_pasted_lines_go_on(
    tmp_path: Path,
) -> None:
    # A shell without bracketed paste completes at a tab, which no plan holds.
    plain = replace(NASTY, environment=NASTY.environment[:2])
    first, second = replace(plain, name="fails"), replace(plain, name="second")
    script = launch_script([first, second])
    (tmp_path / "pasted").mkdir()
    pasted = _docker_calls(script, tmp_path / "pasted", ADDRESS, pasted=True)
    assert [call[3] for call in pasted] == ["fails", "second"]
    (alone,) = _docker_calls(launch_script([second]), tmp_path, ADDRESS)
    assert alone == pasted[1]
    (tmp_path / "failing").mkdir()
    with pytest.raises(subprocess.CalledProcessError):
        _docker_calls(script, tmp_path / "failing", ADDRESS)
    assert b"second" not in (tmp_path / "failing" / "calls").read_bytes()


@pytest.mark.parametrize("pasted", [False, True])
def test_script_stops_at_a_variable_that_is_not_set_and_names_it(
    tmp_path: Path, *, pasted: bool
) -> None:
    plain = replace(NASTY, environment=NASTY.environment[:2])
    script = launch_script([plain, replace(plain, name="second")])
    with pytest.raises(subprocess.CalledProcessError) as caught:
        _docker_calls(script, tmp_path, pasted=pasted)
    sentence = b": HOST_ADDRESS: Set HOST_ADDRESS in .env: address of this host"
    assert caught.value.stderr.count(sentence) == 1
    assert not (tmp_path / "calls").exists()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("plain", "plain"),
        ("", "''"),
        ("a b", "'a b'"),
        ("${MODEL_ROOT}/x y", "\"${MODEL_ROOT}\"'/x y'"),
        ("$(id)", "'$(id)'"),
        ("${OTHER}", "'${OTHER}'"),
    ],
)
def test_shell_word_leaves_only_the_plans_variables_open(text: str, word: str) -> None:
    assert shell_word(text) == word


def test_readable_command_has_a_flag_on_each_line() -> None:
    command = (
        "vllm",
        "serve",
        "/m",
        "--port",
        "8000",
        "--enforce-eager",
        "--x",
        "-1",
        "-q",
        "awq",
    )
    assert readable_command(command).split("\n") == [
        "vllm serve /m \\",
        "  --port 8000 \\",
        "  --enforce-eager \\",
        "  --x -1 \\",
        "  -q awq",
    ]


@pytest.mark.parametrize("spec", SPECS)
def test_engine_api_body_is_the_same_container(spec: ContainerSpec) -> None:
    body = create_body(spec, {"draftboard.digest": "sha256:x"})
    host = body["HostConfig"]
    labels = body["Labels"]
    assert isinstance(host, dict)
    assert isinstance(labels, dict)
    assert body["Cmd"] == list(spec.command)
    assert body["Entrypoint"] == list(entrypoint_of(spec))
    assert labels["draftboard.digest"] == "sha256:x"
    assert labels["draftboard.role"] == dict(spec.labels)["draftboard.role"]
    assert host["Binds"] == [
        f"{one.source}:{one.target}:rw" for one in spec.log_directories
    ]
    mounts = host["Mounts"]
    assert isinstance(mounts, list)
    for mount in mounts:
        assert isinstance(mount, dict)
        if mount["Type"] == "volume":
            continue
        assert mount["Type"] == "bind"
        assert mount["BindOptions"] == {
            "CreateMountpoint": False,
            "Propagation": "rprivate",
        }
    assert host["Privileged"] is False
    assert host["CapDrop"] == ["ALL"]
    assert host["RestartPolicy"] == {"Name": "no"}
    published = host["PortBindings"]
    assert isinstance(published, dict)
    assert bool(published) == (spec.network_mode is NetworkMode.BRIDGE)


def test_engine_api_takes_the_image_by_digest_or_by_id() -> None:
    assert create_body(NASTY)["Image"] == "registry:5000/vllm@sha256:ab"
    imported = ImageReference(
        reference="draftboard/practice-vllm:1", image_id="sha256:id"
    )
    assert (
        create_body(ContainerSpec(name="x", image=imported, command=("a",)))["Image"]
        == "sha256:id"
    )
    plain = ImageReference(reference="registry:5000/vllm@sha256:cd", digest="sha256:cd")
    assert create_body(ContainerSpec(name="x", image=plain, command=("a",)))[
        "Image"
    ] == ("registry:5000/vllm@sha256:cd")
    untagged = ImageReference(reference="registry:5000/vllm", digest="sha256:cd")
    assert create_body(ContainerSpec(name="x", image=untagged, command=("a",)))[
        "Image"
    ] == ("registry:5000/vllm@sha256:cd")


def test_engine_api_carries_user_runtime_and_time_zone() -> None:
    body = create_body(NASTY)
    assert body["User"] == "1000"
    assert isinstance(body["Env"], list)
    assert "TZ=Asia/Shanghai" in body["Env"]
    host = body["HostConfig"]
    assert isinstance(host, dict)
    assert host["Runtime"] == "nvidia"
    assert host["Ulimits"] == []


def test_files_hold_one_folder_per_host_and_the_plan_on_top() -> None:
    made = CASES["glm-5.2-apart"]()
    files = dict(launch_files(made))
    assert sorted(files) == [
        "a3-01/.env.example",
        "a3-01/docker-compose.yaml",
        "a3-01/launch.sh",
        "a3-02/.env.example",
        "a3-02/docker-compose.yaml",
        "a3-02/launch.sh",
        "plan.json",
    ]
    stored = json.loads(files["plan.json"])
    assert stored["digest"] == made.digest
    assert stored["plan"] == made.document
    assert files["a3-01/.env.example"].startswith("# Nothing to fill in")


def test_unknown_addresses_become_variables_with_a_finding() -> None:
    spec = apart("zai-org/GLM-5.2", prefill("a"), decode("b"))
    hosts = [a3(name, None, interface=None, model_root=None) for name in ("a", "b")]
    made = plan(spec, *hosts, files_only=True)
    assert {
        "HOST_ADDRESS_UNKNOWN",
        "HOST_INTERFACE_UNKNOWN",
        "MODEL_ROOT_UNKNOWN",
    } <= codes(made)
    assert made.can_submit
    example = dict(launch_files(made))["a/.env.example"]
    assert [line for line in example.splitlines() if not line.startswith("#")] == [
        "HOST_ADDRESS=",
        "HOST_INTERFACE=",
        "MODEL_ROOT=",
    ]
    compose = dict(launch_files(made))["a/docker-compose.yaml"]
    assert '"${MODEL_ROOT}/GLM-5.2-w8a8"' in compose
    assert '"HCCL_IF_IP": "${HOST_ADDRESS}"' in compose


def test_engine_api_spells_capabilities_as_the_command_line_does() -> None:
    spec = replace(NASTY, cap_add=("SYS_NICE", "CAP_IPC_LOCK"))
    host = create_body(spec)["HostConfig"]
    assert isinstance(host, dict)
    assert host["CapAdd"] == ["CAP_SYS_NICE", "CAP_IPC_LOCK"]
    assert host["CapDrop"] == ["ALL"]
