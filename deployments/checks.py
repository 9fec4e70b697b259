"""System checks: combinations of settings that would be unsafe or never work."""

from collections.abc import Iterator
from ipaddress import ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as CheckWarning

__all__ = ["check_combinations"]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})


def check_combinations(**_kwargs: object) -> list[CheckMessage]:
    """Return every rule that the settings break."""
    return [*_transport(), *_lab(), *_secrets(), *_networks(), *_parts()]


def _transport() -> Iterator[CheckMessage]:
    if settings.SERVED_OVER_HTTPS and not settings.ALLAUTH_TRUSTED_PROXY_COUNT:
        yield Error(
            "SERVED_OVER_HTTPS=1 without a trusted proxy redirects for ever.",
            hint="Set TRUSTED_PROXY_COUNT to the number of proxies in front.",
            id="deployments.E001",
        )
    if not settings.SERVED_OVER_HTTPS and not settings.LAB_MODE:
        yield CheckWarning(
            "Passwords and cookies would cross the network in clear text.",
            hint="Put a TLS proxy in front and set SERVED_OVER_HTTPS=1.",
            id="deployments.W002",
        )


def _lab() -> Iterator[CheckMessage]:
    if not settings.LAB_MODE:
        return
    if not LOOPBACK.issuperset(settings.ALLOWED_HOSTS):
        yield Error(
            "LAB_MODE=1 is for one machine, but ALLOWED_HOSTS names other addresses.",
            hint="Leave LAB_MODE unset for a panel that other machines reach.",
            id="deployments.E003",
        )


def _secrets() -> Iterator[CheckMessage]:
    if not settings.CREDENTIALS_KEYS:
        yield CheckWarning(
            "Without CREDENTIALS_KEY no credentials of hosts can be kept.",
            hint="README.md says how to make a key; keep it apart from the database.",
            id="deployments.W006",
        )


def _networks() -> Iterator[CheckMessage]:
    for name in ("HOST_NETWORKS_ALLOWED", "NOTICE_NETWORKS_ALLOWED"):
        for words in getattr(settings, name):
            try:
                ip_network(words)
            except ValueError:
                yield Error(
                    f"{name} names {words}, which is no network.",
                    hint="Write networks as 127.0.0.0/8, separated by commas.",
                    id="deployments.E007",
                )


def _parts() -> Iterator[CheckMessage]:
    redis = urlsplit(settings.REDIS_URL)
    if redis.scheme != "unix" and redis.hostname not in LOOPBACK and not redis.password:
        yield Error(
            "REDIS_URL names a Redis on the network that asks for no password.",
            hint="Give it an ACL user and put name and password into REDIS_URL.",
            id="deployments.E004",
        )
    engine = settings.DATABASES["default"]["ENGINE"]
    if engine == "django.db.backends.sqlite3" and not settings.LAB_MODE:
        yield CheckWarning(
            "SQLite serves one machine only.",
            hint="Use PostgreSQL in DATABASE_URL.",
            id="deployments.W005",
        )
