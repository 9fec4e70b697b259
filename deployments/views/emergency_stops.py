"""Stopping a deployment at once: what would stop, and the reason."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from deployments.forms.releases import EmergencyStopForm, new_key
from deployments.models import CHANGING_STATES, Deployment
from deployments.selectors.emergencies import may_stop_now, what_runs
from deployments.selectors.texts import say_error
from deployments.services.emergency_stop import emergency_stop as stop_at_once
from deployments.services.errors import UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.deployments import find
from deployments.views.people import person


@require_http_methods(["GET", "HEAD", "POST"])
def emergency_stop(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Stop what runs and what is being released; permission and a reason are enough."""
    row = find(request, pk)
    if request.method != "POST":
        return _page(request, row, EmergencyStopForm(initial={"key": new_key()}))
    form = EmergencyStopForm(request.POST)
    if not form.is_valid():
        status = 422 if may_stop_now(person(request), row) else 403
        return _page(request, row, form, status=status)
    reason, key = form.cleaned_data["reason"], str(form.cleaned_data["key"])
    try:
        release = stop_at_once(person(request), row, reason, key)
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        return _page(request, row, form, status=refusal_status(error))
    messages.success(request, _("Everything of this deployment is being stopped."))
    return redirect("release", pk=release.pk)


def _page(
    request: HttpRequest, row: Deployment, form: EmergencyStopForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "row": row,
        "form": form,
        "moving": row.releases.filter(state__in=CHANGING_STATES).first(),
        "replicas": what_runs(row),
        "may_stop": may_stop_now(person(request), row),
    }
    return render(request, "deployments/emergency_stop.html", context, status=status)
