"""The answer to a checked launch: verdict, launches, findings beside lines, correction."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.fixer import fixed_text
from deployments.planning.rules.launch.lint import LintReport
from deployments.planning.rules.launch.settings import LintSettings
from deployments.planning.rules.launch.view import LaunchView
from deployments.selectors.check_listing import Listing, listing_of
from deployments.selectors.diagnoses import ShownDiagnosis, shown_diagnoses
from deployments.telemetry.logs.reader import read_log

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MOST_LAUNCHES = 6
MOST_CHANGED = 200
LARGEST_SHOWN = 30_000
TONES = {"reject": "bad", "warn": "attention", "accept": "good"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFacts:
    """What one launch of the input asks for; unknown numbers are ``None``."""

    program: str
    model: str
    method: str
    count: int | None
    drafter: str
    tokens: int | None
    capture: int | None
    devices: int
    role: str
    platform: str
    engine: str
    engine_from: "StrOrPromise"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of the difference: kept, taken out or put in; ``gap`` stands for lines left out."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer:
    """Everything that the page says about an input."""

    report: LintReport
    tone: str
    sentence: str
    launches: tuple[LaunchFacts, ...]
    more_launches: int
    listing: Listing
    corrected: str
    diff: tuple[DiffLine, ...]
    diagnoses: tuple[ShownDiagnosis, ...]

    @property
    def word(self) -> "StrOrPromise":
        """The verdict in a word."""
        if _empty(self.report):
            return _("Nothing to judge")
        return {
            "reject": _("Reject"),
            "warn": _("Accept with warnings"),
            "accept": _("Accept"),
        }[self.report.verdict]

    @property
    def shown_correction(self) -> str:
        """The corrected input where it is short enough for the page."""
        return self.corrected if len(self.corrected) <= LARGEST_SHOWN else ""


def answer_of(report: LintReport, settings: LintSettings) -> CheckAnswer:
    """Make the page's answer of what the rules found."""
    text = report.source.text
    after = fixed_text(report.source, report.findings)
    changed = after != text
    facts = [_facts(view, settings) for view in report.views[:MOST_LAUNCHES]]
    return CheckAnswer(
        report=report,
        tone="idle" if _empty(report) else TONES[report.verdict],
        sentence=_sentence(report),
        launches=tuple(facts),
        more_launches=len(report.views) - len(facts),
        listing=listing_of(text, report.findings),
        corrected=after if changed else "",
        diff=tuple(_diff(text, after)) if changed else (),
        diagnoses=_diagnoses(report),
    )


def _empty(report: LintReport) -> bool:
    """Whether nothing in the input starts anything."""
    return not report.source.launches and not report.source.benchmarks


def _sentence(report: LintReport) -> str:
    if _empty(report):
        return _("Nothing here starts a server that this panel knows.")
    errors, warnings = (
        sum(one.severity is severity for one in report.findings)
        for severity in (Severity.ERROR, Severity.WARNING)
    )
    costs = ngettext(
        "%(number)s warning: it costs speed, memory, stability or proof.",
        "%(number)s warnings: they cost speed, memory, stability or proof.",
        warnings,
    ) % {"number": warnings}
    if not errors:
        return costs if warnings else _("No rule has anything against it.")
    stops = ngettext(
        "It will not start as it is, or its answers are wrong: %(number)s error.",
        "It will not start as it is, or its answers are wrong: %(number)s errors.",
        errors,
    ) % {"number": errors}
    return (
        _("%(stops)s %(costs)s") % {"stops": stops, "costs": costs}
        if warnings
        else stops
    )


def _facts(view: LaunchView, settings: LintSettings) -> LaunchFacts:
    launch, speculation, engine = view.launch, view.speculation, view.engine
    version = engine.written or (str(engine.version) if engine.version else "")
    return LaunchFacts(
        program=launch.program,
        model=view.model,
        method=(speculation.method or _("unknown")) if speculation else "",
        count=view.count,
        drafter=(speculation.drafter_resolved or speculation.drafter or "")
        if speculation
        else "",
        tokens=launch.decode_tokens_per_step,
        capture=launch.decode_tokens_per_step,
        devices=launch.devices_required,
        role=view.role or "",
        platform=" ".join(filter(None, (view.platform, view.chip))),
        engine=f"{engine.name} {version}".strip(),
        engine_from=_engine_from(view, settings),
    )


def _engine_from(view: LaunchView, settings: LintSettings) -> str:
    if settings.engine_version:
        return _("as chosen")
    if view.engine.version is not None:
        return _("read from the image tag")
    profiles = view.engine.profiles
    return _("no version is named: judged by all from %(first)s to %(last)s") % {
        "first": profiles[0].version,
        "last": profiles[-1].version,
    }


def _diff(before: str, after: str) -> Iterator[DiffLine]:
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    shown = 0
    if len(old) + len(new) > 2 * MOST_CHANGED * 10:
        matcher = difflib.SequenceMatcher(None, old, new)
    for group in matcher.get_grouped_opcodes(2):
        if shown:
            yield DiffLine(kind="gap", text="…")
        for tag, first, last, begin, end in group:
            if tag == "equal":
                lines = [("same", line) for line in old[first:last]]
            else:
                lines = [("del", line) for line in old[first:last]]
                lines += [("ins", line) for line in new[begin:end]]
            for kind, line in lines:
                shown += 1
                if shown > MOST_CHANGED:
                    yield DiffLine(kind="gap", text="…")
                    return
                yield DiffLine(kind=kind, text=line[: LARGEST_SHOWN // 50])


def _diagnoses(report: LintReport) -> tuple[ShownDiagnosis, ...]:
    output = report.source.output
    if not output:
        return ()
    return shown_diagnoses(read_log(output.encode("utf-8", "replace")).diagnoses)
