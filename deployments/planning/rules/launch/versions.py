"""Findings about the engine version itself: not named, not readable, newer than the profiles."""

from collections.abc import Iterator

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import LaunchFinding
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text
from deployments.planning.versions import parse_version

SOURCE = "the engine profiles of this panel"


def version_findings(views: list[LaunchView]) -> Iterator[LaunchFinding]:
    """Yield what is worth knowing about the version of each launch."""
    for view in views:
        if view.launch.is_vllm:
            yield from _of(view)


def _of(view: LaunchView) -> Iterator[LaunchFinding]:
    engine = view.engine
    if not engine.readable:
        yield LaunchFinding(
            code="VERSION_UNREADABLE",
            category="other",
            severity=Severity.INFO,
            message=text("{version} is no version that this panel can read; every known version is judged.", version=(engine.written or "")[:80]),
            fix=text("Write it as 0.32.0 or 0.23.0rc1."),
            source=SOURCE,
            evidence=(engine.written or "")[:80],
        )
    elif engine.version is None:
        yield LaunchFinding(
            code="VERSION_NOT_NAMED",
            category="other",
            severity=Severity.INFO,
            message=text("No engine version is named; every known version of {engine} is judged.", engine=engine.name),
            fix=text("Name the version, or pin the image by its tag."),
            source=SOURCE,
        )
    elif engine.version > parse_version(engine.newest.version):
        yield LaunchFinding(
            code="VERSION_NEWER",
            category="other",
            severity=Severity.INFO,
            message=text(
                "{engine} {version} is newer than the profiles of this panel; it is judged by {newest}.",
                engine=engine.name,
                version=str(engine.version),
                newest=engine.newest.version,
            ),
            fix=text("Read the release notes for what changed."),
            source=SOURCE,
            evidence=str(engine.version),
        )
