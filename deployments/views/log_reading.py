"""Read a log: paste or upload it, and read what it says about speculation and failures."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from deployments.forms.launch_link import masked
from deployments.forms.log_reading import LogForm, linked_log, log_query
from deployments.selectors.log_examples import EXAMPLES
from deployments.selectors.log_reading import log_answer
from deployments.views.people import PanelRequest

LARGEST_KEPT = 64 * 1024
"""Characters of the input that come back in the form; a longer one stays in the browser."""


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def read(request: PanelRequest) -> HttpResponse:
    """The form, and below it the answer; a link carries its input, an htmx request gets the answer."""
    if request.method == "POST":
        return _answered(request, LogForm(request.POST, request.FILES))
    if "log" in request.GET:
        form = linked_log(request.GET)
        if not form.is_valid():
            problem = _(
                "This link holds no log that can be read; it may have been cut. Paste the log itself."
            )
            return _page(request, LogForm(), {"problem": problem}, status=422)
        return _answered(request, form)
    if "example" in request.GET:
        example = next(
            (one for one in EXAMPLES if one.key == request.GET["example"]), EXAMPLES[0]
        )
        return _answered(request, LogForm({"content": example.content}))
    return _page(request, LogForm(), {})


def _answered(request: PanelRequest, form: LogForm) -> HttpResponse:
    if not form.is_valid():
        said = " ".join(str(one) for several in form.errors.values() for one in several)
        return _page(request, form, {"problem": said}, status=422)
    answer = log_answer(form.log, form.platform_name, form.year_given, form.zone_given)
    text = form.log.decode("utf-8", "replace") if len(form.log) <= LARGEST_KEPT else ""
    query = log_query(text, form) if text else ""
    link = (
        request.build_absolute_uri(f"{reverse('check-log')}?{query}") if query else ""
    )
    context = {"answer": answer, "link": link, "masks": masked(text) != text}
    shown = LogForm({**form.cleaned_data, "content": text})
    return _page(request, shown, context)


def _page(
    request: PanelRequest, form: LogForm, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    name = "check/log.html" + ("#answer" if request.htmx else "")
    return render(
        request, name, {"form": form, "examples": EXAMPLES, **context}, status=status
    )
