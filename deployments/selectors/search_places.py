"""Places that do not come from the database: pages, and sections and rules of the guide."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deployments.selectors.guide import DIAGNOSES, chapters, place_of
from deployments.selectors.guide_contents import headings
from deployments.selectors.rules import rule_entries

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An address with its name; ``words`` are others that people look for it by, in lower case."""

    url: str
    text: str
    note: str = ""
    words: str = ""

    def fits(self, word: str) -> bool:
        """Whether a word, in lower case, is part of any name."""
        return word in self.text.lower() or word in self.words


PAGES: tuple[tuple[str, "StrOrPromise", str], ...] = (
    ("overview", _("Overview"), "home start overview"),
    ("deployment-list", _("Deployments"), "services"),
    ("release-list", _("Releases"), "history rollout"),
    ("approval-list", _("Approvals"), "requests vote inbox"),
    ("alarm-list", _("Alarms"), "alerts incidents"),
    ("plan", _("Plan a deployment"), "wizard new"),
    ("plan-spec", _("Import a deployment spec"), "yaml upload"),
    ("check", _("Check a launch"), "lint command script compose docker"),
    ("check-log", _("Read a log"), "paste diagnose metrics acceptance"),
    ("rule-list", _("Rules"), "findings reference"),
    ("calculator", _("Speculation calculator"), "speedup estimate memory"),
    ("benchmark-list", _("Benchmarks"), "results verdict vllm bench serve"),
    ("benchmark-compare", _("Comparison"), "compare benchmarks on off"),
    ("catalog", _("Catalog"), "models drafters"),
    ("catalog-import", _("Import a model"), "config.json own"),
    ("catalog-entries", _("Entries from a file"), "catalog yaml import"),
    ("catalog-engines", _("Engine profiles"), "versions vllm vllm-ascend"),
    ("fleet", _("Fleet"), "hosts devices clusters"),
    ("host-list", _("Hosts"), "fleet table"),
    ("host-add", _("Add a host"), "docker tls ssh"),
    ("guide", _("Guide"), "help documentation"),
    ("audit", _("Audit"), "who did what log"),
    ("settings", _("Settings"), "language theme zone"),
    ("settings-tokens", _("Tokens"), "api key robot"),
    ("settings-sessions", _("Sessions"), "devices log out"),
    ("absence", _("Absence"), "delegate holiday"),
    (
        "notices",
        _("Notices"),
        "notifications mail webhook slack dingtalk feishu wecom teams",
    ),
    ("team-list", _("Teams"), "members roles invitations"),
    ("account-list", _("Accounts"), "people disable"),
    ("account_change_password", _("Change the password"), "account password"),
    ("mfa_index", _("Second factor"), "totp mfa 2fa recovery"),
    ("style", _("Components"), "style design developers"),
)
"""Pages that need nothing but their address: the route, its name, and words in lower case."""


def pages() -> tuple[Place, ...]:
    """The pages that stand by themselves; who may not open one is told so there."""
    return tuple(
        Place(url=reverse(route), text=str(title), words=words)
        for route, title, words in PAGES
    )


@cache
def guide_places(language: str) -> tuple[Place, ...]:
    """Chapters and sections, findings and diagnoses; read once, for the text ships with the panel."""
    return (*_sections(language), *_codes())


def _sections(language: str) -> Iterator[Place]:
    for chapter in chapters(language):
        title = render_to_string(chapter.title).strip()
        url = reverse("guide-chapter", args=[chapter.slug])
        yield Place(url=url, text=title, note=gettext("Guide"), words=chapter.slug)
        for heading in headings(render_to_string(chapter.body)):
            yield Place(
                url=f"{url}#{heading.anchor}",
                text=heading.title,
                note=title,
                words=heading.anchor.lower(),
            )


def _codes() -> Iterator[Place]:
    for code, rule in rule_entries().items():
        words = code.lower().replace("_", " ")
        yield Place(url=rule.url, text=code, note=gettext("Rule"), words=words)
    for code in DIAGNOSES:
        place = place_of(code)
        if place is None or code in rule_entries():
            continue
        url = f"{reverse('guide-chapter', args=[place.chapter])}#{place.anchor}"
        words = code.lower().replace("_", " ")
        yield Place(url=url, text=code, note=gettext("Diagnosis"), words=words)
