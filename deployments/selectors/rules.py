"""The reference of rules: every code of launches and plans with what is known about it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import strip_tags
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from deployments.models import TargetModel, User
from deployments.planning.catalog import TargetModel as CatalogEntry
from deployments.planning.errors import PlanningError
from deployments.planning.failures.known import KNOWN_FAILURES
from deployments.planning.failures.signature import Signature
from deployments.planning.plan import Severity
from deployments.planning.rules.cards import PLAN_CARDS, PlanCard
from deployments.planning.rules.launch.known import KnownModels
from deployments.planning.rules.launch.lint import CARDS
from deployments.planning.rules.launch.rule import ALL_VERSIONS, RuleCard
from deployments.planning.text import Text, fields_of
from deployments.selectors.diagnoses import SEVERITIES
from deployments.selectors.guide import chapters
from deployments.selectors.planning_inputs import catalog_entry
from deployments.selectors.texts import say

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

CATEGORY_TITLES: Mapping[str, "StrOrPromise"] = {
    "quoting": _("Quoting and reading"),
    "unknown-flag": _("Flags"),
    "unsupported-method": _("Methods"),
    "missing-drafter": _("Drafter not named"),
    "draft-loading": _("Loading the drafter"),
    "missing-weights": _("Missing weights"),
    "missing-package": _("Missing packages"),
    "k-limit": _("Number of tokens"),
    "token-budget": _("Token budget"),
    "batch-limit": _("Batch size"),
    "cudagraph": _("Graph capture"),
    "ascend-graph": _("Graph capture on Ascend"),
    "ascend-version": _("Versions of vllm-ascend"),
    "pipeline-parallel": _("Pipeline parallel"),
    "tensor-parallel": _("Tensor parallel"),
    "data-parallel": _("Data parallel"),
    "async-scheduling": _("Asynchronous scheduling"),
    "lora": _("LoRA"),
    "structured-output": _("Structured output"),
    "tool-calls": _("Tool calls"),
    "disaggregation": _("Prefill and decode apart"),
    "memory": _("Memory"),
    "port": _("Ports"),
    "mount": _("Mounts"),
    "device": _("Devices"),
    "no-metrics": _("Proof of speculation"),
    "zero-acceptance": _("Nothing accepted"),
    "low-acceptance": _("Low acceptance"),
    "slower-than-baseline": _("Slower than without drafting"),
    "crash": _("Crashes"),
    "broken-image": _("Images"),
    "control-panel": _("The panel itself"),
    "environment": _("Environment"),
    "other": _("Other"),
}
"""Every category that a rule can have, in the order of the reference."""

LAUNCH, PLAN, FAILURE = "launch", "plan", "failure"
_RANK = list(Severity)
_ENTRY = re.compile(
    r'<dt id="rule-(?P<code>\w+)"[^>]*>.*?</dt>\s*<dd>(?P<text>.*?)</dd>', re.DOTALL
)
_LINK = re.compile(r"<a .*?</a>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEntry:
    """One code: its card for launches, for plans, and the failure that logs show under it."""

    code: str
    launch: RuleCard | None = None
    plan: PlanCard | None = None
    failure: Signature | None = None

    @property
    def category(self) -> str:
        """What it is about."""
        card = self.launch or self.plan or self.failure
        return card.category if card else "other"

    @property
    def category_title(self) -> "StrOrPromise":
        """What it is about, in words."""
        return CATEGORY_TITLES[self.category]

    @property
    def severities(self) -> tuple[Severity, ...]:
        """How bad it can be, the worst first."""
        found = {self.launch.severity} if self.launch else set()
        found |= set(self.plan.severities) if self.plan else set()
        found |= {SEVERITIES[self.failure.severity]} if self.failure else set()
        return tuple(sorted(found, key=_RANK.index))

    @property
    def severity(self) -> Severity:
        """How bad it is at worst."""
        return self.severities[0]

    @property
    def summary(self) -> str:
        """One or two sentences in the language of the page."""
        if self.launch is not None:
            return say(self.launch.summary)
        return self.plan_text or self.cause

    @property
    def cause(self) -> str:
        """Why logs show the failure; a word that comes from the log is left open."""
        return say(_open(self.failure.cause)) if self.failure else ""

    @property
    def mending(self) -> str:
        """How to mend the failure that logs show."""
        return say(_open(self.failure.fix)) if self.failure else ""

    @property
    def plan_text(self) -> str:
        """What the guide says of it as a rule over plans."""
        return plan_texts(get_language() or "en").get(self.code, "")

    @property
    def versions(self) -> str:
        """The engine versions that it is about; empty for all."""
        if self.launch is None and self.failure is not None:
            return self.failure.versions
        said = self.launch.versions if self.launch else ALL_VERSIONS
        return "" if said == ALL_VERSIONS else say(said)

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms that it is about; empty for all."""
        card = self.launch or self.failure
        return card.platforms if card else ()

    @property
    def url(self) -> str:
        """Its page."""
        return reverse("rule", args=[self.code])

    def fits(self, words: Sequence[str]) -> bool:
        """Whether every word, in lower case, is in its code or its text."""
        name = self.code.lower()
        return all(
            word in name or word in name.replace("_", " ") or word in self._text()
            for word in words
        )

    def _text(self) -> str:
        fix = say(self.launch.fix) if self.launch else ""
        shown = self.failure.shows if self.failure else ""
        said = f"{fix} {self.cause} {self.mending} {shown}"
        return f"{self.summary} {said} {self.category} {self.category_title}".lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleGroup:
    """The rules of one category."""

    title: "StrOrPromise"
    category: str
    rules: tuple[RuleEntry, ...]


@cache
def rule_entries() -> Mapping[str, RuleEntry]:
    """Every rule by its code."""
    launch = {card.code: card for card in CARDS}
    plan = {card.code: card for card in PLAN_CARDS}
    failures = {one.code: one for one in KNOWN_FAILURES}
    return {
        code: RuleEntry(
            code=code,
            launch=launch.get(code),
            plan=plan.get(code),
            failure=failures.get(code),
        )
        for code in dict.fromkeys((*launch, *plan, *failures))
    }


def _open(said: Text) -> Text:
    return said.filled(dict.fromkeys(fields_of(said.template), "…"))


@cache
def plan_texts(language: str) -> Mapping[str, str]:
    """What the guide says of each rule over plans, links left out."""
    chapter = next(one for one in chapters(language) if one.slug == "rules")
    body = render_to_string(chapter.body)
    return {
        found["code"]: strip_tags(_LINK.sub("", found["text"])).strip()
        for found in _ENTRY.finditer(body)
    }


def rule_groups(
    words: Sequence[str] = (), severity: str = "", category: str = "", kind: str = ""
) -> tuple[RuleGroup, ...]:
    """The rules that fit, by category; an empty wish is none."""
    fitting = [
        one
        for one in rule_entries().values()
        if (not severity or severity in one.severities)
        and (not category or one.category == category)
        and (not kind or getattr(one, kind) is not None)
        and one.fits(words)
    ]
    return tuple(
        RuleGroup(title=title, category=name, rules=rules)
        for name, title in CATEGORY_TITLES.items()
        if (rules := tuple(one for one in fitting if one.category == name))
    )


def rule_address(code: str) -> str:
    """The page of a rule; empty where no rule has that code."""
    entry = rule_entries().get(code)
    return entry.url if entry else ""


def known_models(user: User) -> KnownModels:
    """The target models that the person may see, as launches name them; one query."""
    return KnownModels(tuple(_readable(user)))


def _readable(user: User) -> Iterator[CatalogEntry]:
    for row in TargetModel.objects.for_user(user):
        try:
            yield catalog_entry(row)
        except PlanningError:
            continue
