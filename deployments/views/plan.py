"""The wizard: its page, its live preview, the files of a plan, and the submit button."""

import io
import zipfile

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.wizard.draft import Draft, read_draft
from deployments.forms.wizard.form import WizardForm
from deployments.forms.wizard.steps import Step
from deployments.planning.errors import PlanningError
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan
from deployments.selectors.wizard import WizardChoices
from deployments.selectors.wizard_review import spec_yaml
from deployments.services.errors import NotAllowedError, UseCaseError
from deployments.services.plans import submit_plan
from deployments.views.people import person
from deployments.views.plan_page import page_context, preview_context
from deployments.views.plan_steps import step_context

LONGEST_COMMENT = 2000
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    """Show one step; a step that a button asked for becomes an address of its own."""
    if "to" in request.GET:
        form = WizardForm(request.GET, WizardChoices())
        return redirect(f"{reverse('plan')}?{form.address(form.step)}")
    draft = read_draft(person(request), request.GET)
    return _page(request, draft, status=422 if draft.form.errors else 200)


@require_safe
def plan_preview(request: HttpRequest) -> HttpResponse:
    """Answer the state of a form with the preview and everything else that follows from it."""
    user = person(request)
    draft = read_draft(user, request.GET)
    context = {**preview_context(draft), "live": True}
    if draft.step in {Step.MODEL, Step.WORKLOAD}:
        context |= step_context(user, draft)
    status = 422 if draft.form.errors else 200
    return render(request, "plan/live.html", context, status=status)


@require_safe
def plan_files(request: HttpRequest) -> HttpResponse:
    """The files of the plan as one zip archive; the same plan gives the same bytes."""
    draft = read_draft(person(request), request.GET, step=Step.REVIEW)
    if draft.plan is None or not draft.usable:
        return _page(request, draft, status=422)
    archive = _archive(draft, draft.plan)
    response = HttpResponse(archive, content_type="application/zip")
    name = f"{draft.plan.deployment}-r{draft.plan.revision['number']}.zip"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_POST
def plan_submit(request: HttpRequest) -> HttpResponse:
    """Put the plan to the vote that was shown, or show what it is now and why not."""
    user = person(request)
    draft = read_draft(user, _state(request.POST), step=Step.REVIEW)
    comment = request.POST.get("comment", "").strip()
    if not draft.usable or draft.spec is None or len(comment) > LONGEST_COMMENT:
        problem = _("Nothing was submitted. Mend what is marked, then submit again.")
        if len(comment) > LONGEST_COMMENT:
            problem = _(
                "The comment is too long; keep it to %(longest)s characters."
            ) % {"longest": LONGEST_COMMENT}
        return _page(request, draft, status=422, problem=problem, comment=comment)
    if draft.inputs is None:
        problem = _(
            "A platform without a host cannot be deployed to; download the files."
        )
        return _page(request, draft, status=409, problem=problem, comment=comment)
    try:
        made = submit_plan(
            user,
            draft.inputs,
            draft.spec,
            shown_digest=request.POST.get("digest", ""),
            comment=comment,
        )
    except NotAllowedError as error:
        return _page(request, draft, status=403, problem=str(error), comment=comment)
    except (UseCaseError, PlanningError) as error:
        return _page(request, draft, status=409, problem=str(error), comment=comment)
    messages.success(
        request, _("The plan is submitted. It runs once it is approved and released.")
    )
    return redirect("approval", pk=made.pk)


def _state(posted: QueryDict) -> QueryDict:
    state = posted.copy()
    for key in ("csrfmiddlewaretoken", "digest", "comment", "to", "step"):
        state.pop(key, None)
    return state


def _page(
    request: HttpRequest,
    draft: Draft,
    *,
    status: int,
    problem: str = "",
    comment: str = "",
) -> HttpResponse:
    context = page_context(person(request), draft)
    context |= {"problem": problem, "comment": comment}
    return render(request, "plan/page.html", context, status=status)


def _archive(draft: Draft, made: Plan) -> bytes:
    buffer = io.BytesIO()
    cluster = draft.inputs.cluster if draft.inputs else None
    files = [*launch_files(made), ("deployment.yaml", spec_yaml(made, cluster))]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files:
            entry = zipfile.ZipInfo(path, ZIP_TIME)
            mode = 0o755 if path.endswith(".sh") else 0o644
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return buffer.getvalue()
