"""The preflight list of a request: shown on its page and on its release's, and checked again when asked."""

import uuid

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from deployments.models import ApprovalRequest, Release
from deployments.selectors.approvals import requests_for
from deployments.selectors.preflight import may_ask, preflight_view
from deployments.selectors.texts import say_error
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.preflight_requests import ask_for_preflight
from deployments.views.approvals import approval
from deployments.views.people import PanelRequest, person


@require_http_methods(["GET", "HEAD", "POST"])
def preflight(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The request's page, of which a page that waits takes the list alone; or ask for a preflight."""
    row = get_object_or_404(requests_for(person(request)), pk=pk)
    if request.method == "POST":
        return _ask(request, row)
    if not request.htmx:
        return approval(request, pk)
    view = preflight_view(row, may_ask=may_ask(person(request), row))
    if request.GET.get("v") == view.stamp:
        return HttpResponse(status=204)
    context = {
        "preflight": view,
        "release": _release(row, request.GET.get("release", "")),
    }
    return render(request, "approvals/_preflight.html", context)


def _ask(request: PanelRequest, row: ApprovalRequest) -> HttpResponse:
    try:
        ask_for_preflight(person(request), row)
    except NotAllowedError as error:
        raise PermissionDenied from error
    except ConflictError as error:
        messages.error(request, say_error(error))
    else:
        messages.success(request, _("A worker is checking the plan on its hosts."))
    release = _release(row, request.POST.get("release", ""))
    page = (
        reverse("release", kwargs={"pk": release.pk})
        if release
        else reverse("approval", kwargs={"pk": row.pk})
    )
    return redirect(f"{page}#h-preflight")


def _release(row: ApprovalRequest, key: str) -> Release | None:
    """The release of this request on whose page the list stands; ``None`` for the request's own."""
    return next((one for one in row.releases.all() if str(one.pk) == key), None)
