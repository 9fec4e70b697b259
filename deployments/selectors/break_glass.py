"""Who may start without approval, what was started so, and which reviews are open."""

from django.db.models import QuerySet

from deployments.models import BreakGlass, Release, RequestState, TeamRole, User
from deployments.selectors.ready_rows import asked_by, ready_models

BREAKABLE = (RequestState.OPEN, RequestState.APPROVED)
MAY_REVIEW = frozenset({TeamRole.APPROVER, TeamRole.ADMIN})


def use_of(release: Release) -> BreakGlass | None:
    """The use that started this very release; none for a later release of the same plan."""
    return (
        BreakGlass.objects.filter(release=release)
        .select_related("used_by", "reviewed_by", "release", "request__plan")
        .first()
    )


def open_reviews(user: User, most: int) -> list[BreakGlass]:
    """What nobody has reviewed yet in the person's teams, at most so many, the oldest first."""

    def unreviewed() -> QuerySet[BreakGlass]:
        return (
            BreakGlass.objects.for_user(user)
            .filter(reviewed_by=None)
            .select_related(
                "used_by", "request", "release__deployment", "request__plan__revision"
            )
            .defer("request__plan__document", "request__plan__revision__document")
            .order_by("created_at")[:most]
        )

    return ready_models(("open reviews", asked_by(user), most), unreviewed)
