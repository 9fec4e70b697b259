"""The frame around every page: navigation, teams, language and theme."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django import template
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language, get_language_info
from django.utils.translation import gettext_lazy as _

from deployments.models import Theme
from deployments.selectors.waiting import teams_with_waiting

register = template.Library()

GO_KEYS: Mapping[str, str] = {
    "overview": "o",
    "deployment-list": "d",
    "approval-list": "a",
    "alarm-list": "m",
    "plan": "p",
    "check": "k",
    "benchmark-list": "b",
    "calculator": "x",
    "catalog": "c",
    "fleet": "h",
    "guide": "g",
    "audit": "u",
    "settings": "s",
}
"""Pressed after ``g``: the entry of the navigation that opens."""
GROUPS: tuple[tuple[tuple[str, Any], ...], ...] = (
    (
        ("overview", _("Overview")),
        ("deployment-list", _("Deployments")),
        ("approval-list", _("Approvals")),
        ("alarm-list", _("Alarms")),
    ),
    (
        ("plan", _("Plan")),
        ("check", _("Check")),
        ("calculator", _("Calculator")),
        ("benchmark-list", _("Benchmarks")),
    ),
    (("catalog", _("Catalog")), ("fleet", _("Fleet"))),
    (("guide", _("Guide")), ("audit", _("Audit")), ("settings", _("Settings"))),
)
SECTION_BY_PREFIX = {
    "overview": "overview",
    "deployment": "deployment-list",
    "release": "deployment-list",
    "approval": "approval-list",
    "alarm": "alarm-list",
    "stored-plan": "approval-list",
    "plan": "plan",
    "check": "check",
    "rule": "check",
    "benchmark": "benchmark-list",
    "measuring": "deployment-list",
    "pair": "deployment-list",
    "calculator": "calculator",
    "catalog": "catalog",
    "fleet": "fleet",
    "host": "fleet",
    "cluster": "fleet",
    "guide": "guide",
    "style": "guide",
    "audit": "audit",
    "service": "overview",
    "table": "overview",
    "settings": "settings",
    "notices": "settings",
    "absence": "settings",
    "channel": "settings",
    "delivery": "settings",
    "team": "settings",
    "platform": "settings",
    "invitation": "settings",
    "account": "settings",
    "mfa": "settings",
}
THEME_AFTER = {
    Theme.SYSTEM: Theme.LIGHT,
    Theme.LIGHT: Theme.DARK,
    Theme.DARK: Theme.SYSTEM,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the navigation; ``waiting`` counts what waits for the person, ``key`` opens it."""

    url: str
    label: Any
    current: bool
    key: str
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands around the page for one person; ``here`` is the address to come back to."""

    navigation: SafeString
    person: str
    teams: tuple[str, ...]
    theme: Theme
    here: str


@register.simple_tag(takes_context=True)
def frame(context: Context) -> Frame | None:
    """Navigation and person, in one query; ``None`` for people who are not logged in."""
    request: HttpRequest = context["request"]
    user = request.user
    if isinstance(user, AnonymousUser):
        return None
    match = request.resolver_match
    section = section_of(match.view_name if match else "")
    teams = teams_with_waiting(user)
    return Frame(
        navigation=_navigation(
            get_language(), section, sum(waiting for _name, waiting in teams)
        ),
        person=str(user),
        teams=tuple(name for name, _waiting in teams),
        theme=Theme(user.theme),
        here=request.get_full_path(),
    )


@lru_cache(maxsize=512)
def _navigation(language: str | None, section: str, waiting: int) -> SafeString:
    """The navigation as everybody sees it in that section with so much waiting."""
    del language
    groups = _groups(section, waiting)
    return render_to_string("components/navigation.html", {"groups": groups})


def _groups(section: str, waiting: int) -> tuple[tuple[Entry, ...], ...]:
    return tuple(
        tuple(
            Entry(
                url=reverse(name),
                label=label,
                current=name == section,
                key=GO_KEYS.get(name, ""),
                waiting=waiting if name == "approval-list" else 0,
            )
            for name, label in group
        )
        for group in GROUPS
    )


def section_of(view_name: str) -> str:
    """The navigation entry that a view belongs to; empty for what finds all of them, and for none."""
    matches = [prefix for prefix in SECTION_BY_PREFIX if view_name.startswith(prefix)]
    return SECTION_BY_PREFIX[max(matches, key=len)] if matches else ""


@register.simple_tag
def go_keys() -> list[tuple[str, Any]]:
    """The second keys of ``g d`` and its like, with what they open."""
    labels = {name: label for group in GROUPS for name, label in group}
    return [(key, labels[name]) for name, key in GO_KEYS.items() if name in labels]


@register.simple_tag
def theme_after(theme: Theme) -> Theme:
    """The theme that a click on its button leads to."""
    return THEME_AFTER[theme]


@register.simple_tag
def theme_names() -> str:
    """What the themes are called, for scripts: JSON."""
    return json.dumps({t.value: str(t.label).lower() for t in THEME_AFTER})


@register.simple_tag
def other_languages() -> list[dict[str, str]]:
    """Every language of the panel but the one of this page, each in its own name."""
    current = get_language()
    return [
        {"code": code, "name": str(get_language_info(code)["name_local"])}
        for code, _name in settings.LANGUAGES
        if code != current
    ]


@register.simple_tag
def language_tag() -> str:
    """The language of the page as browsers name it: ``en``, ``zh-Hans``."""
    main, _dash, script = (get_language() or "en").partition("-")
    return f"{main}-{script.title()}" if script else main
