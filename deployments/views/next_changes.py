"""What else may be changed: each proposal opens the wizard or goes to the vote; a canary is compared."""

import time
import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from deployments.forms.releases import new_key
from deployments.models import (
    EVERY_DAYS,
    Deployment,
)
from deployments.planning.canary import SEVERAL, instances
from deployments.planning.errors import PlanningError
from deployments.selectors.advice_words import spoken
from deployments.selectors.canary_comparison import canary_page
from deployments.selectors.deployments import (
    DeploymentPage,
    deployment_page,
    deployments_for,
)
from deployments.selectors.next_changes import changes_of
from deployments.selectors.texts import say_error
from deployments.services.errors import UseCaseError
from deployments.services.proposal_schedules import schedule_proposals
from deployments.services.proposing import promote, propose
from deployments.telemetry.next_changes import Proposal
from deployments.views.answers import refusal_status
from deployments.views.deployments import find, head, prepared_address
from deployments.views.people import PanelRequest, person, refuse_without_role

PROMOTE = "promote"


@require_POST
def schedule(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Let the panel propose changes by itself, at another pace, or no longer."""
    row = find(request, pk)
    refuse_without_role(request, row.team)
    days = request.POST.get("every_days", "")
    every = int(days) if days.isascii() and days.isdigit() else None
    try:
        schedule_proposals(person(request), row, every)
    except UseCaseError as error:
        messages.error(request, say_error(error))
    else:
        messages.success(
            request,
            _("The panel proposes changes by itself.")
            if every
            else _("The panel proposes nothing by itself."),
        )
    return redirect("deployment-advice", pk=row.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def next_changes(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Every proposal with its reasons; an htmx request gets them alone. Or put one to the vote."""
    found = deployments_for(person(request)).select_related(
        "proposal_schedule__allowed_by", "proposal_schedule__proposed"
    )
    row = get_object_or_404(found, pk=pk)
    return _ask(request, row) if request.method == "POST" else _page(request, row)


def _ask(request: PanelRequest, row: Deployment) -> HttpResponse:
    refuse_without_role(request, row.team)
    key = request.POST.get("proposal", "")
    try:
        made = (
            promote(person(request), row)
            if key == PROMOTE
            else propose(person(request), row, key)
        )
    except (UseCaseError, PlanningError) as error:
        return _page(request, row, status=refusal_status(error), error=say_error(error))
    messages.success(
        request, _("The plan is submitted. It runs once it is approved and released.")
    )
    return redirect("approval", pk=made.pk)


def _page(
    request: PanelRequest, row: Deployment, *, status: int = 200, error: str = ""
) -> HttpResponse:
    page = deployment_page(person(request), row)
    now_s = int(time.time())
    proposals: tuple[Proposal, ...] = ()
    canary = None
    if page.live and page.plan:
        canary = canary_page(row, page.live, page.plan, now_s)
    if page.live and page.plan and canary is None:
        proposals = changes_of(row, page.live, page.plan, now_s)
    context: dict[str, Any] = {
        "page": page,
        "proposals": [_shown(page, one) for one in proposals],
        "canary": canary,
        "canary_said": spoken(canary.verdict.said) if canary else "",
        "may": page.may_operate,
        "live": page.live,
        "key": new_key(),
        "schedule": getattr(row, "proposal_schedule", None),
        "paces": EVERY_DAYS,
        "error": error,
    }
    if request.htmx:
        return render(request, "deployments/next_changes.html#proposals", context)
    return render(
        request,
        "deployments/next_changes.html",
        head(page, "acceptance") | context,
        status=status,
    )


def _shown(page: DeploymentPage, proposal: Proposal) -> dict[str, Any]:
    several = page.plan is not None and len(instances(page.plan)) >= SEVERAL
    return {
        "said": spoken(proposal.said),
        "because": [spoken(one) for one in proposal.because],
        "prepare": prepared_address(page, proposal),
        "key": proposal.key,
        "as_canary": several and proposal.method is not None,
    }
