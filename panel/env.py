"""Typed readers of environment variables; remembers every name that was asked for."""

import os
from pathlib import Path
from string import Formatter
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

__all__ = [
    "asked_names",
    "boolean",
    "broker_address",
    "group_roles",
    "integer",
    "items",
    "link_template",
    "oidc_provider",
    "secret",
    "text",
]

_WORDS = {"1": True, "true": True, "yes": True, "on": True}
_WORDS |= {"0": False, "false": False, "no": False, "off": False}
_asked: set[str] = set()


def asked_names() -> frozenset[str]:
    """Return the names of all variables that were read, with ``_FILE`` twins."""
    return frozenset(_asked)


def text(name: str, *, default: str | None = None) -> str:
    """Return the variable, or the default; without a default it must be set.

    Raises:
        ImproperlyConfigured: not set, or empty, and there is no default.
    """
    _asked.add(name)
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(
            f"{name} is not set: give it a value (.env.example lists all of them)."
        )
    return default


def boolean(name: str, *, default: bool) -> bool:
    """Return the variable as yes or no.

    Raises:
        ImproperlyConfigured: a word other than 1, true, yes, on, 0, false, no, off.
    """
    value = text(name, default="1" if default else "0").lower()
    if value not in _WORDS:
        raise ImproperlyConfigured(f"{name} is {value!r}, but must be 1 or 0.")
    return _WORDS[value]


def integer(name: str, *, default: int, minimum: int = 0) -> int:
    """Return the variable as a whole number.

    Raises:
        ImproperlyConfigured: not a whole number, or less than the minimum.
    """
    value = text(name, default=str(default))
    if not value.isdecimal() or int(value) < minimum:
        raise ImproperlyConfigured(
            f"{name} is {value!r}, but must be a whole number of at least {minimum}."
        )
    return int(value)


def items(name: str, *, default: str | None = None) -> list[str]:
    """Return the parts of a comma-separated variable, without empty ones."""
    parts = (part.strip() for part in text(name, default=default).split(","))
    return [part for part in parts if part]


def secret(name: str, *, default: str | None = None) -> str:
    """Return the variable, or what is in the file that ``NAME_FILE`` names.

    Raises:
        ImproperlyConfigured: neither is set, both are, or the file cannot be read.
    """
    path = text(f"{name}_FILE", default="")
    if not path:
        return text(name, default=default)
    if os.environ.get(name, "").strip():
        raise ImproperlyConfigured(f"Both {name} and {name}_FILE are set: keep one.")
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}_FILE names {path}, which cannot be read: {error.strerror}."
        ) from error
    if not value:
        raise ImproperlyConfigured(f"{name}_FILE names {path}, which is empty.")
    return value


def broker_address(redis_url: str) -> str:
    """Return the same Redis as Celery spells it: ``unix:`` is ``redis+socket:`` there.

    Raises:
        ImproperlyConfigured: a scheme other than redis, rediss and unix.
    """
    parts = urlsplit(redis_url)
    if parts.scheme in {"redis", "rediss"}:
        return redis_url
    if parts.scheme != "unix":
        raise ImproperlyConfigured(
            f"REDIS_URL begins with {parts.scheme!r}, but must begin with "
            "redis://, rediss:// or unix://."
        )
    password = f":{parts.password}@" if parts.password else ""
    query = parts.query.replace("db=", "virtual_host=")
    return f"redis+socket://{password}{parts.path}" + (f"?{query}" if query else "")


def group_roles(name: str) -> dict[str, tuple[str, str]]:
    """Return what groups stand for, from ``group=team:role`` parts: a team's short name and a role.

    Raises:
        ImproperlyConfigured: a part is not of this form.
    """
    found: dict[str, tuple[str, str]] = {}
    for part in items(name, default=""):
        group, _, right = part.rpartition("=")
        team, _, role = right.partition(":")
        if not (group and team and role):
            raise ImproperlyConfigured(
                f"{name} has {part!r}: write group=team:role, as in ops=default:operator."
            )
        found[group.strip()] = (team.strip(), role.strip())
    return found


def link_template(name: str, places: frozenset[str]) -> str:
    """Return an address with places such as ``{from}``, or nothing where none is given.

    Raises:
        ImproperlyConfigured: no http or https address, or a place that nothing is known for.
    """
    value = text(name, default="")
    if not value:
        return ""
    known = ", ".join(f"{{{place}}}" for place in sorted(places))
    try:
        parts = urlsplit(value)
        found = list(Formatter().parse(value))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} cannot be read: {error}.") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ImproperlyConfigured(
            f"{name} is {value!r}, but must begin with http:// or https:// and a host."
        )
    if any(bracket in f"{parts.netloc}" for bracket in "{}"):
        raise ImproperlyConfigured(f"{name} must name its host without a place in it.")
    for _text, place, form, conversion in found:
        if place is not None and (place not in places or form or conversion):
            raise ImproperlyConfigured(
                f"{name} has a place {{{place}}} that nothing is known for; there are {known}."
            )
    return value


def oidc_provider(
    issuer: str, name: str, client: str, password: str
) -> dict[str, object]:
    """Return what allauth needs to know of the one provider; nothing where there is no issuer.

    Raises:
        ImproperlyConfigured: an issuer without a client.
    """
    if not issuer:
        return {}
    if not client or not password:
        raise ImproperlyConfigured(
            "OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET."
        )
    app = {
        "provider_id": "sso",
        "name": name,
        "client_id": client,
        "secret": password,
        "settings": {"server_url": issuer.rstrip("/")},
    }
    return {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}
