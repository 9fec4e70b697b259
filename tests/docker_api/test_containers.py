"""Facts of the Docker Engine that the executor is built on, held against a real one."""

import socket
import uuid

import pytest

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    create_container,
    inspect_container,
    list_containers,
    remove_container,
    signal_container,
    start_container,
)
from deployments.docker_api.errors import (
    ImageMissingError,
    NameTakenError,
    NoEntrypointError,
    PolicyError,
    PortTakenError,
    StateConflictError,
)
from deployments.docker_api.policy import ContainerPolicy
from deployments.planning.container import ContainerSpec, ImageReference, PortMapping
from tests.docker_api.conftest import RUN_LABEL, Run, wait_stopped

pytestmark = pytest.mark.docker


def spec(name: str, **changes: object) -> ContainerSpec:
    return ContainerSpec(
        name=name,
        image=ImageReference(reference="draftboard-test/busybox:1"),
        command=("/bin/sh", "-c", "sleep 60"),
        **changes,  # type: ignore[arg-type]
    )


def port(number: int) -> PortMapping:
    return PortMapping(
        host=number, container=80, purpose="api", host_address="127.0.0.1"
    )


def test_a_taken_port_is_refused_at_start_and_leaves_a_created_container(
    engine: Engine, create: Run
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        container_id = create("sleep 60", ports=(port(number),))
        with pytest.raises(PortTakenError) as caught:
            start_container(engine, container_id)
    facts = inspect_container(engine, container_id)
    assert caught.value.port == number
    assert not caught.value.retryable
    assert facts is not None
    assert (facts.state, facts.ever_started) == ("created", False)


def test_a_port_of_another_container_is_refused_the_same_way(
    engine: Engine, run: Run, create: Run
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        number = probe.getsockname()[1]
    run("sleep 60", ports=(port(number),))
    with pytest.raises(PortTakenError) as caught:
        start_container(engine, create("sleep 60", ports=(port(number),)))
    assert caught.value.port == number


def test_a_missing_program_is_refused_at_start(
    engine: Engine, busybox_image: str, run_label: str, create: Run
) -> None:
    container_id = create_container(
        engine,
        ContainerSpec(
            name=f"t{uuid.uuid4().hex[:12]}",
            image=ImageReference(reference="draftboard-test/busybox:1"),
            command=("/no/such/program",),
            init=False,
        ),
        image_id=busybox_image,
        labels={RUN_LABEL: run_label},
        policy=ContainerPolicy(),
    )
    with pytest.raises(NoEntrypointError):
        start_container(engine, container_id)
    facts = inspect_container(engine, container_id)
    assert facts is not None
    assert (facts.state, facts.exit_code) == ("created", 127)


def test_out_of_memory_is_marked(engine: Engine, create: Run) -> None:
    container_id = create("x=$(dd if=/dev/zero bs=1M count=64 | tail); sleep 1")
    engine.call(
        "POST",
        f"/containers/{container_id}/update",
        act="limit its memory",
        body={"Memory": 8 << 20, "MemorySwap": 8 << 20},
    )
    start_container(engine, container_id)
    wait_stopped(engine, container_id)
    facts = inspect_container(engine, container_id)
    assert facts is not None
    assert facts.oom_killed


def test_a_taken_name_is_an_error_of_its_own(
    engine: Engine, create: Run, busybox_image: str
) -> None:
    facts = inspect_container(engine, create("sleep 1"))
    assert facts is not None
    with pytest.raises(NameTakenError):
        create_container(
            engine,
            spec(facts.name),
            image_id=busybox_image,
            labels={},
            policy=ContainerPolicy(),
        )


def test_start_signal_and_remove_can_be_repeated(engine: Engine, run: Run) -> None:
    container_id = run("sleep 60")
    start_container(engine, container_id)
    signal_container(engine, container_id, "SIGKILL")
    wait_stopped(engine, container_id)
    signal_container(engine, container_id, "SIGKILL")
    remove_container(engine, container_id)
    remove_container(engine, container_id)
    signal_container(engine, container_id, "SIGKILL")
    assert inspect_container(engine, container_id) is None


def test_a_running_container_is_not_removed(engine: Engine, run: Run) -> None:
    with pytest.raises(StateConflictError):
        remove_container(engine, run("sleep 60"))


def test_an_unknown_image_is_an_error_of_its_own(engine: Engine) -> None:
    with pytest.raises(ImageMissingError):
        create_container(
            engine,
            spec(f"t{uuid.uuid4().hex[:12]}"),
            image_id="sha256:" + "0" * 64,
            labels={},
            policy=ContainerPolicy(),
        )


def test_the_floor_is_checked_before_anything_is_sent(
    engine: Engine, busybox_image: str
) -> None:
    name = f"t{uuid.uuid4().hex[:12]}"
    with pytest.raises(PolicyError, match="CapDrop"):
        create_container(
            engine,
            spec(name, cap_drop=()),
            image_id=busybox_image,
            labels={},
            policy=ContainerPolicy(),
        )
    assert inspect_container(engine, name) is None


def test_the_engine_keeps_the_whole_floor(engine: Engine, create: Run) -> None:
    container_id = create("sleep 1")
    row = engine.call("GET", f"/containers/{container_id}/json", act="look")
    assert isinstance(row, dict)
    host = row["HostConfig"]
    assert isinstance(host, dict)
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert not host["Privileged"]
    assert host["PidsLimit"] == 16384
    assert host["LogConfig"] == {
        "Type": "json-file",
        "Config": {"max-size": "64m", "max-file": "5"},
    }


def test_a_listing_by_label_holds_ports_and_state(
    engine: Engine, run: Run, run_label: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        number = probe.getsockname()[1]
    container_id = run("sleep 60", ports=(port(number),))
    (listed,) = list_containers(engine, label=f"{RUN_LABEL}={run_label}")
    assert listed.container_id == container_id
    assert listed.running
    assert listed.host_ports == (number,)
