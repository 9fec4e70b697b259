"""Logs: the page, the part of it that is polled, the download, and asking for a tail."""

import uuid
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.logs import LogForm, log_form
from deployments.models import Deployment, LogRun, Release, Replica
from deployments.selectors.deployments import deployment_page
from deployments.selectors.log_lines import LogFilter
from deployments.selectors.log_text import log_text
from deployments.selectors.logs import (
    SIDE_BY_SIDE,
    LogQuery,
    log_choices,
    log_increment,
    log_panes,
    newest_in_focus,
    replica_choice,
)
from deployments.selectors.logs import release_tail as release_tail_of
from deployments.selectors.releases import releases_for
from deployments.services.log_view import ask_for_tails
from deployments.views.deployments import find, head
from deployments.views.people import PanelRequest, person


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an address asks for, read as far as it makes sense."""

    form: LogForm
    query: LogQuery
    choices: list[Replica]

    @property
    def address(self) -> str:
        """The same again as the query of an address, without what is as usual."""
        form = self.form
        kept = {
            name: form.data.get(name, "")
            for name in ("run", "level", "q", "layout", "wrap")
        }
        pairs = [("replica", str(one.pk)) for one in self.query.replicas]
        return urlencode(
            [*pairs, *((name, text) for name, text in kept.items() if text)]
        )


@require_safe
@gzip_page
def logs(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The lines that a worker holds of the chosen logs."""
    row = find(request, pk)
    asked = _asked(row, request.GET)
    panes = log_panes(asked.query)
    context: dict[str, Any] = {
        **head(deployment_page(person(request), row), "logs"),
        "form": asked.form,
        "panes": panes,
        "address": asked.address,
        "run": asked.query.run,
        "wrap": bool(asked.form.data.get("wrap")),
        "zone": timezone.get_current_timezone_name(),
        "first_error": next((one.first_error for one in panes if one.first_error), ""),
    }
    status = 200 if asked.form.is_valid() else 422
    return render(request, "logs/logs.html", context, status=status)


@require_safe
@gzip_page
def lines(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """What is new in one pane since its cursor; 204 while nothing is."""
    row = find(request, pk)
    query = replace(_asked(row, request.GET).query, merged=True)
    pane = log_increment(query, request.GET.get("cursor", ""), request.GET.get("v", ""))
    if pane is None:
        return HttpResponse(status=204)
    response = render(request, "logs/_increment.html", {"pane": pane})
    if pane.whole:
        response.headers["HX-Reswap"] = "innerHTML"
    return response


@require_safe
@gzip_page
def download(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The lines that are held as a text file; what was left out on the page is left out here."""
    row = find(request, pk)
    query = replace(_asked(row, request.GET).query, merged=True)
    response = HttpResponse(
        log_text(row, query), content_type="text/plain; charset=utf-8"
    )
    response.headers["Content-Disposition"] = (
        f'attachment; filename="{row.name}.log.txt"'
    )
    return response


@require_POST
def tail(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask for the chosen logs to be read, or to be read on."""
    asked = _asked(find(request, pk), request.POST)
    replicas = (one.pk for one in asked.query.replicas)
    ask_for_tails(person(request), replicas, asked.query.run)
    if request.htmx:
        return HttpResponse(status=204)
    return redirect(f"{reverse('deployment-logs', args=[pk])}?{asked.address}")


@require_POST
def release_tail(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask for the log of the replica in focus, and show its last lines."""
    row: Release = get_object_or_404(releases_for(person(request)), pk=pk)
    shown = release_tail_of(row)
    if shown.focus is not None and shown.following:
        ask_for_tails(person(request), [shown.focus.pk], LogRun.CURRENT)
    if not request.htmx:
        return redirect("release", pk=pk)
    if shown.stamp == request.POST.get("v"):
        return HttpResponse(status=204)
    return render(request, "logs/_release_tail.html", {"tail": shown})


def _asked(row: Deployment, data: QueryDict) -> Asked:
    """Read an address or a form; what is wrong in it counts as not given."""
    choices = log_choices(row)
    by_id = {str(one.pk): one for one in choices}
    form = log_form(data, [replica_choice(one) for one in choices])
    form.is_valid()
    clean = form.cleaned_data
    chosen = tuple(by_id[key] for key in clean.get("replica") or ())
    query = LogQuery(
        replicas=chosen or newest_in_focus(choices),
        run=LogRun(clean.get("run") or LogRun.CURRENT),
        keep=LogFilter(level=clean.get("level") or "", pattern=clean.get("q")),
        merged=clean.get("layout") != SIDE_BY_SIDE,
    )
    return Asked(form=form, query=query, choices=choices)
