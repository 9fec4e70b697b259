"""Enter the devices of a host by hand, or from the output of its tool."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from deployments.forms.host_devices import HostDevicesForm
from deployments.models import Host, TeamRole
from deployments.selectors.access import has_role
from deployments.selectors.texts import say_error
from deployments.services.errors import NotAllowedError, UseCaseError
from deployments.services.host_devices import set_devices
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def devices(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The devices of one host."""
    rows = Host.objects.for_user(request.user).select_related("cluster__team")
    row = get_object_or_404(rows, pk=pk)
    if request.method != "POST":
        return _page(request, row, HostDevicesForm(label_suffix=""))
    refuse_without_role(request, row.cluster.team)
    form = HostDevicesForm(request.POST, label_suffix="")
    if not form.is_valid():
        return _page(request, row, form, status=422)
    try:
        set_devices(person(request), row, form.found)
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        status = 403 if isinstance(error, NotAllowedError) else 409
        return _page(request, row, form, status=status)
    messages.success(request, _("The devices are kept; new plans use them."))
    return redirect("host", pk=row.pk)


def _page(
    request: PanelRequest, row: Host, form: HostDevicesForm, *, status: int = 200
) -> HttpResponse:
    may = has_role(person(request), row.cluster.team, TeamRole.ADMIN)
    context = {"host": row, "form": form, "may_change": may}
    return render(request, "fleet/edit_devices.html", context, status=status)
