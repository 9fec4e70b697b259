"""Benchmarks: results that a team keeps, and any of them side by side."""

import csv
import io
import uuid
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.benchmarks import ResultsForm, chosen_keys
from deployments.models import BenchmarkResult, TeamRole
from deployments.selectors.access import has_role
from deployments.selectors.benchmark_files import compared_document, run_rows
from deployments.selectors.benchmarks import (
    MOST_COMPARED,
    PAGE_RESULTS,
    chosen,
    compare_page,
    results_for,
)
from deployments.selectors.texts import say_error
from deployments.services.benchmarks import keep_result, remove_result
from deployments.services.errors import UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_safe
def benchmark_list(request: HttpRequest) -> HttpResponse:
    """The results of the person's teams, and the form for new ones."""
    initial = {name: request.GET.get(name, "") for name in ("deployment", "revision")}
    return _list(request, ResultsForm(person(request), initial=initial))


@require_POST
def benchmark_add(request: HttpRequest) -> HttpResponse:
    """Keep what was pasted or uploaded, and show it; a pair is compared at once."""
    user = person(request)
    form = ResultsForm(user, request.POST, request.FILES)
    if not form.is_valid():
        return _list(request, form, status=422)
    arms = [
        (pgettext("arm of a benchmark", "off"), form.off),
        (pgettext("arm of a benchmark", "on"), form.on),
    ]
    given = [(word, runs) for word, runs in arms if runs]
    name = form.cleaned_data["name"]
    try:
        kept = [
            keep_result(
                user,
                form.team_row,
                f"{name} · {word}" if len(given) > 1 else name,
                runs,
                measured=form.measured,
            )
            for word, runs in given
        ]
    except UseCaseError as error:
        return _list(
            request, form, status=refusal_status(error), error=say_error(error)
        )
    if len(kept) == 1:
        return redirect("benchmark", pk=kept[0].pk)
    return redirect(_compare_address(kept))


@require_safe
def benchmark(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One result."""
    row = get_object_or_404(results_for(person(request)), pk=pk)
    context = {
        "page": compare_page([row]),
        "result": row,
        "query": f"result={row.pk}",
        "may_remove": has_role(person(request), row.team, TeamRole.OPERATOR),
    }
    return render(request, "benchmarks/result.html", context)


@require_safe
def benchmark_compare(request: HttpRequest) -> HttpResponse:
    """Several results side by side, at an address that can be kept."""
    keys = chosen_keys(request.GET.getlist("result"))
    rows = chosen(person(request), keys)
    if not rows:
        return render(request, "benchmarks/compare_nothing.html", {"asked": bool(keys)})
    context = {
        "page": compare_page(rows, missing=len(set(keys)) - len(rows)),
        "query": urlencode([("result", str(row.pk)) for row in rows]),
    }
    return render(request, "benchmarks/compare.html", context)


@require_safe
def benchmark_data(request: HttpRequest) -> HttpResponse:
    """The same results and their comparison as JSON."""
    rows = chosen(person(request), chosen_keys(request.GET.getlist("result")))
    response = JsonResponse(compared_document(rows))
    response.headers["Content-Disposition"] = 'attachment; filename="benchmarks.json"'
    return response


@require_safe
def benchmark_file(request: HttpRequest) -> HttpResponse:
    """The runs of the same results as CSV, one in a line."""
    rows = chosen(person(request), chosen_keys(request.GET.getlist("result")))
    written = io.StringIO()
    # The mark tells spreadsheets that this is UTF-8.
    written.write("\N{ZERO WIDTH NO-BREAK SPACE}")
    csv.writer(written).writerows(run_rows(rows))
    response = HttpResponse(written.getvalue(), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="benchmarks.csv"'
    return response


@require_POST
def benchmark_remove(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Remove one result."""
    row = get_object_or_404(results_for(person(request)), pk=pk)
    refuse_without_role(request, row.team)
    remove_result(person(request), row)
    messages.success(request, _("“%(name)s” is removed.") % {"name": row.name})
    return redirect("benchmark-list")


def _list(
    request: HttpRequest, form: ResultsForm, *, status: int = 200, error: str = ""
) -> HttpResponse:
    rows = results_for(person(request)).defer("runs")
    context = {
        "form": form,
        "error": error,
        "results": Paginator(rows, PAGE_RESULTS).get_page(request.GET.get("page")),
        "most": MOST_COMPARED,
    }
    return render(request, "benchmarks/list.html", context, status=status)


def _compare_address(rows: list[BenchmarkResult]) -> str:
    query = urlencode([("result", str(row.pk)) for row in rows])
    return f"{reverse('benchmark-compare')}?{query}"
