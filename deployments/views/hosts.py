"""Add a host, look at the way to it, change how it is reached, and remove it."""

import uuid
from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from deployments.forms.host_access import (
    NewHostForm,
    ShownForm,
    WayForm,
    initial_of,
)
from deployments.models import Cluster, Host, TeamRole, User
from deployments.planning.engine_address import Way
from deployments.selectors.access import has_role, teams_with_role
from deployments.selectors.host_access import WayView, way_view
from deployments.selectors.texts import say_error
from deployments.services.errors import ConflictError, NotAllowedError, UseCaseError
from deployments.services.hosts import (
    add_host,
    ask_for_test,
    change_address,
    confirm_engine,
    confirm_host_key,
    remove_host,
)
from deployments.views.people import PanelRequest, person, refuse_without_role

REMOTE = (Way.TLS, Way.SSH)


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: HttpRequest) -> HttpResponse:
    """Add a host of another machine to a cluster whose team the person administers."""
    way = _chosen(request.GET.get("way"))
    teams = teams_with_role(person(request), TeamRole.ADMIN)
    clusters = Cluster.objects.filter(team__in=teams).select_related("team")
    if request.method != "POST":
        first = request.GET.get("cluster", "")
        form = NewHostForm(None, way, clusters, initial={"cluster": first})
        return _add_page(request, form)
    form = NewHostForm(request.POST, way, clusters)
    if not form.is_valid():
        return _add_page(request, form, status=422)
    cluster = form.clusters[form.cleaned_data["cluster"]]
    try:
        row = add_host(person(request), cluster, form.new_host)
    except UseCaseError as error:
        form.add_error(
            "name" if isinstance(error, ConflictError) else None, say_error(error)
        )
        return _add_page(request, form, status=_status(error))
    return redirect("host-connection", pk=row.pk)


@require_safe
def connection(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The way to a host: the last test step by step, certificates, and what is to be confirmed."""
    row = _host(request, pk)
    view = way_view(row)
    if request.htmx:
        if request.GET.get("v") == view.stamp:
            return HttpResponse(status=204)
        return _connection_page(request, view, "#steps")
    return _connection_page(request, view)


@require_POST
def test(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Have the way tested now."""
    row = _host(request, pk)
    refuse_without_role(request, row.cluster.team)
    ask_for_test(person(request), row)
    return redirect("host-connection", pk=row.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Change the address of a host, or replace its credentials."""
    row = _host(request, pk)
    view = way_view(row)
    way = _chosen(request.GET.get("way"), view.way)
    if request.method != "POST":
        stored = initial_of(row.docker_address) if way is view.way else {}
        return _edit_page(request, view, WayForm(None, way, initial=stored))
    refuse_without_role(request, row.cluster.team)
    keeps = view.has_credentials and way is view.way
    form = WayForm(request.POST, way, keeps=keeps)
    if form.is_valid() and form.address is not None:
        moved = str(form.address) != row.docker_address
        if moved and form.credentials is None and way is Way.TLS:
            form.add_error(
                "key",
                _(
                    "Credentials are never sent to a new address: enter them again for this one."
                ),
            )
        else:
            if moved and form.credentials is None:
                form = WayForm(request.POST, way)
                form.is_valid()
            return _changed(request, view, form)
    return _edit_page(request, view, form, status=422)


@require_POST
def confirm_key(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Pin the SSH host key that the page showed."""
    return _confirm(request, pk, confirm_host_key, _("The host key is confirmed."))


@require_POST
def confirm_other_engine(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Take the other Docker Engine for the host's."""
    return _confirm(request, pk, confirm_engine, _("The Docker Engine is confirmed."))


@require_POST
def remove(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Forget a host; nothing changes on the machine."""
    row = _host(request, pk)
    refuse_without_role(request, row.cluster.team)
    try:
        remove_host(person(request), row)
    except UseCaseError as error:
        page = _connection_page(request, way_view(row), error=say_error(error))
        page.status_code = _status(error)
        return page
    messages.success(request, _("%(host)s is removed.") % {"host": row.name})
    return redirect("fleet")


def _host(request: HttpRequest, pk: uuid.UUID) -> Host:
    rows = Host.objects.for_user(request.user).select_related("cluster__team")
    return get_object_or_404(rows, pk=pk)


def _chosen(words: str | None, otherwise: Way = Way.TLS) -> Way:
    if words in set(REMOTE):
        return Way(words)
    return otherwise if otherwise in REMOTE else Way.TLS


def _status(error: UseCaseError) -> int:
    return 403 if isinstance(error, NotAllowedError) else 409


def _changed(request: PanelRequest, view: WayView, form: WayForm) -> HttpResponse:
    if form.address is None:
        return _edit_page(request, view, form, status=422)
    try:
        change_address(person(request), view.host, form.address, form.credentials)
    except UseCaseError as error:
        form.add_error(None, say_error(error))
        return _edit_page(request, view, form, status=_status(error))
    messages.success(request, _("The way to the host is changed and is being tested."))
    return redirect("host-connection", pk=view.host.pk)


def _confirm(
    request: PanelRequest,
    pk: uuid.UUID,
    act: Callable[[User, Host, str], None],
    done: str,
) -> HttpResponse:
    row = _host(request, pk)
    refuse_without_role(request, row.cluster.team)
    form = ShownForm(request.POST)
    try:
        act(person(request), row, form.data.get("shown", ""))
    except UseCaseError as error:
        page = _connection_page(request, way_view(row), error=say_error(error))
        page.status_code = _status(error)
        return page
    messages.success(request, done)
    return redirect("host-connection", pk=row.pk)


def _add_page(
    request: HttpRequest, form: NewHostForm, *, status: int = 200
) -> HttpResponse:
    chosen = request.GET.get("cluster", "")
    query = f"&cluster={chosen}" if chosen in form.clusters else ""
    tabs = [(label, f"?way={way}{query}", form.way is way) for way, label in _labels()]
    context = {"form": form, "tabs": tabs, "ssh": form.way is Way.SSH}
    return render(request, "fleet/add_host.html", context, status=status)


def _edit_page(
    request: PanelRequest, view: WayView, form: WayForm, *, status: int = 200
) -> HttpResponse:
    tabs = [(label, f"?way={way}", form.way is way) for way, label in _labels()]
    context = {
        "view": view,
        "host": view.host,
        "form": form,
        "tabs": tabs,
        "may_change": _may_change(request, view.host),
    }
    return render(request, "fleet/edit_host.html", context, status=status)


def _connection_page(
    request: PanelRequest, view: WayView, part: str = "", *, error: str = ""
) -> HttpResponse:
    context = {
        "view": view,
        "host": view.host,
        "error": error,
        "may_change": _may_change(request, view.host),
    }
    return render(request, f"fleet/connection.html{part}", context)


def _may_change(request: HttpRequest, row: Host) -> bool:
    return has_role(person(request), row.cluster.team, TeamRole.ADMIN)


def _labels() -> tuple[tuple[Way, str], ...]:
    return (
        (Way.TLS, _("TCP with TLS")),
        (Way.SSH, _("SSH")),
    )
