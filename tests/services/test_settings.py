"""Settings of one person stay that person's."""

import pytest

from deployments.models import Density, Theme
from deployments.services.settings import change_settings, change_theme
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def test_settings_are_kept_for_this_person_only() -> None:
    """Every choice, and nobody else's."""
    alice, bob = UserFactory.create(), UserFactory.create()
    change_settings(
        alice,
        language="zh-hans",
        time_zone="Asia/Shanghai",
        theme=Theme.DARK,
        density=Density.COMPACT,
    )
    alice.refresh_from_db()
    bob.refresh_from_db()
    assert (alice.language, alice.time_zone) == ("zh-hans", "Asia/Shanghai")
    assert (alice.theme, alice.density) == (Theme.DARK, Density.COMPACT)
    assert (bob.language, bob.theme) == ("", Theme.SYSTEM)


def test_the_theme_alone_leaves_the_rest() -> None:
    """The switch in the bar touches nothing else."""
    alice = UserFactory.create(language="en", density=Density.COMPACT)
    change_theme(alice, Theme.LIGHT)
    alice.refresh_from_db()
    assert (alice.theme, alice.language) == (Theme.LIGHT, "en")
    assert alice.density == Density.COMPACT
