"""The fleet: every host, one host, one cluster with its policy."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from deployments.forms.cluster import ClusterForm
from deployments.forms.host import HostForm
from deployments.forms.team_secret import SecretForm
from deployments.models import Cluster, Host, TeamRole
from deployments.planning.platforms.images import rewrite
from deployments.planning.snapshot import ClusterSettings
from deployments.selectors.access import roles_in, team_ids_with_role
from deployments.selectors.device_probe import probe_view
from deployments.selectors.fleet import cluster_line, fleet_of, host_line, replicas_on
from deployments.selectors.model_directories import models_view
from deployments.selectors.sharing import is_guest
from deployments.selectors.tables.hosts import HOSTS
from deployments.selectors.team_secrets import secrets_of
from deployments.selectors.texts import say_error
from deployments.services.clusters import change_policy, policy_of
from deployments.services.errors import NotAllowedError, UseCaseError
from deployments.services.hosts import change_host_facts
from deployments.views.people import PanelRequest, person, refuse_without_role
from deployments.views.tables import show_table

EXAMPLE_IMAGE = "vllm/vllm-openai:v0.32.0"


@require_safe
def fleet(request: HttpRequest) -> HttpResponse:
    """Every host by cluster, with who holds which device."""
    user = person(request)
    context = {
        "fleet": fleet_of(user),
        "administers": bool(team_ids_with_role(user, TeamRole.ADMIN)),
    }
    return render(request, "fleet/fleet.html", context)


@require_safe
def host_list(request: PanelRequest) -> HttpResponse:
    """Every host as a table."""
    return show_table(request, HOSTS, "fleet/hosts.html")


@require_http_methods(["GET", "HEAD", "POST"])
def host(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """One host: devices, replicas, images, ports, and facts that a team admin enters."""
    rows = Host.objects.for_user_or_guest(request.user)
    row = get_object_or_404(
        rows.select_related("cluster__team", "model_listing"), pk=pk
    )
    if request.method != "POST":
        return host_page(request, row)
    refuse_without_role(request, row.cluster.team)
    form = HostForm(request.POST)
    if not form.is_valid():
        return host_page(request, row, form, status=422)
    change_host_facts(person(request), row, form.facts)
    messages.success(request, _("The facts are changed; new plans use them."))
    return redirect("host", pk=row.pk)


def host_page(
    request: PanelRequest, row: Host, form: HostForm | None = None, *, status: int = 200
) -> HttpResponse:
    """The page of a host, with its form as it was filled in or as things stand."""
    user = person(request)
    roles = roles_in(user, row.cluster.team)
    replicas = replicas_on(user, row)
    context = {
        "host": row,
        "line": host_line(user, row),
        "probe": probe_view(row),
        "replicas": [one for one in replicas if one.known],
        "others": sum(not one.known for one in replicas),
        "guest": is_guest(user, row.cluster, roles),
        "form": form or HostForm(initial=HostForm.initial_of(row)),
        "may_change": TeamRole.ADMIN in roles,
        "models": models_view(row),
        "may_look": TeamRole.OPERATOR in roles,
    }
    return render(request, "fleet/host.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def cluster(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """One cluster: its hosts and its policy, which a team admin may change."""
    rows = Cluster.objects.for_user_or_guest(request.user).select_related("team")
    row = get_object_or_404(rows, pk=pk)
    if request.method == "POST":
        return _change(request, row)
    return cluster_page(request, row)


def _change(request: PanelRequest, row: Cluster) -> HttpResponse:
    refuse_without_role(request, row.team)
    form = ClusterForm(request.POST)
    if not form.is_valid():
        return cluster_page(request, row, form, status=422)
    if "try" in request.POST:
        return cluster_page(request, row, form)
    try:
        changed = change_policy(
            person(request),
            row,
            form.policy,
            shown_version=form.cleaned_data["shown_version"],
        )
    except UseCaseError as error:
        row.refresh_from_db()
        status = 403 if isinstance(error, NotAllowedError) else 409
        data = request.POST.copy()
        data["shown_version"] = str(row.policy_version)
        return cluster_page(
            request, row, ClusterForm(data), status=status, error=say_error(error)
        )
    if changed:
        messages.success(request, _("The policy is changed; new plans follow it."))
    else:
        messages.info(request, _("Nothing was different, so nothing changed."))
    return redirect("cluster", pk=row.pk)


def cluster_page(  # noqa: PLR0913 - what three forms on one page have to say
    request: PanelRequest,
    row: Cluster,
    form: ClusterForm | None = None,
    secret_form: SecretForm | None = None,
    *,
    status: int = 200,
    error: str = "",
    secret_error: str = "",
) -> HttpResponse:
    """The page of a cluster with its forms, as they were filled in or as things stand."""
    if form is None:
        initial = ClusterForm.initial_of(policy_of(row), row.policy_version)
        form = ClusterForm(initial={**initial, "example": EXAMPLE_IMAGE})
    example, rewritten = _example(form, row)
    user = person(request)
    roles = roles_in(user, row.team)
    guest = is_guest(user, row, roles)
    context = {
        "cluster": row,
        "line": cluster_line(user, row),
        "policy": policy_of(row),
        "form": form,
        "error": error,
        "may_change": TeamRole.ADMIN in roles,
        "example": example,
        "rewritten": rewritten,
        "secrets": () if guest else secrets_of(row),
        "guest": guest,
        "secret_form": secret_form or SecretForm(),
        "secret_error": secret_error,
    }
    page = "fleet/cluster.html" + ("#example" if request.htmx else "")
    return render(request, page, context, status=status)


def _example(form: ClusterForm, row: Cluster) -> tuple[str, str]:
    """An image, and what the shown rewrites make of it."""
    policy = policy_of(row)
    image = EXAMPLE_IMAGE
    if form.is_bound and form.is_valid():
        policy = form.policy
        image = form.cleaned_data["example"] or EXAMPLE_IMAGE
    settings = ClusterSettings(image_rewrites=policy.image_rewrites)
    return image, rewrite(image, settings)
