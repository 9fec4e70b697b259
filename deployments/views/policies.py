"""The approval rules of a cluster: read by its team, changed by a team admin, every version kept."""

import uuid
from dataclasses import replace

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.approval_rules import ApprovalRulesForm
from deployments.models import Cluster, DeploymentEnvironment, TeamRole
from deployments.planning.approval_rules import ApprovalRules, Environment
from deployments.selectors.access import roles_in
from deployments.selectors.policies import (
    current_rules,
    environment,
    policy_versions,
    rules_of,
    unmet_rules,
)
from deployments.selectors.sharing import is_guest
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.policies import change_environment, change_rules
from deployments.views.answers import refusal_status
from deployments.views.deployments import find
from deployments.views.people import PanelRequest, person, refuse_without_role

VERSIONS_SHOWN = 20


@require_http_methods(["GET", "HEAD", "POST"])
def rules(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The rules as they stand, and the versions before."""
    rows = Cluster.objects.for_user_or_guest(request.user).select_related("team")
    row = get_object_or_404(rows, pk=pk)
    if request.method == "POST":
        return _change(request, row)
    within = _environment(request.GET.get("environment", ""))
    initial = ApprovalRulesForm.initial_of(
        current_rules(row).within(within), row.policy_version
    )
    form = ApprovalRulesForm(initial={**initial, "environment": within or ""})
    return _page(request, row, form)


@require_POST
def place(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Say what a deployment is for, and so which of the cluster's rules hold."""
    row = find(request, pk)
    refuse_without_role(request, row.cluster.team)
    try:
        changed = change_environment(
            person(request), row, request.POST.get("environment", "")
        )
    except UseCaseError as error:
        messages.error(request, say_error(error))
    else:
        said = _("The environment is changed; new requests follow its rules.")
        messages.success(request, said if changed else _("Nothing was different."))
    return redirect("deployment-configuration", pk=row.pk)


def _environment(stored: str) -> Environment | None:
    return environment(stored) if stored in DeploymentEnvironment.values else None


def _change(request: PanelRequest, row: Cluster) -> HttpResponse:
    refuse_without_role(request, row.team)
    form = ApprovalRulesForm(request.POST)
    within = _environment(request.POST.get("environment", ""))
    if not form.is_valid():
        return _page(request, row, form, status=422)
    shown = form.cleaned_data["shown_version"]
    rules = _wanted(current_rules(row), form, within, follow="follow" in request.POST)
    try:
        changed = change_rules(person(request), row, rules, shown_version=shown)
    except UseCaseError as error:
        row.refresh_from_db()
        data = request.POST.copy()
        data["shown_version"] = str(row.policy_version)
        status, said = refusal_status(error), say_error(error)
        form = ApprovalRulesForm(data)
        return _page(request, row, form, status=status, error=said)
    if changed:
        messages.success(request, _("The rules are changed; new requests follow them."))
    else:
        messages.info(request, _("Nothing was different, so nothing changed."))
    return redirect(_address(row, within))


def _wanted(
    now: ApprovalRules,
    form: ApprovalRulesForm,
    within: Environment | None,
    *,
    follow: bool,
) -> ApprovalRules:
    """All rules of the cluster with those of the form in their place."""
    if within is None:
        return replace(form.rules, environments=now.environments)
    own = replace(form.rules, production=within is Environment.PRODUCTION)
    return now.with_own(within, None if follow else own)


def _address(row: Cluster, within: Environment | None) -> str:
    query = f"?environment={within}" if within else ""
    return reverse("cluster-rules", args=[row.pk]) + query


def _page(
    request: PanelRequest,
    row: Cluster,
    form: ApprovalRulesForm,
    *,
    status: int = 200,
    error: str = "",
) -> HttpResponse:
    now = current_rules(row)
    within = _environment(form["environment"].value() or "")
    roles = roles_in(person(request), row.team)
    guest = is_guest(person(request), row, roles)
    context = {
        "cluster": row,
        "form": form,
        "error": error,
        "rules": now.within(within),
        "within": within,
        "within_name": DeploymentEnvironment(within).label if within else "",
        "has_own": within in now.environments,
        "tabs": [
            (label, _address(row, key), key == within)
            for key, label in (
                (None, _("The cluster")),
                *((Environment(one), one.label) for one in DeploymentEnvironment),
            )
        ],
        "unmet": () if guest else unmet_rules(row, now),
        "guest": guest,
        "versions": [
            (version, rules_of(version).within(within))
            for version in (() if guest else policy_versions(row)[:VERSIONS_SHOWN])
        ],
        "may_change": TeamRole.ADMIN in roles,
    }
    return render(request, "fleet/rules.html", context, status=status)
