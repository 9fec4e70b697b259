"""Everybody who has an account, as admins of the panel see them."""

from dataclasses import dataclass

from allauth.mfa.models import Authenticator
from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from deployments.models import Membership, User

ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRow:
    """One account: its teams with the roles there, and whether this admin may disable it."""

    row: User
    teams: tuple[tuple[str, tuple[str, ...]], ...]
    second_factor: bool
    may_change: bool


def administers(user: User) -> bool:
    """Whether the person is an admin of the panel who can log in."""
    return user.is_active and user.is_superuser


def accounts_page(user: User, text: str, number: str) -> Page[User]:
    """One page of the accounts by name; nothing for who administers nothing."""
    rows = _accounts(text) if administers(user) else User.objects.none()
    return Paginator(rows, ROWS).get_page(number)


def account_rows(user: User, page: Page[User]) -> list[AccountRow]:
    """What the page shows of each, in three queries."""
    return [_row(user, one) for one in page.object_list]


def _accounts(text: str) -> QuerySet[User]:
    factors = Authenticator.objects.filter(user=OuterRef("pk"))
    memberships = Membership.objects.select_related("team").order_by("team__name")
    rows = User.objects.annotate(has_factor=Exists(factors)).prefetch_related(
        Prefetch("memberships", queryset=memberships), "memberships__grants"
    )
    for word in text.split():
        rows = rows.filter(
            Q(username__icontains=word)
            | Q(first_name__icontains=word)
            | Q(last_name__icontains=word)
            | Q(email__icontains=word)
        )
    return rows.order_by("username")


def _row(user: User, row: User) -> AccountRow:
    return AccountRow(
        row=row,
        teams=tuple(
            (one.team.name, tuple(sorted(grant.role for grant in one.grants.all())))
            for one in row.memberships.all()
        ),
        second_factor=bool(getattr(row, "has_factor", False)),
        may_change=row.pk != user.pk,
    )
