"""What every page may show about the panel itself."""

from django.conf import settings
from django.http import HttpRequest

__all__ = ["panel"]


def panel(request: HttpRequest) -> dict[str, bool]:
    """Whether web, workers and container host share one machine and one account."""
    return {"lab_mode": settings.LAB_MODE}
