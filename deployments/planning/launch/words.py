"""All text of a container that may hold a variable."""

from collections.abc import Iterator

from deployments.planning.container import ContainerSpec


def spec_texts(spec: ContainerSpec) -> Iterator[str]:
    """Yield command words, environment values and mount sources."""
    yield from spec.command
    for _name, value in spec.environment:
        yield value
    for mount in spec.mounts:
        yield mount.source
    for directory in spec.log_directories:
        yield directory.source
