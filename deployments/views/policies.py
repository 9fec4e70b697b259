"""The approval rules of a cluster: read by its team, changed by a team admin, every version kept."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from deployments.forms.approval_rules import ApprovalRulesForm
from deployments.models import Cluster, TeamRole
from deployments.selectors.access import roles_in
from deployments.selectors.policies import (
    current_rules,
    policy_versions,
    rules_of,
    unmet_rules,
)
from deployments.selectors.sharing import is_guest
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.policies import change_rules
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person, refuse_without_role

VERSIONS_SHOWN = 20


@require_http_methods(["GET", "HEAD", "POST"])
def rules(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The rules as they stand, and the versions before."""
    rows = Cluster.objects.for_user_or_guest(request.user).select_related("team")
    row = get_object_or_404(rows, pk=pk)
    if request.method == "POST":
        return _change(request, row)
    initial = ApprovalRulesForm.initial_of(current_rules(row), row.policy_version)
    return _page(request, row, ApprovalRulesForm(initial=initial))


def _change(request: PanelRequest, row: Cluster) -> HttpResponse:
    refuse_without_role(request, row.team)
    form = ApprovalRulesForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form, status=422)
    shown = form.cleaned_data["shown_version"]
    try:
        changed = change_rules(person(request), row, form.rules, shown_version=shown)
    except UseCaseError as error:
        row.refresh_from_db()
        data = request.POST.copy()
        data["shown_version"] = str(row.policy_version)
        status, said = refusal_status(error), say_error(error)
        return _page(request, row, ApprovalRulesForm(data), status=status, error=said)
    if changed:
        messages.success(request, _("The rules are changed; new requests follow them."))
    else:
        messages.info(request, _("Nothing was different, so nothing changed."))
    return redirect("cluster-rules", pk=row.pk)


def _page(
    request: PanelRequest,
    row: Cluster,
    form: ApprovalRulesForm,
    *,
    status: int = 200,
    error: str = "",
) -> HttpResponse:
    now = current_rules(row)
    roles = roles_in(person(request), row.team)
    guest = is_guest(person(request), row, roles)
    context = {
        "cluster": row,
        "form": form,
        "error": error,
        "rules": now,
        "unmet": () if guest else unmet_rules(row, now),
        "guest": guest,
        "versions": [
            (version, rules_of(version))
            for version in (() if guest else policy_versions(row)[:VERSIONS_SHOWN])
        ],
        "may_change": TeamRole.ADMIN in roles,
    }
    return render(request, "fleet/rules.html", context, status=status)
