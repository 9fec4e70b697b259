"""What lies in the model directories of hosts and cannot be served."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.plan import Finding, Severity
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
