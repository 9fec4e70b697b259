"""Prefill and decode apart with their router, on one host without accelerators: planned, deployed, verified."""

import http.client
import json
import socket
from dataclasses import replace

import pytest

from deployments.models import ReleaseState, ReplicaState
from deployments.planning.plan import Plan, Role
from deployments.planning.planner import make_plan
from deployments.planning.revision import RevisionSpec, RoleSpec, Topology
from deployments.planning.snapshot import ClusterSettings
from deployments.selectors.planning_inputs import host_snapshots
from practice.image import PRACTICE_IMAGE
from tests.planning.builders import shipped
from tests.services.rollout.world import QUICK, World, free_port

pytestmark = pytest.mark.docker
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"


def _pair(world: World) -> Plan:
    (known,) = host_snapshots([world.host])
    used = tuple(port for port in range(8000, 8200) if _is_used(port))
    host = replace(known, taken_ports=used)
    spec = RevisionSpec(
        name=world.deployment.name,
        model=LLAMA,
        topology=Topology.DISAGGREGATED,
        roles=(
            RoleSpec(role=Role.PREFILL, hosts=("here",), port=free_port()),
            RoleSpec(role=Role.DECODE, hosts=("here",), port=free_port()),
        ),
        image=PRACTICE_IMAGE,
        environment=QUICK,
    )
    return make_plan(spec, shipped(LLAMA), [host], ClusterSettings())


def _is_used(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return True
    return False


def _complete(port: int) -> dict[str, object]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body = json.dumps({"prompt": "1 2 3", "max_tokens": 8})
    connection.request(
        "POST", "/v1/completions", body, {"Content-Type": "application/json"}
    )
    found: dict[str, object] = json.loads(connection.getresponse().read())
    connection.close()
    return found


def test_a_practice_pair_gets_live_behind_its_router(world: World) -> None:
    plan = _pair(world)
    assert plan.can_submit
    assert [one.role for one in plan.replicas] == [
        Role.PREFILL,
        Role.DECODE,
        Role.ROUTER,
    ]
    release = world.deploy(plan)
    assert (release.state, release.cause, release.warning) == (
        ReleaseState.LIVE,
        "",
        "",
    )
    states = {one.role: one.state for one in release.replicas.all()}
    assert states == dict.fromkeys(
        (Role.PREFILL, Role.DECODE, Role.ROUTER), ReplicaState.RUNNING
    )
    answer = _complete(plan.replicas[-1].health_port or 0)
    assert answer["usage"]["completion_tokens"] == 8  # type: ignore[index]
