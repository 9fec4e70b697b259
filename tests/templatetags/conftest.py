"""What templates call is tested in English, whatever a page before it left active."""

from collections.abc import Iterator

import pytest
from django.utils import translation


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    """Pages activate a language for their thread; these tests call no page."""
    with translation.override("en"):
        yield
