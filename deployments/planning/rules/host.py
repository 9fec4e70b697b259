"""What hosts lack: devices, ports, addresses, model directories, images."""

from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.launch.words import spec_texts
from deployments.planning.plan import Finding, Severity
from deployments.planning.text import listed, text
from deployments.planning.variables import (
    BEHIND_ROUTER,
    EXPLANATIONS,
    HEAD_ADDRESS,
    HOST_ADDRESS,
    HOST_INTERFACE,
    MODEL_ROOT,
    variables_in,
)

CATEGORY = {
    HOST_ADDRESS: "environment",
    HOST_INTERFACE: "environment",
    HEAD_ADDRESS: "environment",
    MODEL_ROOT: "mount",
}


def host_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge every host of the plan."""
    yield from _troubles(context)
    yield from _unknown_values(context)
    yield from _roots(context)
    yield from _images(context)
    yield from _beyond(context)


def _troubles(context: PlanContext) -> Iterator[Finding]:
    for trouble in context.troubles:
        for wanted, free in trouble.shortages:
            yield Finding(
                code="DEVICES_INSUFFICIENT",
                category="device",
                severity=Severity.ERROR,
                message=text(
                    "The host {host} has {free} free devices; the plan needs {wanted}.",
                    host=trouble.host,
                    free=free,
                    wanted=wanted,
                ),
                fix=text(
                    "Choose another host, take fewer devices per host, or stop what holds them."
                ),
                source=text("the host's snapshot"),
                evidence=trouble.host,
            )
        for port in trouble.clashes:
            yield Finding(
                code="PORT_TAKEN",
                category="port",
                severity=Severity.ERROR,
                message=text(
                    "Port {port} on the host {host} is taken.",
                    port=port,
                    host=trouble.host,
                ),
                fix=text("Choose another port, or leave it to the planner."),
                source=text("the host's snapshot"),
                evidence=f"{trouble.host}:{port}",
            )


def _unknown_values(context: PlanContext) -> Iterator[Finding]:
    severity = Severity.WARNING if context.settings.files_only else Severity.ERROR
    missing: dict[str, set[str]] = {}
    for replica in context.replicas:
        for name in variables_in(spec_texts(replica.container)):
            missing.setdefault(name, set()).add(replica.host)
    for name, hosts in sorted(missing.items()):
        names = listed(sorted(hosts))
        yield Finding(
            code=f"{HOST_ADDRESS if name in BEHIND_ROUTER else name}_UNKNOWN",
            category=CATEGORY.get(name, "environment"),
            severity=severity,
            message=text(
                "The {meaning} is not known for {listed}; the files hold the variable {name} "
                "instead.",
                meaning=EXPLANATIONS[name],
                listed=names,
                name=name,
            ),
            fix=text("Fill in {name} in .env beside the files.", name=name)
            if context.settings.files_only
            else text("Enter it on the page of the host, then plan again."),
            source=text("the host's snapshot"),
            evidence=", ".join(sorted(hosts)),
        )


def _roots(context: PlanContext) -> Iterator[Finding]:
    allowed = context.settings.model_roots
    if not allowed or context.practice:
        return
    for host in context.hosts:
        root = host.model_root
        if root is None or any(_inside(root, one) for one in allowed):
            continue
        yield Finding(
            code="MODEL_ROOT_NOT_ALLOWED",
            category="mount",
            severity=Severity.ERROR,
            message=text(
                "The model directory {root} of {host} is outside what the cluster allows to be "
                "mounted: {listed}.",
                root=root,
                host=host.name,
                listed=listed(allowed),
            ),
            fix=text("Move the models, or let a platform admin allow the directory."),
            source=text("the cluster's settings"),
            evidence=host.name,
        )


def _inside(path: str, root: str) -> bool:
    folder = root.rstrip("/")
    return path.rstrip("/") == folder or path.startswith(f"{folder}/")


def _images(context: PlanContext) -> Iterator[Finding]:
    unresolved: dict[str, set[str]] = {}
    for replica in context.replicas:
        if not replica.container.image.resolved:
            reference = replica.container.image.reference
            unresolved.setdefault(reference, set()).add(replica.host)
    for reference, hosts in sorted(unresolved.items()):
        names = listed(sorted(hosts))
        yield Finding(
            code="IMAGE_UNRESOLVED",
            category="broken-image",
            severity=Severity.INFO,
            message=text(
                "The image {reference} is not yet on {listed}; it is pulled first, and what the tag "
                "means is settled only then.",
                reference=reference,
                listed=names,
            ),
            fix=text("Pull it beforehand to approve the exact image.")
            if not context.practice
            else text("Build it on that host with: make practice-image."),
            source=text("the host's snapshot"),
            evidence=reference,
        )


def _beyond(context: PlanContext) -> Iterator[Finding]:
    for beyond in context.beyond:
        yield Finding(
            code="BEYOND_CONTAINER_FLOOR",
            category="environment",
            severity=Severity.INFO,
            message=text(
                "{platform} containers get one thing beyond the floor, {what}: {why}",
                platform=context.platform.title,
                what=beyond.what,
                why=beyond.why,
            ),
            fix=text("Nothing to do; approvers should know."),
            source=beyond.source,
            evidence=beyond.what.english,
        )
