"""Two revisions of a deployment side by side."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from deployments.planning.errors import PlanningError
from deployments.selectors.deployments import deployment_page, revision_history
from deployments.selectors.revision_pair import RevisionPair, revision_pair
from deployments.selectors.texts import say_error
from deployments.views.deployments import find, head
from deployments.views.people import person


@require_safe
def revisions(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """How any two revisions differ; the newest two unless the address names others."""
    row = find(request, pk)
    page = deployment_page(person(request), row)
    requests = list(revision_history(row))
    old, new = request.GET.get("old", ""), request.GET.get("new", "")
    pair: RevisionPair | None = None
    error = ""
    try:
        pair = revision_pair(requests, old, new)
    except PlanningError as refused:
        error = say_error(refused)
    if pair:
        old, new = (str(one.plan.revision.number) for one in (pair.old, pair.new))
    context = {
        **head(page, "releases"),
        "pair": pair,
        "error": error,
        "numbers": list(
            dict.fromkeys(str(one.plan.revision.number) for one in requests)
        ),
        "old": old,
        "new": new,
    }
    return render(
        request, "deployments/revisions.html", context, status=422 if error else 200
    )
