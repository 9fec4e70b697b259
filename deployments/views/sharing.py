"""With whom a cluster is shared: read by its team, changed by a team admin."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.sharing import ShareForm
from deployments.models import Cluster, ClusterShare, ShareAccess, TeamRole
from deployments.selectors.access import has_role
from deployments.selectors.sharing import guest_lines
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.sharing import end_share, share_cluster
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def shares(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The guests with what they hold, and a form for another."""
    row = _cluster(request, pk)
    if request.method != "POST":
        return _page(request, row, ShareForm())
    refuse_without_role(request, row.team)
    form = ShareForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form, status=422)
    value = form.cleaned_data
    try:
        changed = share_cluster(
            person(request),
            row,
            value["row"],
            ShareAccess(value["access"]),
            devices=value["devices"],
        )
    except UseCaseError as error:
        status, said = refusal_status(error), say_error(error)
        return _page(request, row, form, status=status, error=said)
    if changed:
        messages.success(request, _("The cluster is shared so from now on."))
    else:
        messages.info(request, _("Nothing was different, so nothing changed."))
    return redirect("cluster-shares", pk=row.pk)


@require_POST
def end(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Take a share back."""
    row = _cluster(request, pk)
    refuse_without_role(request, row.team)
    try:
        wanted = uuid.UUID(request.POST.get("share", ""))
    except ValueError:
        wanted = uuid.UUID(int=0)
    rows = ClusterShare.objects.filter(cluster=row).select_related(
        "team", "cluster__team"
    )
    share = get_object_or_404(rows, pk=wanted)
    try:
        end_share(person(request), share)
    except UseCaseError as error:
        status, said = refusal_status(error), say_error(error)
        return _page(request, row, ShareForm(), status=status, error=said)
    messages.success(
        request,
        _("Nothing new of %(team)s starts here; what runs keeps running.")
        % {"team": share.team.name},
    )
    return redirect("cluster-shares", pk=row.pk)


def _cluster(request: PanelRequest, pk: uuid.UUID) -> Cluster:
    rows = Cluster.objects.for_user(request.user).select_related("team")
    return get_object_or_404(rows, pk=pk)


def _page(
    request: PanelRequest,
    row: Cluster,
    form: ShareForm,
    *,
    status: int = 200,
    error: str = "",
) -> HttpResponse:
    context = {
        "cluster": row,
        "form": form,
        "error": error,
        "guests": guest_lines(row),
        "may_change": has_role(person(request), row.team, TeamRole.ADMIN),
    }
    return render(request, "fleet/shares.html", context, status=status)
