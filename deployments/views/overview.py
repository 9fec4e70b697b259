"""The overview, or the three first steps where nothing was planned yet."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from deployments.selectors.overview import first_steps, has_deployments, overview_of
from deployments.views.people import person


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """What needs the person, and how speculation does."""
    user = person(request)
    if not has_deployments(user):
        return render(
            request, "overview/first_steps.html", {"steps": first_steps(user)}
        )
    return render(request, "overview/overview.html", {"overview": overview_of(user)})
