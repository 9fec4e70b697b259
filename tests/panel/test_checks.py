"""Combinations of settings that would be unsafe or could never work."""

from collections.abc import Mapping
from types import SimpleNamespace

import pytest

from deployments.checks import check_combinations

SOUND: Mapping[str, object] = {
    "SERVED_OVER_HTTPS": True,
    "ALLAUTH_TRUSTED_PROXY_COUNT": 1,
    "LAB_MODE": False,
    "CREDENTIALS_KEYS": ["a key"],
    "HOST_NETWORKS_ALLOWED": ["127.0.0.0/8"],
    "NOTICE_NETWORKS_ALLOWED": ["127.0.0.0/8"],
    "ALLOWED_HOSTS": ["panel.example"],
    "REDIS_URL": "redis://:secret@redis:6379/0",
    "DATABASES": {"default": {"ENGINE": "django.db.backends.postgresql"}},
}


def found(patch: pytest.MonkeyPatch, **changes: object) -> list[str]:
    """Return the ids of the messages that these settings cause."""
    settings = SimpleNamespace(**{**SOUND, **changes})
    patch.setattr("deployments.checks.settings", settings)
    return [str(message.id) for message in check_combinations()]


def test_sound_settings_cause_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else everybody learns to look away."""
    assert found(monkeypatch) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ALLAUTH_TRUSTED_PROXY_COUNT": 0}, "deployments.E001"),
        ({"SERVED_OVER_HTTPS": False}, "deployments.W002"),
        ({"LAB_MODE": True}, "deployments.E003"),
        ({"HOST_NETWORKS_ALLOWED": ["lab"]}, "deployments.E007"),
        ({"NOTICE_NETWORKS_ALLOWED": ["mail"]}, "deployments.E007"),
        ({"CREDENTIALS_KEYS": []}, "deployments.W006"),
        ({"REDIS_URL": "redis://redis:6379/0"}, "deployments.E004"),
        (
            {"DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3"}}},
            "deployments.W005",
        ),
    ],
)
def test_unsafe_combination_is_named(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], expected: str
) -> None:
    """One message each, with a hint that says how to mend it."""
    assert found(monkeypatch, **changes) == [expected]


def test_lab_on_the_loopback_address_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite, no HTTPS, a socket: what make run sets."""
    lab: dict[str, object] = {
        "LAB_MODE": True,
        "SERVED_OVER_HTTPS": False,
        "ALLOWED_HOSTS": ["127.0.0.1", "localhost"],
        "REDIS_URL": "unix:///var/redis.sock",
        "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3"}},
    }
    assert found(monkeypatch, **lab) == []
