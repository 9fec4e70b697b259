"""Choosing the language of the pages."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from deployments.models import User


@login_not_required
@require_POST
def choose_language(request: HttpRequest) -> HttpResponseBase:
    """Keep the choice in a cookie, and for people who are logged in in their account."""
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        User.objects.filter(pk=request.user.pk).update(language=language)
    return set_language(request)
