"""The speculation calculator: memory and speed of a model before there is a deployment."""

import csv
import io
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from deployments.forms.calculator import CalculatorForm, example
from deployments.planning.calculation import calculate
from deployments.planning.errors import PlanningError
from deployments.selectors.calculator import (
    calculator_answer,
    curve_rows,
    visible_entry,
    visible_models,
)
from deployments.selectors.texts import say_error
from deployments.views.people import PanelRequest, person


@require_safe
@vary_on_headers("HX-Request")
def calculator(request: PanelRequest) -> HttpResponse:
    """The form with its answer; an htmx request gets the answer, with the address that shows it."""
    form = _form(request)
    context, status = _answered(form)
    # Nobody has entered anything that could be wrong.
    status = status if request.GET else 200
    name = "calculator/page.html" + ("#answer" if request.htmx else "")
    return render(request, name, context | {"live": request.htmx}, status=status)


@require_safe
def calculator_file(request: HttpRequest) -> HttpResponse:
    """The curve as CSV; what cannot be calculated is said on the page instead."""
    form = _form(request)
    context, status = _answered(form)
    if status != 200:
        return render(request, "calculator/page.html", context, status=status)
    written = io.StringIO()
    # The mark tells spreadsheets that this is UTF-8.
    written.write("\N{ZERO WIDTH NO-BREAK SPACE}")
    csv.writer(written).writerows(curve_rows(context["answer"]))
    response = HttpResponse(written.getvalue(), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="speed-up.csv"'
    return response


def _form(request: HttpRequest) -> CalculatorForm:
    query: QueryDict = request.GET
    user = person(request)
    models = visible_models(user)
    if not query:
        query = QueryDict(mutable=True)
        query.update(example(models))
    return CalculatorForm(
        query,
        models=models,
        entry=visible_entry(user, query.get("model", "").strip()),
    )


def _answered(form: CalculatorForm) -> tuple[dict[str, Any], int]:
    """The context of the page and its status: 422 where the form cannot be answered."""
    context: dict[str, Any] = {"form": form, "problem": "", "answer": None}
    if not form.is_valid():
        return context, 422
    inquiry = form.inquiry
    try:
        found = calculate(inquiry)
    except PlanningError as error:
        return context | {"problem": say_error(error)}, 422
    return context | {
        "answer": calculator_answer(inquiry, found),
        "address": form.address(),
        "wizard": form.wizard_address(),
    }, 200
