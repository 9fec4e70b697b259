"""One pair of benchmarks: its steps while it goes on, its verdict afterwards."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from deployments.models import TeamRole
from deployments.selectors.access import has_role
from deployments.selectors.benchmark_pairs import pair_page, pairs_for
from deployments.selectors.texts import say_error
from deployments.services.bench.pairs import cancel_pair
from deployments.services.errors import ConflictError
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_safe
def pair(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The page, of which one that waits takes the progress alone, or all of it once it has ended."""
    page = pair_page(get_object_or_404(pairs_for(person(request)), pk=pk))
    team = page.pair.deployment.team
    context = {
        "page": page,
        "pair": page.pair,
        "may_operate": has_role(person(request), team, TeamRole.OPERATOR),
        "query": "&".join(f"result={one.pk}" for one in page.results),
    }
    if not request.htmx:
        return render(request, "benchmarks/pair.html", context)
    if request.GET.get("v") == page.stamp:
        return HttpResponse(status=204)
    if not page.open:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "benchmarks/_pair_steps.html", context)


@require_POST
def cancel(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """End a pair; what was switched is switched back."""
    row = get_object_or_404(pairs_for(person(request)), pk=pk)
    refuse_without_role(request, row.deployment.team)
    try:
        cancel_pair(person(request), row)
    except ConflictError as error:
        messages.error(request, say_error(error))
    else:
        messages.success(
            request, _("The pair ends; what was switched is switched back first.")
        )
    return redirect("pair", pk=row.pk)
