"""What else may be changed: method, off, context; each proposal opens the wizard with it in place."""

import time
import uuid
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from deployments.selectors.advice_words import spoken
from deployments.selectors.deployments import DeploymentPage, deployment_page
from deployments.selectors.next_changes import changes_of
from deployments.telemetry.next_changes import Proposal
from deployments.views.deployments import find, head, prepared_address
from deployments.views.people import PanelRequest, person


@require_safe
def next_changes(request: PanelRequest, pk: uuid.UUID) -> HttpResponse:
    """Every proposal with its reasons; an htmx request gets them alone."""
    row = find(request, pk)
    page = deployment_page(person(request), row)
    proposals = (
        changes_of(row, page.live, page.plan, int(time.time()))
        if page.live and page.plan
        else ()
    )
    context: dict[str, Any] = {
        "proposals": [_shown(page, one) for one in proposals],
        "may": page.may_operate,
        "live": page.live,
    }
    if request.htmx:
        return render(request, "deployments/next_changes.html#proposals", context)
    return render(
        request, "deployments/next_changes.html", context | head(page, "acceptance")
    )


def _shown(page: DeploymentPage, proposal: Proposal) -> dict[str, Any]:
    return {
        "said": spoken(proposal.said),
        "because": [spoken(one) for one in proposal.because],
        "prepare": prepared_address(page, proposal),
    }
