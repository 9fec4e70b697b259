"""The catalog: the list of target models, and one of them with everything known."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from deployments.models import TargetModel
from deployments.planning.errors import PlanningError
from deployments.selectors.catalog import documented_settings
from deployments.selectors.planning_inputs import catalog_entry
from deployments.selectors.tables.catalog import CATALOG
from deployments.selectors.texts import say_error
from deployments.views.people import PanelRequest
from deployments.views.tables import show_table


@require_safe
def catalog(request: PanelRequest) -> HttpResponse:
    """Target models as a table."""
    return show_table(request, CATALOG, "catalog/catalog.html")


@require_safe
def model(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One target model: facts with sources, checkpoints, drafters, documented settings."""
    rows = TargetModel.objects.for_user(request.user).select_related("team")
    row = get_object_or_404(rows, pk=pk)
    try:
        entry = catalog_entry(row)
    except PlanningError as error:
        context = {"model": row, "error": say_error(error)}
        return render(request, "catalog/model.html", context, status=409)
    context = {"model": row, "entry": entry, "settings": documented_settings(entry)}
    return render(request, "catalog/model.html", context)
