"""The device quota of a cluster's team: read by its members, set by a team admin."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from deployments.forms.quotas import QuotaForm
from deployments.models import Cluster, TeamRole
from deployments.selectors.access import has_role
from deployments.selectors.quotas import holdings, quota_of
from deployments.services.quotas import set_quota
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def quota(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The limit, and what is held and asked for now."""
    rows = Cluster.objects.for_user(request.user).select_related("team")
    row = get_object_or_404(rows, pk=pk)
    if request.method != "POST":
        known = quota_of(row.team, row)
        initial = {"devices": known.devices if known else None}
        return _page(request, row, QuotaForm(initial=initial))
    refuse_without_role(request, row.team)
    form = QuotaForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form, status=422)
    if set_quota(person(request), row, form.cleaned_data["devices"]):
        messages.success(
            request, _("The quota is changed; what runs already keeps running.")
        )
    else:
        messages.info(request, _("Nothing was different, so nothing changed."))
    return redirect("cluster-quota", pk=row.pk)


def _page(
    request: PanelRequest, row: Cluster, form: QuotaForm, *, status: int = 200
) -> HttpResponse:
    held = holdings(row.team, row)
    known = quota_of(row.team, row)
    context = {
        "cluster": row,
        "form": form,
        "quota": known,
        "booked": held.booked,
        "asked": held.asked,
        "left": max(0, known.devices - held.total) if known else None,
        "may_change": has_role(person(request), row.team, TeamRole.ADMIN),
    }
    return render(request, "fleet/quota.html", context, status=status)
