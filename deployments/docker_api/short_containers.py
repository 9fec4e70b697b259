"""Short containers that only look: a read-only root on top of the floor, and privileges only where asked."""

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
) -> str:
    """Create a container, its root such that nobody can write it; returns its id.

    ``privileged`` is no part of a ContainerSpec, so that no plan can ask for it: only the probe of a
    cluster that allows it does.

    Raises:
        PolicyError: the container asks for more than the floor allows; nothing was sent.
        DockerApiError: the engine does not answer or answers an error.
    """
    body: dict[str, Json] = {**create_body(spec, dict(labels)), "Image": image_id}
    check_container(spec.name, body, policy)
    settings = as_object(body["HostConfig"])
    body["HostConfig"] = {
        **settings,
        "ReadonlyRootfs": read_only,
        "Privileged": privileged,
    }
    answer = engine.call(
        "POST",
        "/containers/create",
        act=text("create the container {container}", container=spec.name),
        params={"name": spec.name},
        body=body,
    )
    return string(as_object(answer), "Id")
