"""Store and remove secrets of a team, on the page of one of its clusters."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from deployments.forms.team_secret import SecretForm
from deployments.models import Cluster
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.team_secrets import remove_secret, store_secret
from deployments.views.fleet import cluster_page
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_POST
def store(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Keep a value under a name."""
    row = _cluster(request, pk)
    form = SecretForm(request.POST)
    if not form.is_valid():
        return cluster_page(request, row, secret_form=form, status=422)
    name, value = form.cleaned_data["secret_name"], form.cleaned_data["value"]
    try:
        kept = store_secret(person(request), row.team, name, value)
    except UseCaseError as error:
        return cluster_page(
            request,
            row,
            secret_form=SecretForm(initial={"secret_name": name}),
            status=409,
            secret_error=say_error(error),
        )
    messages.success(
        request,
        _("The secret %(name)s is stored as version %(version)s.")
        % {"name": kept.name, "version": kept.version},
    )
    return redirect("cluster", pk=row.pk)


@require_POST
def remove(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Forget a secret."""
    row = _cluster(request, pk)
    name = request.POST.get("secret_name", "")
    remove_secret(person(request), row.team, name)
    messages.success(
        request, _("The secret is removed; plans that name it cannot run.")
    )
    return redirect("cluster", pk=row.pk)


def _cluster(request: PanelRequest, pk: uuid.UUID) -> Cluster:
    rows = Cluster.objects.for_user(request.user).select_related("team")
    row = get_object_or_404(rows, pk=pk)
    refuse_without_role(request, row.team)
    return row
