"""Every documented launch is read, stated again in each form, and read back without loss."""

import json
import shlex

import pytest

from deployments.planning.importing.launch import Launch
from deployments.planning.importing.reader import read_launches
from deployments.planning.importing.restated import (
    open_variables,
    restated_command,
    restated_container,
)
from deployments.planning.launch.command import readable_command
from deployments.planning.launch.compose import compose_file
from deployments.planning.launch.engine_api import create_body
from deployments.planning.launch.script import launch_script
from tests.planning.documented.launches import DocumentedLaunch, documented_launches

EVERY = [pytest.param(one, id=one.place) for one in documented_launches()]


def only(content: str) -> Launch:
    """The one launch of an input."""
    launches = read_launches(content).launches
    assert len(launches) == 1
    return launches[0]


def loses_nothing(read: Launch, documented: DocumentedLaunch) -> None:
    """Model, flags in their order, JSON values byte by byte and variables are as documented."""
    assert read.model == documented.model
    assert list(read.flags.items()) == list(documented.flags.items())
    environment = {name: word.text for name, word in read.environment.items()}
    assert environment == documented.environment


def test_the_fixture_is_whole() -> None:
    assert len(EVERY) == 153
    assert sum(len(one.flags) for one in documented_launches()) == 2625
    assert sum(len(one.environment) for one in documented_launches()) == 1425


@pytest.mark.parametrize("documented", EVERY)
def test_a_script_is_read_without_loss(documented: DocumentedLaunch) -> None:
    loses_nothing(only(documented.script), documented)


@pytest.mark.parametrize("documented", EVERY)
def test_the_launch_script_reads_back(documented: DocumentedLaunch) -> None:
    container = restated_container(only(documented.script))
    loses_nothing(only(launch_script([container])), documented)


@pytest.mark.parametrize("documented", EVERY)
def test_the_compose_file_reads_back(documented: DocumentedLaunch) -> None:
    container = restated_container(only(documented.script))
    loses_nothing(only(compose_file([container])), documented)


@pytest.mark.parametrize("documented", EVERY)
def test_the_vector_and_the_pasted_command_read_back(
    documented: DocumentedLaunch,
) -> None:
    launch = only(documented.script)
    vector = restated_command(launch)
    assert vector == documented.words
    again = only(json.dumps(list(vector)))
    assert (again.model, again.flags) == (documented.model, documented.flags)
    pasted = readable_command(vector)
    assert only(pasted).flags == documented.flags
    assert tuple(shlex.split(pasted.replace("\\\n", ""))) == vector


@pytest.mark.parametrize("documented", EVERY)
def test_the_body_of_the_docker_api_holds_the_same(
    documented: DocumentedLaunch,
) -> None:
    body = create_body(restated_container(only(documented.script)))
    assert body["Cmd"] == list(documented.words)
    variables = body["Env"]
    assert isinstance(variables, list)
    wanted = [f"{name}={value}" for name, value in documented.environment.items()]
    assert sorted(map(str, variables)) == sorted(wanted)


@pytest.mark.parametrize("documented", EVERY)
def test_json_values_stay_json(documented: DocumentedLaunch) -> None:
    """What was JSON in the document is JSON with the same meaning after compose and back."""
    read = only(compose_file([restated_container(only(documented.script))]))
    for flag, value in documented.flags.items():
        if isinstance(value, str) and value.startswith("{"):
            try:
                meant = json.loads(value)
            except json.JSONDecodeError:
                assert read.flags[flag] == value
            else:
                assert json.loads(str(read.flags[flag])) == meant


def test_what_a_container_does_not_expand_is_named() -> None:
    launch = only('export A="x:$A"\nvllm serve "$MODEL" --port "$2" --seed 7\n')
    assert open_variables(launch) == ("$2", "$A", "$MODEL")


def test_a_value_that_looks_like_a_flag_stays_with_its_flag() -> None:
    launch = only("vllm serve M --revision=-x --chat-template= --seed -1")
    assert restated_command(launch)[3:] == (
        "--revision=-x",
        "--chat-template=",
        "--seed=-1",
    )
    assert only(shlex.join(restated_command(launch))).flags == launch.flags


def test_image_name_and_network_of_the_container_are_kept() -> None:
    launch = only(
        "docker run --name glm --network host quay.io/ascend/vllm-ascend:v0.23.0 vllm serve M"
    )
    container = restated_container(launch)
    assert (container.name, container.network_mode) == ("glm", "host")
    assert container.image.reference == "quay.io/ascend/vllm-ascend:v0.23.0"
