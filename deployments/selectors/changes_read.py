"""At high risk, whether somebody was shown what would change before they approve it."""

from django.db.models import Exists, OuterRef

from deployments.models import ApprovalRequest, ChangesRead, RiskClass, User


def changes_unread(user: User, request: ApprovalRequest) -> bool:
    """Whether the person must look at what changes before they approve; no query below high risk.

    None either where the row was read with ``changes_shown``.
    """
    if request.risk != RiskClass.HIGH:
        return False
    shown = getattr(request, "changes_shown", None)
    if shown is not None:
        return not shown
    rows = ChangesRead.objects.filter(request=request, user=user, digest=request.digest)
    return not rows.exists()


def was_shown(user: User) -> Exists:
    """Of requests, whether the person was shown what they change."""
    return Exists(
        ChangesRead.objects.filter(
            request=OuterRef("pk"), user=user, digest=OuterRef("digest")
        )
    )
