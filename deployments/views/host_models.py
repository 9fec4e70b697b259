"""The model directories of a host: shown on its page, and looked at again when asked."""

import uuid

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from deployments.models import Host, TeamRole
from deployments.selectors.access import has_role
from deployments.selectors.model_directories import models_view
from deployments.services.model_requests import ask_for_listing
from deployments.views.fleet import host_page
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def models(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The host's page, of which a page that waits takes the section alone; or ask for a look."""
    rows = Host.objects.for_user(request.user)
    row = get_object_or_404(
        rows.select_related("cluster__team", "model_listing"), pk=pk
    )
    if request.method == "POST":
        refuse_without_role(request, row.cluster.team)
        ask_for_listing(person(request), row)
        return redirect(f"{reverse('host', kwargs={'pk': row.pk})}#h-models")
    if not request.htmx:
        return host_page(request, row)
    view = models_view(row)
    if request.GET.get("v") == view.stamp:
        return HttpResponse(status=204)
    may = has_role(person(request), row.cluster.team, TeamRole.OPERATOR)
    context = {"models": view, "host": row, "may_look": may}
    return render(request, "fleet/_models.html", context)
