"""An endpoint with a key: the container gets it, verification sends it, nothing repeats it."""

import json
from dataclasses import replace

import pytest
from django.core import serializers

from deployments.models import (
    Command,
    Release,
    ReleaseEvent,
    ReleaseState,
    Replica,
    TeamRole,
)
from deployments.planning.container import SecretVariable
from deployments.planning.plan import Plan
from deployments.planning.text import text
from deployments.services.rollout import probe
from deployments.services.team_secrets import store_secret
from tests.factories import member
from tests.services.rollout.world import World, only_replica

pytestmark = pytest.mark.docker
NAME, VALUE = "chat-key", "k-never-to-be-seen-7f3a"


def _keyed(world: World, version: int) -> Plan:
    planned = world.replica()
    secret = SecretVariable(variable="VLLM_API_KEY", secret=NAME, version=version)
    container = replace(planned.container, secrets=(secret,))
    return world.plan(replace(planned, container=container))


def _store(world: World) -> None:
    team = world.host.cluster.team
    admin = member(team, f"admin-{world.deployment.name}", TeamRole.ADMIN)
    store_secret(admin, team, NAME, VALUE)


def test_a_keyed_endpoint_gets_live_and_refuses_strangers(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    _store(world)
    plan = _keyed(world, 1)
    release = world.deploy(plan)
    assert (release.state, release.cause) == (ReleaseState.LIVE, "")
    port = plan.replicas[0].health_port or 0
    endpoint = probe.Endpoint("127.0.0.1", port)
    assert probe.is_healthy(endpoint)
    with pytest.raises(probe.ProbeError, match="401"):
        probe.served_models(endpoint)
    assert probe.served_models(replace(endpoint, key=VALUE)) == ("chat",)
    written = [
        serializers.serialize("json", model.objects.all())
        for model in (Release, ReleaseEvent, Replica, Command)
    ]
    assert VALUE not in json.dumps(plan.document) + "".join(written) + caplog.text
    path = f"/containers/{only_replica(release).container_id}/json"
    with world.engine() as engine:
        facts = engine.call("GET", path, act=text("describe the container"))
    assert f"VLLM_API_KEY={VALUE}" in json.dumps(facts)


def test_a_secret_that_changed_since_the_plan_stops_the_release(world: World) -> None:
    _store(world)
    release = world.deploy(_keyed(world, 2))
    assert release.state == ReleaseState.FAILED
    assert "version 2 of the secret chat-key" in str(release.cause)
    assert world.our_containers() == []
