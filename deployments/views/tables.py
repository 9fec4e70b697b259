"""What all tables have: the page, the file, saved views, and acts on selected rows."""

import csv
import io
import uuid
from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.releases import new_key
from deployments.forms.tables import BulkForm, SavedViewForm, table_form
from deployments.models import TableKey
from deployments.planning.errors import PlanningError
from deployments.selectors.tables.all_tables import TABLES
from deployments.selectors.tables.file import titles, values
from deployments.selectors.tables.table import FILE_ROWS, Table, file_rows, table_page
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.saved_views import remove_view, save_view
from deployments.views.people import PanelRequest, person

Act = Callable[[uuid.UUID, str], None]
"""Does one row with a key of its own."""


def show_table(
    request: PanelRequest, table: Table, template: str, *, status: int = 200
) -> HttpResponse:
    """The page of a table, or for htmx the part below its controls."""
    user = person(request)
    form = table_form(table, user, request.GET)
    page = table_page(user, table, form.state)
    context = {"form": form, "page": page, "key": new_key()}
    name = "tables/_table.html" if request.htmx else template
    return render(request, name, context, status=422 if form.error else status)


@require_safe
def file(request: HttpRequest, table: TableKey) -> HttpResponse:
    """The rows of a table as CSV: the same ones in the same order, of all pages."""
    user = person(request)
    asked = TABLES[table]
    state = table_form(asked, user, request.GET).state
    columns = asked.shown(state)
    written = io.StringIO()
    # The mark tells spreadsheets that this is UTF-8.
    written.write("\N{ZERO WIDTH NO-BREAK SPACE}")
    writer = csv.writer(written)
    writer.writerow(titles(columns))
    write = writer.writerow
    if not file_rows(user, asked, state, lambda row: write(values(columns, row))):
        write(
            [_("Only the first %(most)d rows: narrow the list.") % {"most": FILE_ROWS}]
        )
    response = HttpResponse(written.getvalue(), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{table}.csv"'
    return response


@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Keep the table as it is under a name, and show it so."""
    form = SavedViewForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A view needs a name of at most 60 characters."))
        return redirect(_back(request))
    table = TableKey(form.cleaned_data["table"])
    try:
        view = save_view(
            person(request),
            table,
            form.cleaned_data["name"],
            form.cleaned_data["query"],
        )
    except UseCaseError as error:
        messages.error(request, say_error(error))
        return redirect(_back(request))
    messages.success(request, _("The view “%(name)s” is kept.") % {"name": view.name})
    return redirect(_address(view.table, view.query))


@require_POST
def remove(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Remove one of the person's views.

    Raises:
        Http404: it is not theirs.
    """
    view = remove_view(person(request), pk)
    if view is None:
        raise Http404
    messages.success(
        request, _("The view “%(name)s” is removed.") % {"name": view.name}
    )
    return redirect(_address(view.table, view.query))


def act_on_rows(
    request: HttpRequest, table: TableKey, act: Act, done: Callable[[int], str]
) -> HttpResponse:
    """Do every selected row on its own; what cannot be done is said with its reason."""
    form = BulkForm(request.POST)
    back = _address(table, request.POST.get("query", ""))
    if not form.is_valid():
        refused = form.errors.get("row")
        out_of_date = _("This page is out of date. Look at it again, then repeat.")
        messages.error(request, str(refused[0]) if refused else out_of_date)
        return redirect(back)
    succeeded = 0
    for pk in form.cleaned_data["row"]:
        key = str(uuid.uuid5(form.cleaned_data["key"], str(pk)))
        try:
            act(pk, key)
        except (UseCaseError, PlanningError) as error:
            messages.error(request, say_error(error))
        else:
            succeeded += 1
    if succeeded:
        messages.success(request, done(succeeded))
    return redirect(back)


def stopped(count: int) -> str:
    """What is said when deployments are being stopped."""
    return ngettext(
        "%(count)s deployment is being stopped.",
        "%(count)s deployments are being stopped.",
        count,
    ) % {"count": count}


def withdrawn(count: int) -> str:
    """What is said when requests were taken back."""
    return ngettext(
        "%(count)s request is withdrawn; nothing of it will run.",
        "%(count)s requests are withdrawn; nothing of them will run.",
        count,
    ) % {"count": count}


def _back(request: HttpRequest) -> str:
    """The table that a form came from, as it was."""
    known = request.POST.get("table") in TableKey.values
    table = TableKey(request.POST["table"]) if known else TableKey.DEPLOYMENTS
    return _address(table, request.POST.get("query", ""))


def _address(table: str, query: str) -> str:
    """An address of the table; the query is written anew, so that it cannot lead elsewhere."""
    path = reverse(TABLES[TableKey(table)].url_name)
    asked = QueryDict(query).urlencode()
    return f"{path}?{asked}" if asked else path
