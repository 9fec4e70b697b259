"""Approval requests: the list, one request, and what people do with it."""

import uuid
from datetime import datetime
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.core.exceptions import ReauthenticationRequired
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from deployments.forms.approvals import LONGEST_COMMENT, DecisionForm, StartForm
from deployments.forms.releases import ActForm, new_key
from deployments.models import ApprovalRequest, Decision, TableKey, TeamRole
from deployments.planning.errors import PlanningError
from deployments.planning.launch.files import launch_files
from deployments.selectors.approvals import (
    request_page,
    requests_for,
    with_void_vote,
)
from deployments.selectors.plans import stored_plan
from deployments.selectors.preflight import preflight_view
from deployments.selectors.tables.approvals import APPROVALS
from deployments.selectors.texts import say_error
from deployments.selectors.votes import roles_on, team_of
from deployments.services.approvals import decide, withdraw
from deployments.services.changes_read import open_changes
from deployments.services.errors import ConflictError, ProofNeededError, UseCaseError
from deployments.services.releases import start_release
from deployments.services.schedules import plan_start
from deployments.views.answers import archive, refusal_status
from deployments.views.people import (
    PanelRequest,
    person,
    proved_at,
    refuse_without_role,
)
from deployments.views.plan_again import plan_again_address
from deployments.views.tables import act_on_rows, show_table, withdrawn


@require_safe
def approval_list(request: PanelRequest) -> HttpResponse:
    """Requests as a table: those that wait, those for this person first."""
    return show_table(request, APPROVALS, "approvals/list.html")


@require_POST
def withdraw_selected(request: HttpRequest) -> HttpResponse:
    """Take back each selected request, if it is the person's own."""
    user = person(request)

    def take_back(pk: uuid.UUID, _key: str) -> None:
        row = requests_for(user).filter(pk=pk, submitted_by=user).first()
        if row is None:
            raise ConflictError(_("Only requests of your own are withdrawn together."))
        withdraw(user, row)

    return act_on_rows(request, TableKey.APPROVALS, take_back, withdrawn)


@require_safe
def approval(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """One request, rendered from the stored plan only."""
    return _page(request, _find(request, pk))


@require_POST
def approval_decide(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Approve or reject exactly the digest that was shown.

    Raises:
        PermissionDenied: the form is wrong, and the person is no approver.
        ReauthenticationRequired: the rules ask who decides to prove again who they are.
    """
    row = _find(request, pk)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        if TeamRole.APPROVER not in roles_on(person(request), row):
            raise PermissionDenied
        return _page(request, row, form=form, status=422)
    decision = Decision(form.cleaned_data["decision"])
    try:
        decide(
            person(request),
            row,
            decision,
            shown_digest=form.cleaned_data["digest"],
            shown_start=form.cleaned_data["start"],
            comment=form.cleaned_data["comment"],
            proved_at=proved_at(request),
        )
    except ProofNeededError as error:
        if get_adapter().get_reauthentication_methods(person(request)):
            # The library asks, and then sends this very form again.
            raise ReauthenticationRequired from error
        return _refused(request, pk, error, form)
    except UseCaseError as error:
        return _refused(request, pk, error, form)
    approved = decision == Decision.APPROVE
    messages.success(
        request, _("You approved this plan.") if approved else _("You rejected it.")
    )
    return redirect("approval", pk=pk)


@require_POST
def approval_read(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Lead to what the plan changes, and note that the person was shown it.

    What stands in the field for a comment goes along.
    """
    row = _find(request, pk)
    digest = request.POST.get("digest", "")
    try:
        open_changes(person(request), row, shown_digest=digest)
    except UseCaseError as error:
        return _refused(request, pk, error)
    written = request.POST.get("comment", "")[:LONGEST_COMMENT]
    query = f"?{urlencode({'comment': written})}" if written else ""
    return redirect(f"{reverse('approval', args=[pk])}{query}#h-diff")


@require_POST
def approval_withdraw(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Take the request back."""
    row = _find(request, pk)
    try:
        withdraw(person(request), row)
    except UseCaseError as error:
        return _refused(request, pk, error)
    messages.success(request, _("The request is withdrawn; nothing will run."))
    return redirect("approval", pk=pk)


@require_POST
def approval_start(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Say when the plan may start, before anybody votes."""
    row = _find(request, pk)
    refuse_without_role(request, team_of(row))
    form = StartForm(request.POST)
    if not form.is_valid():
        return _page(request, row, form=form, status=422)
    try:
        plan_start(
            person(request),
            row,
            form.window,
            by_itself=form.cleaned_data["starts_itself"],
            zone=timezone.get_current_timezone_name(),
        )
    except UseCaseError as error:
        return _refused(request, pk, error)
    messages.success(request, _("The people who decide see when it would start."))
    return redirect("approval", pk=pk)


@require_POST
def release(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Deploy the approved plan; a second click finds the first one's release."""
    row = _find(request, pk)
    form = ActForm(request.POST)
    if not form.is_valid():
        refuse_without_role(request, team_of(row))
        error = _("This page is out of date. Look at it again, then deploy.")
        return _page(request, row, status=422, error=error)
    try:
        started = start_release(person(request), row, str(form.cleaned_data["key"]))
    except (UseCaseError, PlanningError) as error:
        return _refused(request, pk, error)
    return redirect("release", pk=started.pk)


@require_safe
def stored_plan_files(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The launch files of the stored plan as one archive."""
    row = _find(request, pk)
    try:
        plan = stored_plan(row.plan)
    except PlanningError as error:
        return _refused(request, pk, error)
    revision = row.plan.revision
    name = f"{revision.deployment.name}-r{revision.number}"
    return archive(name, launch_files(plan))


def _find(request: HttpRequest, pk: uuid.UUID) -> ApprovalRequest:
    user = person(request)
    rows = with_void_vote(user, requests_for(user))
    row: ApprovalRequest = get_object_or_404(rows, pk=pk)
    return row


def _refused(
    request: HttpRequest,
    pk: uuid.UUID,
    error: UseCaseError | PlanningError,
    form: DecisionForm | None = None,
) -> HttpResponse:
    """The request as it is now, with the reason on top."""
    row = _find(request, pk)
    status = refusal_status(error)
    return _page(request, row, form=form, status=status, error=say_error(error))


def _start_of(row: ApprovalRequest) -> dict[str, object]:
    return {
        "starts_itself": row.starts_itself,
        "start_from": _local(row.start_from),
        "start_until": _local(row.start_until),
    }


def _local(moment: datetime | None) -> str:
    """As the browser's field for a date and a time takes it."""
    return f"{timezone.localtime(moment):%Y-%m-%dT%H:%M}" if moment else ""


def _page(
    request: HttpRequest,
    row: ApprovalRequest,
    *,
    form: DecisionForm | StartForm | None = None,
    status: int = 200,
    error: str = "",
) -> HttpResponse:
    page = request_page(person(request), row)
    context = {
        "page": page,
        "form": form
        if isinstance(form, DecisionForm)
        else DecisionForm(
            initial={
                "digest": row.digest,
                "comment": request.GET.get("comment", "")[:LONGEST_COMMENT],
            }
        ),
        "start_form": form
        if isinstance(form, StartForm)
        else StartForm(initial=_start_of(row)),
        "zone": timezone.get_current_timezone_name(),
        "key": new_key(),
        "plan_again": plan_again_address(row.plan),
        "preflight": preflight_view(row, may_ask=page.actions.check),
        "error": error,
    }
    return render(request, "approvals/request.html", context, status=status)
