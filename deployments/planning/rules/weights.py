"""What lies in the model directories of hosts and cannot be served, and what does not lie there."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.plan import Finding, Severity
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.text import text
from deployments.planning.variables import model_root_of


def weights_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge the directories that the plan mounts, where a worker has read them."""
    if context.practice:
        return
    names = {context.checkpoint.directory}
    drafter = context.drafter
    if drafter is not None and not drafter.inside_checkpoint:
        names.add(drafter.directory)
    for host in context.hosts:
        wanted = {f"{model_root_of(host)}/{name}" for name in names}
        yield from _broken(host, wanted)
        yield from _absent(host, wanted)


def _broken(host: HostSnapshot, wanted: set[str]) -> Iterator[Finding]:
    for found in host.models:
        if not found.trouble or found.path not in wanted:
            continue
        yield Finding(
            code="WEIGHTS_INCOMPLETE",
            category="missing-weights",
            severity=Severity.WARNING,
            message=text(
                "On {host} {problem}, so a release would end at its preflight.",
                host=host.name,
                problem=found.trouble,
            ),
            fix=text(
                "Mend it, then read the model directories of {host} again.",
                host=host.name,
            ),
            source=text("the host's model directories, {date}", date=found.since),
            evidence=found.path,
        )


def _absent(host: HostSnapshot, wanted: set[str]) -> Iterator[Finding]:
    """A look that saw nothing below the root may have been at another one, and tells nothing."""
    below = f"{model_root_of(host)}/"
    there = {path for path in host.listed or () if path.startswith(below)}
    if not there:
        return
    for path in sorted(wanted - there):
        yield Finding(
            code="WEIGHTS_ABSENT",
            category="missing-weights",
            severity=Severity.WARNING,
            message=text(
                "{path} was not on {host} when its model directories were last read, so a release "
                "would end at its preflight.",
                path=path,
                host=host.name,
            ),
            fix=text(
                "Copy the weights there, then read the model directories of {host} again.",
                host=host.name,
            ),
            source=text("the host's model directories"),
            evidence=f"{host.name}:{path}",
        )
