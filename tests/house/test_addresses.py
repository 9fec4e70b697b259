"""Every address is in the permission manifest, and the manifest tells the truth."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

from deployments.views.manifest import MANIFEST

SAFE = frozenset({"GET", "HEAD"})


def patterns(resolver: URLResolver | None = None) -> Iterator[URLPattern]:
    """Yield every pattern below a resolver."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry)
        else:
            yield entry


def test_every_address_has_a_name_in_the_manifest() -> None:
    """An address without an entry is refused, so it must not exist."""
    assert [str(entry.pattern) for entry in patterns() if not entry.name] == []
    assert {entry.name for entry in patterns()} - set(MANIFEST) == set()


def test_manifest_has_no_entry_without_an_address() -> None:
    """A stale entry would grant something to the next page of that name."""
    assert set(MANIFEST) - {entry.name for entry in patterns()} == set()


def test_views_without_log_in_are_exactly_the_public_ones() -> None:
    """The manifest and the view must not disagree about who may come in."""
    public = {name for name, permission in MANIFEST.items() if permission.public}
    opened = {
        entry.name
        for entry in patterns()
        if getattr(entry.callback, "login_required", True) is False
    }
    assert public <= opened
    # Service discovery asks for a key where there is no session.
    assert public == {
        "account_login",
        "healthz",
        # The link itself is the key.
        "invitation",
        "mfa_authenticate",
        "openid_connect_callback",
        "openid_connect_login",
        "service-discovery",
        "set_language",
        "socialaccount_login_cancelled",
        "socialaccount_login_error",
        "socialaccount_signup",
    }


def test_methods_are_reads_and_posts_only() -> None:
    """Forms can send nothing else, and nothing else is needed."""
    methods = {method for entry in MANIFEST.values() for method in entry.methods}
    assert methods <= SAFE | {"POST"}


def test_a_role_is_asked_for_only_where_something_changes() -> None:
    """Reads go by team membership, in the selectors."""
    reading = {
        name for name, entry in MANIFEST.items() if entry.role and entry.methods <= SAFE
    }
    assert reading == set()
