"""Judges an existing launch: reads it, settles engine and platform, applies every rule."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from deployments.planning.canonical import Json
from deployments.planning.importing.launch import Launch
from deployments.planning.importing.reader import ImportedInput, read_launches
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.access import ACCESS_RULES
from deployments.planning.rules.launch.ascend import ASCEND_RULES
from deployments.planning.rules.launch.ascend_models import ASCEND_MODEL_RULES
from deployments.planning.rules.launch.ascend_parallel import ASCEND_PARALLEL_RULES
from deployments.planning.rules.launch.budget import BUDGET_RULES
from deployments.planning.rules.launch.combinations import COMBINATION_RULES
from deployments.planning.rules.launch.count import COUNT_RULES
from deployments.planning.rules.launch.disaggregation import DISAGGREGATION_RULES
from deployments.planning.rules.launch.drafter import DRAFTER_RULES
from deployments.planning.rules.launch.environment import ENVIRONMENT_RULES
from deployments.planning.rules.launch.families import last_part
from deployments.planning.rules.launch.fixer import correction_of
from deployments.planning.rules.launch.flag_values import FLAG_VALUE_RULES
from deployments.planning.rules.launch.flag_words import FLAG_WORD_RULES
from deployments.planning.rules.launch.flags import FLAG_RULES
from deployments.planning.rules.launch.graph import GRAPH_RULES
from deployments.planning.rules.launch.graph_defects import GRAPH_DEFECT_RULES
from deployments.planning.rules.launch.key_values import KEY_VALUE_RULES
from deployments.planning.rules.launch.keys import KEY_RULES
from deployments.planning.rules.launch.known import NO_MODELS, KnownModels
from deployments.planning.rules.launch.lower_bound import (
    RAISED,
    lower_bound,
    raised,
    releases_from,
)
from deployments.planning.rules.launch.method import METHOD_RULES
from deployments.planning.rules.launch.object_values import OBJECT_VALUE_RULES
from deployments.planning.rules.launch.observation import (
    BENCHMARK_CARDS,
    OBSERVATION_RULES,
    benchmark_hits,
)
from deployments.planning.rules.launch.old_flags import OLD_FLAG_RULES
from deployments.planning.rules.launch.output import OUTPUT_RULES
from deployments.planning.rules.launch.pairs import PAIR_CARDS, pair_hits
from deployments.planning.rules.launch.parallel import PARALLEL_RULES
from deployments.planning.rules.launch.quoting import QUOTING_RULES
from deployments.planning.rules.launch.remarks import REMARK_CARDS, remark_findings
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchFinding,
    LaunchRule,
    RuleCard,
)
from deployments.planning.rules.launch.same_host import (
    SAME_HOST_CARDS,
    same_host_hits,
)
from deployments.planning.rules.launch.scheduling import SCHEDULING_RULES
from deployments.planning.rules.launch.settings import (
    LintSettings,
    platform_of,
    settled_engine,
)
from deployments.planning.rules.launch.surroundings import SURROUNDING_RULES
from deployments.planning.rules.launch.target import TARGET_RULES
from deployments.planning.rules.launch.target_versions import TARGET_VERSION_RULES
from deployments.planning.rules.launch.transfer import TRANSFER_RULES
from deployments.planning.rules.launch.versions import VERSION_CARDS, version_findings
from deployments.planning.rules.launch.view import LaunchView

RULES: tuple[LaunchRule, ...] = (
    *QUOTING_RULES,
    *FLAG_RULES,
    *FLAG_VALUE_RULES,
    *FLAG_WORD_RULES,
    *OBJECT_VALUE_RULES,
    *OLD_FLAG_RULES,
    *KEY_RULES,
    *KEY_VALUE_RULES,
    *METHOD_RULES,
    *DRAFTER_RULES,
    *TARGET_RULES,
    *TARGET_VERSION_RULES,
    *COUNT_RULES,
    *GRAPH_RULES,
    *GRAPH_DEFECT_RULES,
    *BUDGET_RULES,
    *PARALLEL_RULES,
    *SCHEDULING_RULES,
    *COMBINATION_RULES,
    *DISAGGREGATION_RULES,
    *TRANSFER_RULES,
    *SURROUNDING_RULES,
    *ACCESS_RULES,
    *ASCEND_RULES,
    *ASCEND_MODEL_RULES,
    *ASCEND_PARALLEL_RULES,
    *ENVIRONMENT_RULES,
    *OBSERVATION_RULES,
    *OUTPUT_RULES,
)
CARDS: tuple[RuleCard, ...] = (
    *(one.card for one in RULES),
    *PAIR_CARDS,
    *SAME_HOST_CARDS,
    *BENCHMARK_CARDS,
    *REMARK_CARDS.values(),
    *VERSION_CARDS,
    RAISED,
)
"""Every code that a finding can have, for the reference pages."""

MOST_PAIRED = 64
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
_VERDICTS = ("reject", "warn", "accept")
_ASCEND_CATEGORY = {"cudagraph": "ascend-graph"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """What is right and wrong about an input; ``views`` are its launches with engine and platform."""

    source: ImportedInput
    findings: tuple[LaunchFinding, ...]
    views: tuple[LaunchView, ...] = ()

    @property
    def verdict(self) -> str:
        """``reject`` with an error, ``warn`` with a warning, else ``accept``."""
        return _VERDICTS[min((_RANK[one.severity] for one in self.findings), default=2)]

    @property
    def document(self) -> dict[str, Json]:
        """The object that ``lint_launch`` prints, diagnoses left out."""
        return {
            "verdict": self.verdict,
            "launches": [one.document for one in self.source.launches],
            "findings": [one.document for one in self.findings],
        }


def lint(
    content: bytes | str,
    settings: LintSettings | None = None,
    known: KnownModels = NO_MODELS,
) -> LintReport:
    """Judge an input of any kind; errors first, in an order that never changes.

    A version such as ``>=0.11.0`` is judged by the first release from there on that has no error.

    Raises:
        UnreadableLaunchError: it is too large, nested too deeply or no text.
    """
    source = read_launches(content)
    chosen = settings or LintSettings()
    bound = lower_bound(chosen.engine_version)
    if bound is None:
        return _report(source, chosen, known)
    first: LintReport | None = None
    for version in releases_from(chosen.engine, bound):
        report = _report(source, replace(chosen, engine_version=version), known)
        if report.verdict != _VERDICTS[0]:
            if first is None:
                return report
            return replace(report, findings=(*report.findings, raised(bound, version)))
        first = first or report
    return first or _report(source, chosen, known)


def _report(
    source: ImportedInput, chosen: LintSettings, known: KnownModels
) -> LintReport:
    views = [
        _view(source, launch, index, chosen, known)
        for index, launch in enumerate(source.launches)
    ]
    found = [*remark_findings(source), *version_findings(views)]
    for view in views:
        found.extend(_judged(view))
    found.extend(_pairs(views))
    found.extend(_beside(views))
    found.extend(_benchmarks(source))
    unique = {(one.code, one.launch, one.line, one.message): one for one in found}
    return LintReport(
        source=source,
        findings=tuple(sorted(unique.values(), key=_order)),
        views=tuple(views),
    )


def _order(one: LaunchFinding) -> tuple[int, int, int, str, str]:
    return (_RANK[one.severity], one.line or 0, one.launch or 0, one.code, one.evidence)


def _view(
    source: ImportedInput,
    launch: Launch,
    index: int,
    settings: LintSettings,
    known: KnownModels,
) -> LaunchView:
    engine = settled_engine(launch, settings)
    platform, chip = platform_of(launch, settings, engine)
    return LaunchView(
        launch=launch,
        index=index,
        source=source,
        engine=engine,
        platform=platform,
        chip=chip,
        target=known.find(launch.scope.resolve(launch.model)) if launch.model else None,
        known=known,
    )


def _judged(view: LaunchView) -> Iterator[LaunchFinding]:
    for one in RULES:
        for hit in one.check(view):
            yield _finding(view, one, hit)


def _finding(view: LaunchView, one: LaunchRule, hit: Hit) -> LaunchFinding:
    category = one.card.category
    return replace(
        one.card.finding(hit),
        category=_ASCEND_CATEGORY.get(category, category) if view.ascend else category,
        line=view.source.line(hit.start),
        launch=view.index,
        correction=correction_of(view.source, view.launch, hit.edits),
    )


def _pairs(views: list[LaunchView]) -> Iterator[LaunchFinding]:
    prefills = [view for view in views if view.role == "prefill"]
    decodes = [view for view in views if view.role == "decode"]
    for prefill in prefills[:MOST_PAIRED]:
        for decode in decodes[:MOST_PAIRED]:
            if last_part(prefill.model) != last_part(decode.model):
                continue
            for card, hit, severity in pair_hits(prefill, decode):
                yield replace(
                    card.finding(hit),
                    severity=severity,
                    line=decode.source.line(hit.start),
                    launch=decode.index,
                )


def _beside(views: list[LaunchView]) -> Iterator[LaunchFinding]:
    for view, card, hit in same_host_hits(views[:MOST_PAIRED]):
        line = view.source.line(hit.start)
        yield replace(card.finding(hit), line=line, launch=view.index)


def _benchmarks(source: ImportedInput) -> Iterator[LaunchFinding]:
    for launch in source.benchmarks:
        for card, hit in benchmark_hits(source, launch):
            yield replace(card.finding(hit), line=source.line(hit.start))
