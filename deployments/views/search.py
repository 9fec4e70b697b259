"""The finder: a page, and the list that the dialog of every page shows."""

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from deployments.selectors.search import LONGEST, find
from deployments.views.people import PanelRequest, person


@require_safe
def search(request: PanelRequest) -> HttpResponse:
    """Whatever fits, in groups; a question that cannot be read finds nothing and says so."""
    field = forms.CharField(required=False, max_length=LONGEST)
    error, asked = "", ""
    try:
        asked = field.clean(request.GET.get("q", ""))
    except forms.ValidationError as refused:
        error = " ".join(refused.messages)
    context = {
        "asked": asked,
        "error": error,
        "groups": () if error else find(person(request), asked),
    }
    name = "search/search.html" + ("#found" if request.htmx else "")
    return render(request, name, context, status=422 if error else 200)
