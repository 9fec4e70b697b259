"""Releases: the page, the part of it that is polled, and what people do with it."""

import uuid
from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.releases import ActForm, new_key
from deployments.models import Command, Release, User
from deployments.planning.errors import PlanningError
from deployments.selectors.logs import has_tail, release_tail
from deployments.selectors.preflight import preflight_view
from deployments.selectors.releases import (
    ReleasePage,
    release_page,
    releases_for,
)
from deployments.selectors.tables.releases import RELEASES
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.releases import (
    cancel_release,
    release_again,
    remove_release,
    stop_release,
)
from deployments.services.restart_notes import acknowledge_restarts
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person, refuse_without_role
from deployments.views.plan_again import plan_again_address
from deployments.views.tables import show_table

End = Callable[[User, Release, str], Command]


@require_safe
def release_list(request: PanelRequest) -> HttpResponse:
    """Every release of the person's teams as a table."""
    return show_table(request, RELEASES, "releases/list.html")


@require_safe
def release(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One release with its timeline."""
    return _page(request, _find(request, pk))


@require_safe
def progress(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The changing part alone; 204 while nothing differs from the stamp that the page has."""
    page = release_page(person(request), _find(request, pk))
    if page.progress.stamp == request.GET.get("v"):
        return HttpResponse(status=204)
    context = {"page": page, "key": new_key(), "plan_again": _plan_again(page)}
    return render(request, "releases/_polled.html", context)


@require_POST
def cancel(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask the executor to stop and to undo what it made."""
    row = _find(request, pk)
    try:
        cancel_release(person(request), row)
    except UseCaseError as error:
        return _refused(request, pk, error)
    messages.success(request, _("The release is being cancelled and cleaned up."))
    return redirect("release", pk=pk)


@require_POST
def acknowledge(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Say that somebody knows of restarts outside the panel."""
    row = _find(request, pk)
    try:
        acknowledge_restarts(person(request), row)
    except UseCaseError as error:
        return _refused(request, pk, error)
    messages.success(request, _("The others see in the journal that you know of it."))
    return redirect("release", pk=pk)


@require_POST
def stop(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Stop the containers."""
    return _end(request, pk, stop_release, _("The containers are being stopped."))


@require_POST
def remove(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Remove the stopped containers."""
    return _end(request, pk, remove_release, _("The containers are being removed."))


@require_POST
def again(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Release the same approved plan once more; a second click finds the first one's release."""
    row = _find(request, pk)
    form = ActForm(request.POST)
    if not form.is_valid():
        return _out_of_date(request, row)
    try:
        begun = release_again(person(request), row, str(form.cleaned_data["key"]))
    except (UseCaseError, PlanningError) as error:
        return _refused(request, pk, error)
    return redirect("release", pk=begun.pk)


def _end(request: PanelRequest, pk: uuid.UUID, end: End, said: str) -> HttpResponse:
    row = _find(request, pk)
    form = ActForm(request.POST)
    if not form.is_valid():
        return _out_of_date(request, row)
    try:
        end(person(request), row, str(form.cleaned_data["key"]))
    except UseCaseError as error:
        return _refused(request, pk, error)
    messages.success(request, said)
    return redirect("release", pk=pk)


def _out_of_date(request: PanelRequest, row: Release) -> HttpResponse:
    refuse_without_role(request, row.deployment.team)
    error = _("This page is out of date. Look at it again, then repeat.")
    return _page(request, row, status=422, error=error)


def _plan_again(page: ReleasePage) -> str:
    """The wizard with what failed in it, for those who may submit a plan."""
    failed = page.progress.failed is not None and not page.progress.moving
    return (
        plan_again_address(page.progress.release.plan)
        if failed and page.may_plan
        else ""
    )


def _find(request: HttpRequest, pk: uuid.UUID) -> Release:
    return get_object_or_404(releases_for(person(request)), pk=pk)


def _refused(
    request: HttpRequest, pk: uuid.UUID, error: UseCaseError | PlanningError
) -> HttpResponse:
    """The release as it is now, with the reason on top."""
    row = _find(request, pk)
    return _page(request, row, status=refusal_status(error), error=say_error(error))


def _page(
    request: HttpRequest, row: Release, *, status: int = 200, error: str = ""
) -> HttpResponse:
    page = release_page(person(request), row)
    context = {
        "page": page,
        "progress": page.progress,
        "plan_again": _plan_again(page),
        "preflight": preflight_view(row.request, may_ask=page.may_check),
        "tail": release_tail(row, [one.row for one in page.progress.replicas])
        if page.progress.queue is None and has_tail(row)
        else None,
        "key": new_key(),
        "error": error,
    }
    return render(request, "releases/release.html", context, status=status)
