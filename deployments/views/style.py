"""The style page: every component in its states, for developers; its values are examples."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def style(request: HttpRequest) -> HttpResponse:
    """All components, light and dark beside each other."""
    return render(request, "style/style.html", {})
