"""Short containers that look or measure: a read-only root on top of the floor, and privileges only where asked."""

from collections.abc import Mapping

from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.policy import ContainerPolicy, check_container
from deployments.docker_api.reading import as_object, string
from deployments.planning.container import ContainerSpec
from deployments.planning.launch.engine_api import create_body
from deployments.planning.text import text


def create_short_container(  # noqa: PLR0913 - each is a part of one request
    engine: Engine,
    spec: ContainerSpec,
    *,
    image_id: str,
    labels: Mapping[str, str],
    policy: ContainerPolicy,
    privileged: bool = False,
    read_only: bool = True,
    network_of: str | None = None,
    secrets: Mapping[str, str] | None = None,
) -> str:
    """Create a container, its root such that nobody can write it; returns its id.

    ``privileged`` is no part of a ContainerSpec, so that no plan can ask for it: only the probe of a
    cluster that allows it does. ``network_of`` is the id of a container whose network it joins, and no
    other: what listens on loopback there answers on loopback here. ``secrets`` are the values of the
    spec's secret variables.

    Raises:
        PolicyError: the container asks for more than the floor allows; nothing was sent.
        DockerApiError: the engine does not answer or answers an error.
    """
    body: dict[str, Json] = {
        **create_body(spec, dict(labels), secrets),
        "Image": image_id,
    }
    check_container(spec.name, body, policy)
    settings = as_object(body["HostConfig"])
    body["HostConfig"] = {
        **settings,
        "ReadonlyRootfs": read_only,
        "Privileged": privileged,
    }
    if network_of is not None:
        as_object(body["HostConfig"])["NetworkMode"] = f"container:{network_of}"
    answer = engine.call(
        "POST",
        "/containers/create",
        act=text("create the container {container}", container=spec.name),
        params={"name": spec.name},
        body=body,
    )
    return string(as_object(answer), "Id")
