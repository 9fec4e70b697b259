"""What people did: the list, one entry, and entries as lines of JSON."""

import json
import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from deployments.forms.tables import table_form
from deployments.selectors.audit import entries_for, entry_page
from deployments.selectors.audit_chain import exported
from deployments.selectors.tables.audit import AUDIT
from deployments.selectors.tables.table import FILE_ROWS
from deployments.views.people import PanelRequest, person
from deployments.views.tables import show_table


@require_safe
def audit(request: PanelRequest) -> HttpResponse:
    """What the person may read as a table."""
    return show_table(request, AUDIT, "audit/list.html")


@require_safe
def entry(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One entry with what changed."""
    user = person(request)
    row = get_object_or_404(entries_for(user), pk=pk)
    return render(request, "audit/entry.html", {"page": entry_page(user, row)})


@require_safe
def lines(request: HttpRequest) -> HttpResponse:
    """The entries of the table with all that their digests cover: one JSON object per line."""
    user = person(request)
    state = table_form(AUDIT, user, request.GET).state
    rows = AUDIT.sorted(user, state)[:FILE_ROWS]
    text = "".join(
        json.dumps(exported(row), ensure_ascii=False, sort_keys=True) + "\n"
        for row in rows.iterator(chunk_size=1000)
    )
    response = HttpResponse(text, content_type="application/x-ndjson; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
    return response
