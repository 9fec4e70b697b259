"""The overview, or the three first steps where nothing was planned yet."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from deployments.selectors.first_steps import first_steps
from deployments.selectors.overview import overview_of
from deployments.views.people import person
from deployments.views.wizard_drafts import draft_lines


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """What needs the person, and how speculation does."""
    page = overview_of(person(request))
    if page is None:
        steps = {
            "overview": first_steps(person(request)),
            "drafts": draft_lines(person(request)),
        }
        return render(request, "overview/first_steps.html", steps)
    return render(request, "overview/overview.html", {"overview": page})
