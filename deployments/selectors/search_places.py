"""Places that do not come from the database: pages, and sections and rules of the guide."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _

from deployments.selectors.guide import DIAGNOSES, chapters, place_of
from deployments.selectors.guide_contents import headings
from deployments.selectors.rules import rule_entries


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


def pages() -> tuple[Place, ...]:
    """The pages that everybody can open."""
    return (
        Place(url=reverse("overview"), text=_("Overview"), words="home start overview"),
        Place(url=reverse("deployment-list"), text=_("Deployments"), words="services"),
        Place(url=reverse("release-list"), text=_("Releases"), words="history rollout"),
        Place(url=reverse("approval-list"), text=_("Approvals"), words="requests vote"),
        Place(url=reverse("plan"), text=_("Plan a deployment"), words="wizard new"),
        Place(
            url=reverse("check"),
            text=_("Check a launch"),
            words="lint command script compose docker",
        ),
        Place(url=reverse("rule-list"), text=_("Rules"), words="findings reference"),
        Place(url=reverse("catalog"), text=_("Catalog"), words="models drafters"),
        Place(url=reverse("fleet"), text=_("Fleet"), words="hosts devices clusters"),
        Place(url=reverse("host-list"), text=_("Hosts"), words="fleet table"),
        Place(url=reverse("guide"), text=_("Guide"), words="help documentation"),
        Place(url=reverse("settings"), text=_("Settings"), words="language theme zone"),
        Place(
            url=reverse("account_change_password"),
            text=_("Change the password"),
            words="account password",
        ),
        Place(
            url=reverse("mfa_index"),
            text=_("Second factor"),
            words="totp mfa 2fa recovery",
        ),
    )


@cache
def guide_places(language: str) -> tuple[Place, ...]:
    """Chapters and sections, findings and diagnoses; read once, for the text ships with the panel."""
    return (*_sections(language), *_codes())


def _sections(language: str) -> Iterator[Place]:
    for chapter in chapters(language):
        title = render_to_string(chapter.title).strip()
        url = reverse("guide-chapter", args=[chapter.slug])
        yield Place(url=url, text=title, note=_("Guide"), words=chapter.slug)
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
        yield Place(url=rule.url, text=code, note=_("Rule"), words=words)
    for code in DIAGNOSES:
        place = place_of(code)
        if place is None or code in rule_entries():
            continue
        url = f"{reverse('guide-chapter', args=[place.chapter])}#{place.anchor}"
        words = code.lower().replace("_", " ")
        yield Place(url=url, text=code, note=_("Diagnosis"), words=words)
