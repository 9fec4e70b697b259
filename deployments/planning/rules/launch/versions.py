"""Findings about the engine version itself: not named, not readable, newer than the profiles."""

from collections.abc import Iterator
from dataclasses import replace

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import Hit, LaunchFinding, RuleCard
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text
from deployments.planning.versions import parse_version

SOURCE = "the engine profiles of this panel"
UNREADABLE = RuleCard(
    code="VERSION_UNREADABLE",
    category="other",
    severity=Severity.INFO,
    summary=text("The engine version cannot be read; every known version is judged."),
    fix=text("Write it as 0.32.0 or 0.23.0rc1."),
    source=SOURCE,
)
NOT_NAMED = RuleCard(
    code="VERSION_NOT_NAMED",
    category="other",
    severity=Severity.INFO,
    summary=text("No engine version is named; every known version is judged."),
    fix=text("Name the version, or pin the image by its tag."),
    source=SOURCE,
)
NEWER = RuleCard(
    code="VERSION_NEWER",
    category="other",
    severity=Severity.INFO,
    summary=text(
        "The engine version is newer than the profiles of this panel, and judged by the newest."
    ),
    fix=text("Read the release notes for what changed."),
    source=SOURCE,
)
VERSION_CARDS = (UNREADABLE, NOT_NAMED, NEWER)


def version_findings(views: list[LaunchView]) -> Iterator[LaunchFinding]:
    """Yield what is worth knowing about the version of each launch."""
    for view in views:
        if view.launch.is_vllm:
            for card, hit in _of(view):
                yield replace(card.finding(hit), launch=view.index)


def _of(view: LaunchView) -> Iterator[tuple[RuleCard, Hit]]:
    engine = view.engine
    if not engine.readable:
        written = (engine.written or "")[:80]
        yield (
            UNREADABLE,
            Hit(
                message=text(
                    "{version} is no version that this panel can read; every known version is judged.",
                    version=written,
                ),
                evidence=written,
            ),
        )
    elif engine.version is None:
        yield (
            NOT_NAMED,
            Hit(
                message=text(
                    "No engine version is named; every known version of {engine} is judged.",
                    engine=engine.name,
                )
            ),
        )
    elif engine.version > parse_version(engine.newest.version):
        yield (
            NEWER,
            Hit(
                message=text(
                    "{engine} {version} is newer than the profiles of this panel; it is judged by {newest}.",
                    engine=engine.name,
                    version=str(engine.version),
                    newest=engine.newest.version,
                ),
                evidence=str(engine.version),
            ),
        )
