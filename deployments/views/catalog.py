"""The catalog: the list of target models, and one of them with everything known."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from deployments.forms.catalog import CatalogFilterForm
from deployments.models import TargetModel
from deployments.planning.errors import PlanningError
from deployments.selectors.catalog import (
    CatalogFilter,
    catalog_lines,
    documented_settings,
    families,
)
from deployments.selectors.planning_inputs import catalog_entry
from deployments.selectors.texts import say_error
from deployments.views.people import PanelRequest, person


@require_safe
def catalog(request: PanelRequest) -> HttpResponse:
    """Every target model that fits the filters; they stand in the address."""
    user = person(request)
    form = CatalogFilterForm(request.GET)
    form.offer_families(families(user))
    status = 200 if form.is_valid() else 422
    data = form.cleaned_data
    wanted = CatalogFilter(
        text=data.get("q", ""),
        family=data.get("family", ""),
        mtp=data.get("mtp", False),
        drafter=data.get("drafter", False),
    )
    context = {"form": form, "lines": catalog_lines(user, wanted)}
    page = "catalog/catalog.html" + ("#models" if request.htmx else "")
    return render(request, page, context, status=status)


@require_safe
def model(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One target model: facts with sources, checkpoints, drafters, documented settings."""
    row = get_object_or_404(TargetModel.objects.for_user(request.user), pk=pk)
    try:
        entry = catalog_entry(row)
    except PlanningError as error:
        context = {"model": row, "error": say_error(error)}
        return render(request, "catalog/model.html", context, status=409)
    context = {"model": row, "entry": entry, "settings": documented_settings(entry)}
    return render(request, "catalog/model.html", context)
