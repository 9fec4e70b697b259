"""The freeze windows of a cluster: read by its team, made and ended by a team admin."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.freezes import FreezeForm
from deployments.models import Cluster, TeamRole
from deployments.selectors.access import has_role
from deployments.selectors.freezes import freeze_of_cluster, window_lines, windows_of
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.freezes import add_window, end_window
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person, refuse_without_role

ENDED_SHOWN = 20


@require_http_methods(["GET", "HEAD", "POST"])
def freezes(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The windows that hold now, those that were ended, and a form for a new one."""
    row = _cluster(request, pk)
    if request.method != "POST":
        return _page(request, row, FreezeForm(initial=_initial(request, row)))
    refuse_without_role(request, row.team)
    form = FreezeForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form, status=422)
    whole_team = form.cleaned_data["whole_team"]
    add_window(person(request), row, form.window, whole_team=whole_team)
    messages.success(request, _("The window holds from now on, for open requests too."))
    return redirect("cluster-freezes", pk=row.pk)


@require_POST
def end(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """End one of the windows that hold for the cluster."""
    row = _cluster(request, pk)
    refuse_without_role(request, row.team)
    try:
        wanted = uuid.UUID(request.POST.get("window", ""))
    except ValueError:
        wanted = uuid.UUID(int=0)
    window = get_object_or_404(windows_of(row), pk=wanted)
    try:
        end_window(person(request), window)
    except UseCaseError as error:
        form = FreezeForm(initial=_initial(request, row))
        status, said = refusal_status(error), say_error(error)
        return _page(request, row, form, status=status, error=said)
    messages.success(
        request,
        _("“%(name)s” is ended; requests that were made before keep it.")
        % {"name": window.name},
    )
    return redirect("cluster-freezes", pk=row.pk)


def _cluster(request: PanelRequest, pk: uuid.UUID) -> Cluster:
    rows = Cluster.objects.for_user(request.user).select_related("team")
    return get_object_or_404(rows, pk=pk)


def _initial(request: PanelRequest, row: Cluster) -> dict[str, object]:
    zone = row.time_zone or person(request).time_zone
    return {"kind": "deny", "repeat": "once", "minutes": 0, "time_zone": zone}


def _page(
    request: PanelRequest,
    row: Cluster,
    form: FreezeForm,
    *,
    status: int = 200,
    error: str = "",
) -> HttpResponse:
    lines = window_lines(row)
    context = {
        "cluster": row,
        "form": form,
        "error": error,
        "freeze": freeze_of_cluster(row, timezone.now()),
        "windows": [one for one in lines if one.row.ended_at is None],
        "ended": [one for one in lines if one.row.ended_at][:ENDED_SHOWN],
        "may_change": has_role(person(request), row.team, TeamRole.ADMIN),
    }
    return render(request, "fleet/freezes.html", context, status=status)
