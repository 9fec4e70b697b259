"""Approved requests that start by themselves, once their time has come."""

import logging

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import translation

from deployments.models import ApprovalRequest, RequestState
from deployments.planning.errors import PlanningError
from deployments.planning.text import said_by
from deployments.services.errors import UseCaseError
from deployments.services.freezes import FrozenError
from deployments.services.releases import start_release
from deployments.services.schedules import NotYetError

logger = logging.getLogger(__name__)


def start_due() -> int:
    """Start what is due in the name of whoever asked for it; returns how many started.

    What a pair of benchmarks starts at its time (``services.bench.pair_carrying``) is left to it.
    Rights, votes, freezes and times are asked again. What is refused keeps the reason, and is tried
    again until its approval runs out.
    """
    due = ApprovalRequest.objects.filter(
        Q(start_from=None) | Q(start_from__lte=Now()),
        state=RequestState.APPROVED,
        starts_itself=True,
        expires_at__gt=Now(),
        benchmark_pair=None,
    ).select_related(
        "submitted_by",
        "plan__revision__deployment__cluster",
        "plan__revision__deployment__team",
    )
    return sum(_start(request) for request in due)


def _start(request: ApprovalRequest) -> bool:
    try:
        with translation.override("en"):
            start_release(request.submitted_by, request, f"self-{request.pk}")
    except (FrozenError, NotYetError):
        return False
    except (UseCaseError, PlanningError) as error:
        logger.warning("self start refused", extra={"request_id": str(request.pk)})
        ApprovalRequest.objects.filter(pk=request.pk).update(
            start_problem=said_by(error)
        )
        return False
    return True
