"""Whose rows are whose: every read that a person causes starts at ``for_user``."""

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db import models

from deployments.models.team import Membership, TeamRole
from deployments.models.user import User

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """A queryset that knows the way from its rows to their team.

    The model names the way in ``TEAM_PATH`` (``cluster__team``), and says with
    ``SHARED_WITHOUT_TEAM`` whether rows without a team are everybody's. ``CLUSTER_PATH`` leads to
    the cluster of rows that guests of it see, ``DECIDED_ON`` to the team whose approvers see rows
    of guests on its clusters.
    """

    def for_user(self, user: User | AnonymousUser) -> "ScopedQuerySet[M]":
        """Only rows of teams that the person is in; nothing for people who are not logged in."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        path: str = self.model.TEAM_PATH  # type: ignore[attr-defined]
        members = Membership.objects.filter(user=user)
        mine = models.Q(**{f"{path}__in": members.values("team")})
        if (owner := getattr(self.model, "DECIDED_ON", "")) != "":
            deciding = members.filter(grants__role=TeamRole.APPROVER)
            mine |= models.Q(**{f"{owner}__in": deciding.values("team")})
        if getattr(self.model, "SHARED_WITHOUT_TEAM", False):
            mine |= models.Q(**{f"{path}__isnull": True})
        return self.filter(mine)

    def for_user_or_guest(self, user: User | AnonymousUser) -> "ScopedQuerySet[M]":
        """Those, and rows of clusters that others share with the person's teams.

        For pages that show a guest nothing that is not theirs to see; all others ask ``for_user``.
        """
        if not user.is_authenticated or not user.is_active:
            return self.none()
        path: str = self.model.CLUSTER_PATH  # type: ignore[attr-defined]
        guests = Membership.objects.filter(
            user=user, team__cluster_shares__isnull=False
        )
        clusters = guests.values("team__cluster_shares__cluster")
        own = self.for_user(user).values("pk")
        return self.filter(models.Q(pk__in=own) | models.Q(**{f"{path}__in": clusters}))
