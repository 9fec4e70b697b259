"""What a Docker Engine keeps besides containers and images."""

from deployments.docker_api.client import Engine
from deployments.docker_api.reading import as_object, objects, string
from deployments.planning.text import text


def volume_names(engine: Engine) -> frozenset[str]:
    """The names of the volumes that exist.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    answer = as_object(engine.call("GET", "/volumes", act=text("list its volumes")))
    return frozenset(string(row, "Name") for row in objects(answer.get("Volumes")))
