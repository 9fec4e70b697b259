"""What every page may show about the panel itself."""

from django.conf import settings
from django.http import HttpRequest

__all__ = ["panel"]


def panel(request: HttpRequest) -> dict[str, object]:
    """Whether all runs on one machine under one account, and the name of a single sign-on."""
    named = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
    return {"lab_mode": settings.LAB_MODE, "single_sign_on": named}
