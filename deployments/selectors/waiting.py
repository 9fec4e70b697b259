"""What waits for one person: the requests that they may decide."""

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    RequestState,
    RoleGrant,
    TeamRole,
    User,
)
from deployments.models.scope import ScopedQuerySet


def decidable_requests(user: User) -> ScopedQuerySet[ApprovalRequest]:
    """Open requests on which this person's vote would count now.

    Where the policy asks for another person, at submission or since, those that the person wrote,
    and those older than the person's right to approve, are left out (``selectors.votes`` says the
    same of one request).
    """
    grants = RoleGrant.objects.filter(
        role=TeamRole.APPROVER,
        membership__user=user,
        membership__team=OuterRef("plan__revision__deployment__cluster__team"),
    )
    older_grants = grants.filter(created_at__lte=OuterRef("created_at"))
    lenient = Q(
        requires_other_approver=False,
        plan__revision__deployment__cluster__requires_other_approver=False,
    )
    authored = Q(submitted_by=user) | Q(plan__revision__created_by=user)
    return (
        ApprovalRequest.objects.for_user(user)
        .filter(state=RequestState.OPEN, expires_at__gt=timezone.now())
        .filter(Exists(grants))
        .filter(lenient | (~authored & Exists(older_grants)))
    )
