"""The engine seen without the panel: its containers, and what each printed."""

import re
from contextlib import closing
from dataclasses import dataclass

import docker

COUNTS = re.compile(rb"SpecDecoding metrics: .*?Accepted: (\d+) tokens, Drafted: (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """Sums over the acceptance lines of one container."""

    lines: int
    accepted: int
    drafted: int
    largest_window: int
    """Drafted tokens of the largest one: what counters can be ahead of the lines by."""


def containers(docker_host: str, deployment: str) -> list[str]:
    """Ids of the containers of a deployment, running or not."""
    with closing(docker.DockerClient(base_url=docker_host)) as client:
        label = f"draftboard.deployment={deployment}"
        found = client.containers.list(all=True, filters={"label": label})
        return [str(container.id) for container in found]


def remove_containers(docker_host: str) -> None:
    """Remove what any panel left on this engine, which belongs to the tests alone."""
    with closing(docker.DockerClient(base_url=docker_host)) as client:
        labelled = client.containers.list(
            all=True, filters={"label": "draftboard.deployment"}
        )
        for container in labelled:
            container.remove(force=True)


def printed(docker_host: str, container_id: str) -> Printed:
    """Add up what the container printed so far."""
    with closing(docker.DockerClient(base_url=docker_host)) as client:
        log = client.containers.get(container_id).logs()
    found = COUNTS.findall(log)
    return Printed(
        lines=len(found),
        accepted=sum(int(accepted) for accepted, _ in found),
        drafted=sum(int(drafted) for _, drafted in found),
        largest_window=max((int(drafted) for _, drafted in found), default=0),
    )
