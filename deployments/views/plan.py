"""The wizard: its page, its live preview, the files of a plan, and the submit button."""

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.wizard.draft import Draft, read_draft
from deployments.forms.wizard.form import WizardForm
from deployments.forms.wizard.specification import specification
from deployments.forms.wizard.steps import Step
from deployments.forms.wizard.submission import SubmissionForm
from deployments.planning.errors import PlanningError
from deployments.planning.launch.files import launch_files
from deployments.selectors.texts import say_error
from deployments.selectors.wizard import WizardChoices
from deployments.services.errors import UseCaseError
from deployments.services.plans import submit_plan
from deployments.services.wizard_drafts import finish_draft
from deployments.views.answers import archive, refusal_status
from deployments.views.people import person
from deployments.views.plan_page import page_context, preview_context
from deployments.views.plan_steps import step_context
from deployments.views.wizard_drafts import draft_lines


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
    written = ("deployment.yaml", specification(draft))
    name = f"{draft.plan.deployment}-r{draft.plan.revision['number']}"
    return archive(name, (*launch_files(draft.plan), written))


@require_POST
def plan_submit(request: HttpRequest) -> HttpResponse:
    """Put the plan to the vote that was shown, or show what it is now and why not."""
    user = person(request)
    draft = read_draft(user, _state(request.POST), step=Step.REVIEW)
    form = SubmissionForm(request.POST)
    if not form.is_valid() or not draft.usable or draft.spec is None:
        problem = (
            _first_error(form)
            or draft.refusal
            or _("Nothing was submitted. Mend what is marked, then submit again.")
        )
        return _page(request, draft, status=422, problem=problem, form=form)
    if draft.inputs is None:
        problem = _(
            "A platform without a host cannot be deployed to; download the files."
        )
        return _page(request, draft, status=409, problem=problem, form=form)
    try:
        made = submit_plan(
            user,
            replace(draft.inputs, new_in=form.cleaned_data["new_in"]),
            draft.spec,
            shown_digest=form.cleaned_data["digest"],
            comment=form.cleaned_data["comment"],
        )
    except (UseCaseError, PlanningError) as error:
        status = refusal_status(error)
        return _page(request, draft, status=status, problem=say_error(error), form=form)
    finish_draft(user, draft.form.query.get("model", "").strip())
    messages.success(
        request, _("The plan is submitted. It runs once it is approved and released.")
    )
    return redirect("approval", pk=made.pk)


def _first_error(form: SubmissionForm) -> str:
    return next((str(text) for texts in form.errors.values() for text in texts), "")


def _state(posted: QueryDict) -> QueryDict:
    state = posted.copy()
    for key in ("csrfmiddlewaretoken", "digest", "comment", "new_in", "to", "step"):
        state.pop(key, None)
    return state


def _page(
    request: HttpRequest,
    draft: Draft,
    *,
    status: int,
    problem: str = "",
    form: SubmissionForm | None = None,
) -> HttpResponse:
    context = page_context(person(request), draft)
    context |= {"problem": problem, "submission": form or SubmissionForm()}
    if draft.step is Step.MODEL and not draft.form.query.get("model"):
        context["drafts"] = draft_lines(person(request))
    return render(request, "plan/page.html", context, status=status)
