"""Check a launch: paste or upload it, read the verdict beside its lines, take the corrected file."""

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from deployments.forms.check import CheckForm, linked_form
from deployments.forms.check_wizard import carried
from deployments.forms.launch_link import link_query, masked
from deployments.planning.errors import PlanningError
from deployments.planning.rules.launch.fixer import fixed_text
from deployments.planning.rules.launch.known import KnownModels
from deployments.planning.rules.launch.lint import LintReport, lint
from deployments.planning.rules.launch.settings import LintSettings
from deployments.selectors.check import answer_of
from deployments.selectors.check_examples import EXAMPLES
from deployments.selectors.rules import known_models
from deployments.selectors.texts import say_error
from deployments.views.people import PanelRequest, person

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def check(request: PanelRequest) -> HttpResponse:
    """The form, and below it the answer; a link carries its input, an htmx request gets the answer."""
    if request.method == "POST":
        return _answered(request, CheckForm(request.POST, request.FILES))
    if "launch" in request.GET:
        form = linked_form(request.GET)
        if not form.is_valid():
            problem = _(
                "This link holds no launch that can be read; it may have been cut. Paste the launch itself."
            )
            return _page(request, CheckForm(), {"problem": problem}, status=422)
        return _answered(request, form)
    return _page(request, CheckForm(), {})


@require_POST
def check_corrected(request: PanelRequest) -> HttpResponse:
    """The corrected input as a file."""
    form = CheckForm(request.POST, request.FILES)
    found = _report(form, known_models(person(request)))
    if not isinstance(found, LintReport):
        return _page(request, form, {"problem": found}, status=422)
    response = HttpResponse(
        fixed_text(found.source, found.findings),
        content_type="text/plain; charset=utf-8",
    )
    response["Content-Disposition"] = 'attachment; filename="launch-corrected.txt"'
    return response


def _answered(request: PanelRequest, form: CheckForm) -> HttpResponse:
    known = known_models(person(request))
    found = _report(form, known)
    if not isinstance(found, LintReport):
        return _page(request, form, {"problem": found}, status=422)
    text, settings = found.source.text, form.settings()
    context = {
        "answer": answer_of(found, settings),
        "carried": carried(_mended(found, settings, known).views, settings),
        "link": _link(request, text, settings),
        "masks": masked(text) != text,
    }
    shown = CheckForm({**form.cleaned_data, "content": text})
    return _page(request, shown, context)


def _mended(
    found: LintReport, settings: LintSettings, known: KnownModels
) -> LintReport:
    """The report of the corrected input, which a plan begins with."""
    after = fixed_text(found.source, found.findings)
    return found if after == found.source.text else lint(after, settings, known)


def _link(request: PanelRequest, text: str, settings: LintSettings) -> str:
    query = link_query(text, settings)
    return request.build_absolute_uri(f"{reverse('check')}?{query}") if query else ""


def _report(form: CheckForm, known: KnownModels) -> LintReport | str:
    """What the rules found, else the sentence that says what is wrong with the input."""
    if not form.is_valid():
        return " ".join(str(text) for texts in form.errors.values() for text in texts)
    try:
        return lint(form.launch, form.settings(), known)
    except PlanningError as error:
        return say_error(error)


def _page(
    request: PanelRequest, form: CheckForm, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    name = "check/page.html" + ("#answer" if request.htmx else "")
    return render(
        request, name, {"form": form, "examples": _examples(), **context}, status=status
    )


def _examples() -> list[tuple["StrOrPromise", str]]:
    unsaid = LintSettings()
    return [(one.title, link_query(one.content, unsaid)) for one in EXAMPLES]
