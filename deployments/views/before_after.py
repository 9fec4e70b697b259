"""What the newest change of speculation did to a deployment: a card of the serving tab, and a page."""

import time
import uuid

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from deployments.selectors.advice_words import spoken
from deployments.selectors.before_after import newest_change
from deployments.selectors.before_after_rows import rows_of
from deployments.selectors.deployments import deployment_page
from deployments.views.deployments import find, head
from deployments.views.people import PanelRequest, person


@require_safe
def change(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Both windows figure by figure; an htmx request gets the card alone."""
    row = find(request, pk)
    changed = newest_change(row, int(time.time()))
    context = {
        "changed": changed,
        "rows": rows_of(changed.pair) if changed and changed.pair else (),
        "said": [spoken(one) for one in changed.said] if changed else [],
    }
    if request.htmx:
        return render(request, "deployments/change.html#card", context)
    page = deployment_page(person(request), row)
    return render(request, "deployments/change.html", context | head(page, "serving"))
