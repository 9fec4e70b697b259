"""The navigation around every page."""

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from deployments.templatetags.frame import GROUPS, section_of
from deployments.views.manifest import MANIFEST

NO_PAGE = {
    "healthz",
    "set_language",
    # Single sign-on leads to a provider and back.
    "openid_connect_callback",
    "openid_connect_login",
    "socialaccount_login_cancelled",
    "socialaccount_login_error",
    "socialaccount_signup",
}
EVERYWHERE = {"search"}


@pytest.mark.parametrize("name", sorted(set(MANIFEST) - NO_PAGE - EVERYWHERE))
def test_every_page_belongs_to_an_entry_of_the_navigation(name: str) -> None:
    """A person always sees where they are."""
    entries = {entry for group in GROUPS for entry, _label in group}
    assert section_of(name) in entries


def test_the_longest_prefix_decides() -> None:
    """Files of a stored plan belong to its approval, not to the planner."""
    assert section_of("stored-plan-files") == "approval-list"
    assert section_of("plan-files") == "plan"
    assert section_of("") == section_of("search") == ""


def test_every_entry_leads_somewhere() -> None:
    """The navigation shows only pages that exist, so each of them must."""
    names = {
        entry.name
        for entry in get_resolver().url_patterns
        if isinstance(entry, URLPattern)
    }
    for resolver in get_resolver().url_patterns:
        if isinstance(resolver, URLResolver):
            names |= {
                entry.name
                for entry in resolver.url_patterns
                if isinstance(entry, URLPattern)
            }
    assert {name for group in GROUPS for name, _label in group} <= names
