"""Look at the accelerators of a host, and decide how a cluster's hosts are looked at."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from deployments.forms.device_probe import ProbeForm
from deployments.models import Cluster, Host, TeamRole
from deployments.selectors.access import has_role
from deployments.selectors.device_probe import probe_settings, probe_view
from deployments.selectors.fleet import host_line
from deployments.services.probe_requests import ask_for_probe
from deployments.services.probe_settings import change_probe
from deployments.views.fleet import host_page
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def probe(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The host's page, of which a page that waits takes the devices alone; or have a worker look."""
    rows = Host.objects.for_user(request.user)
    row = get_object_or_404(
        rows.select_related("cluster__team", "model_listing"), pk=pk
    )
    if request.method == "POST":
        refuse_without_role(request, row.cluster.team)
        ask_for_probe(person(request), row)
        return redirect("host", pk=row.pk)
    if not request.htmx:
        return host_page(request, row)
    view = probe_view(row)
    if request.GET.get("v") == view.stamp:
        return HttpResponse(status=204)
    context = {
        "host": row,
        "line": host_line(person(request), row),
        "probe": view,
        "may_change": has_role(person(request), row.cluster.team, TeamRole.ADMIN),
    }
    return render(request, "fleet/_probe.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The probe of a cluster's hosts: read by its team, changed by a team admin."""
    rows = Cluster.objects.for_user(request.user).select_related("team")
    row = get_object_or_404(rows, pk=pk)
    if request.method != "POST":
        form = ProbeForm(initial=ProbeForm.initial_of(probe_settings(row)))
        return _settings_page(request, row, form)
    refuse_without_role(request, row.team)
    form = ProbeForm(request.POST)
    if not form.is_valid():
        return _settings_page(request, row, form, status=422)
    change_probe(person(request), row, form.choice)
    messages.success(request, _("The next probes follow this."))
    return redirect("cluster-probe", pk=row.pk)


def _settings_page(
    request: HttpRequest, row: Cluster, form: ProbeForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "cluster": row,
        "form": form,
        "settings": probe_settings(row),
        "hosts": row.hosts.order_by("name"),
        "may_change": has_role(person(request), row.team, TeamRole.ADMIN),
    }
    return render(request, "fleet/probe.html", context, status=status)
