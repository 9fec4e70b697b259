"""Keep that somebody was shown what a request would change."""

from django.utils.translation import gettext as _

from deployments.models import ApprovalRequest, ChangesRead, User
from deployments.selectors.votes import OBSTACLE_SENTENCES, obstacle
from deployments.services.errors import ConflictError, NotAllowedError


def open_changes(user: User, request: ApprovalRequest, *, shown_digest: str) -> None:
    """Note that the person was shown the changes of this very plan; once more is the same.

    Raises:
        NotAllowedError: the person may not decide on the request.
        ConflictError: the page showed another plan.
    """
    why_not = obstacle(user, request)
    if why_not is not None:
        raise NotAllowedError(str(OBSTACLE_SENTENCES[why_not]))
    if shown_digest != request.digest:
        raise ConflictError(
            _("The plan changed since you opened this page. Look again.")
        )
    ChangesRead.objects.get_or_create(request=request, user=user, digest=request.digest)
