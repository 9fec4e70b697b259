"""The benchmarks of one deployment: measured on its host when asked, and what the team keeps of it."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from deployments.forms.benchmark_jobs import CourseForm
from deployments.forms.releases import new_key
from deployments.models import Deployment
from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset, jsonl, shipped_prompts
from deployments.planning.bench.invocation import part_measured, untold
from deployments.planning.decision import OFF
from deployments.planning.errors import PlanningError
from deployments.selectors.benchmark_jobs import benchmark_jobs, jobs_for
from deployments.selectors.benchmark_pairs import live_without
from deployments.selectors.deployments import DeploymentPage, deployment_page
from deployments.selectors.texts import say_error
from deployments.services.bench.asking import ask_for_benchmark, cancel_benchmark
from deployments.services.bench.measured import vllm_version
from deployments.services.bench.pairs import Wish, ask_for_pair
from deployments.services.errors import ConflictError, UseCaseError
from deployments.views.answers import refusal_status
from deployments.views.deployments import find, head, wizard_address
from deployments.views.people import PanelRequest, person, refuse_without_role


@require_http_methods(["GET", "HEAD", "POST"])
def benchmarks(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """The tab, of which a page that waits takes the list alone; or ask for a benchmark."""
    row = find(request, pk)
    if request.method == "POST":
        return _ask(request, row)
    if not request.htmx:
        return _tab(request, row)
    view = benchmark_jobs(row)
    if request.GET.get("v") == view.stamp:
        return HttpResponse(status=204)
    may = deployment_page(person(request), row).may_operate
    context = {"view": view, "may_operate": may}
    return render(request, "benchmarks/_jobs.html", context)


@require_POST
def cancel(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """End one benchmark."""
    job = get_object_or_404(jobs_for(person(request)), pk=pk)
    deployment = job.replica.release.deployment
    refuse_without_role(request, deployment.team)
    try:
        cancel_benchmark(person(request), job)
    except ConflictError as error:
        messages.error(request, say_error(error))
    else:
        messages.success(request, _("The benchmark ends within seconds."))
    return redirect("deployment-benchmarks", pk=deployment.pk)


@require_safe
def prompts(request: HttpRequest) -> HttpResponse:
    """The shipped prompts of one kind, or of all, as the client reads them."""
    asked = request.GET.get("dataset", "")
    kinds = [one for one in Dataset if one.shipped and asked in {"", one.value}]
    if not kinds:
        raise Http404
    lines = b"".join(jsonl(shipped_prompts(one)) for one in kinds)
    response = HttpResponse(lines, content_type="application/jsonl; charset=utf-8")
    name = asked or "prompts"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.jsonl"'
    return response


def _ask(request: PanelRequest, row: Deployment) -> HttpResponse:
    refuse_without_role(request, row.team)
    form = CourseForm(request.POST, request.FILES, pairs=True, beside=live_without(row))
    if not form.is_valid() or form.course is None:
        return _tab(request, row, form, status=422)
    try:
        return _begun(request, row, form, form.course)
    except (UseCaseError, PlanningError) as error:
        form.add_error(None, say_error(error))
        return _tab(request, row, form, status=refusal_status(error))


def _begun(
    request: PanelRequest, row: Deployment, form: CourseForm, course: Course
) -> HttpResponse:
    """Ask for what the form says and lead to where its progress is."""
    user, key = person(request), str(form.cleaned_data["key"])
    if form.in_turn or form.other:
        wish = Wish(course=course, prompts=form.own, other=form.other)
        pair = ask_for_pair(user, row, wish, key=key)
        return redirect("pair", pk=pair.pk)
    ask_for_benchmark(user, row, course, prompts=form.own, key=key)
    messages.success(
        request, _("A worker begins to measure; this page shows how far it is.")
    )
    return redirect("deployment-benchmarks", pk=row.pk)


def _tab(
    request: HttpRequest,
    row: Deployment,
    form: CourseForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    page = deployment_page(person(request), row)
    pairs = _speculates(page)
    choosing = form is not None or "beside" in request.GET
    if form is None:
        beside = live_without(row) if pairs and choosing else ()
        form = CourseForm(initial={"key": new_key()}, pairs=pairs, beside=beside)
    context = {
        **head(page, "benchmarks"),
        "view": benchmark_jobs(row, with_results=not choosing),
        "form": form,
        "choosing": choosing,
        "may_operate": page.may_operate,
        "other_arm": wizard_address(page, 0) if pairs else "",
        "left_open": (*part_measured(page.plan), *untold(vllm_version(page.plan)))
        if page.plan
        else (),
    }
    return render(request, "deployments/benchmarks.html", context, status=status)


def _speculates(page: DeploymentPage) -> bool:
    return page.live is not None and page.live.plan.method != OFF
