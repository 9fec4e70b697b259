"""What waits for one person: the requests that they may decide."""

from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from deployments.models import (
    ApprovalRequest,
    RequestState,
    RoleGrant,
    Team,
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


def teams_with_waiting(user: User) -> list[tuple[str, int]]:
    """The names of the person's teams, each with how many requests need their vote; one query."""
    team = "plan__revision__deployment__cluster__team"
    counted = (
        decidable_requests(user)
        .filter(**{team: OuterRef("pk")})
        .order_by()
        .values(team)
        .annotate(count=Count("pk"))
        .values("count")
    )
    teams = Team.objects.filter(memberships__user=user).annotate(
        waiting=Coalesce(Subquery(counted), 0)
    )
    return list(teams.values_list("name", "waiting"))
