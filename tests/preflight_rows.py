"""Preflight lists of requests, for tests."""
# mypy: allow-untyped-calls

from datetime import datetime
from typing import Any

from django.utils import timezone
from factory.declarations import SubFactory
from factory.django import DjangoModelFactory

from deployments.models import Preflight, PreflightCheck, PreflightState
from deployments.planning.text import Text
from tests.factories import ApprovalRequestFactory


class PreflightFactory(DjangoModelFactory[Preflight]):
    """A preflight that nobody has asked for yet."""

    class Meta:
        model = Preflight

    request = SubFactory(ApprovalRequestFactory)


def result(  # noqa: PLR0913 - tests name what they care about
    check: PreflightCheck,
    state: PreflightState = PreflightState.PASSED,
    sentence: str = "",
    *,
    fix: str = "",
    host: str = "",
    image: str = "",
    at: datetime | None = None,
) -> dict[str, Any]:
    """One result as a worker writes it."""
    return {
        "check": check.value,
        "host": host,
        "image": image,
        "state": state.value,
        "sentence": Text(sentence).document if sentence else None,
        "fix": Text(fix).document if fix else None,
        "at": (at or timezone.now()).isoformat(),
    }
