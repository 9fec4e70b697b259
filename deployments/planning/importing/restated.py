"""A launch that was read, stated again as a container, so that it renders in every form."""

import re
from collections.abc import Sequence
from dataclasses import replace

from deployments.planning.container import ContainerSpec, ImageReference, NetworkMode
from deployments.planning.engines.arguments import PROGRAM
from deployments.planning.importing.launch import Launch

UNNAMED = "launch"
NO_IMAGE = "image-not-named"
_VARIABLE = re.compile(r"\$(?:\{[^}]*\}|[A-Za-z0-9_@*#?]+)")


def restated_command(launch: Launch) -> tuple[str, ...]:
    """The argument vector with canonical flags in the order given; nothing is expanded or dropped.

    A value that begins with a dash is attached to its flag, since it would read as a flag itself.
    """
    words = [*PROGRAM]
    positional = [one.text for one in launch.arguments.positional]
    words += positional
    for one in launch.arguments.flags:
        if one.value is None:
            words.append(one.name)
        elif one.value.startswith("-") or not one.value:
            words.append(f"{one.name}={one.value}")
        else:
            words += [one.name, one.value]
    return tuple(words)


def restated_container(launch: Launch) -> ContainerSpec:
    """The launch as one container: command and environment as given, image where one is named."""
    around = launch.container
    host = around is not None and around.host_network
    return ContainerSpec(
        name=(around.name if around else None) or UNNAMED,
        image=ImageReference(reference=(around.image if around else None) or NO_IMAGE),
        command=restated_command(launch),
        environment=tuple(
            sorted((name, word.text) for name, word in launch.environment.items())
        ),
        network_mode=NetworkMode.HOST if host else NetworkMode.BRIDGE,
    )


def restated_containers(launches: Sequence[Launch]) -> tuple[ContainerSpec, ...]:
    """The servers of one input as containers; a repeated name gets the number of its launch."""
    found: list[ContainerSpec] = []
    for number, launch in enumerate(launches, start=1):
        spec = restated_container(launch)
        if spec.name in {one.name for one in found}:
            spec = replace(spec, name=f"{spec.name}-{number}")
        found.append(spec)
    return tuple(found)


def open_variables(launch: Launch) -> tuple[str, ...]:
    """Variables in words and environment that a container does not expand, each once, sorted."""
    texts = [*restated_command(launch)]
    texts += [word.text for word in launch.environment.values()]
    return tuple(sorted({name for text in texts for name in _VARIABLE.findall(text)}))
