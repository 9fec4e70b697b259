"""Whose rows are whose: every read that a person causes starts at ``for_user``."""

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db import models

from deployments.models.team import Membership
from deployments.models.user import User

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """A queryset that knows the way from its rows to their team.

    The model names the way in ``TEAM_PATH`` (``cluster__team``), and says with
    ``SHARED_WITHOUT_TEAM`` whether rows without a team are everybody's.
    """

    def for_user(self, user: User | AnonymousUser) -> "ScopedQuerySet[M]":
        """Only rows of teams that the person is in; nothing for people who are not logged in."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        path: str = self.model.TEAM_PATH  # type: ignore[attr-defined]
        teams = Membership.objects.filter(user=user).values("team")
        mine = models.Q(**{f"{path}__in": teams})
        if getattr(self.model, "SHARED_WITHOUT_TEAM", False):
            mine |= models.Q(**{f"{path}__isnull": True})
        return self.filter(mine)
