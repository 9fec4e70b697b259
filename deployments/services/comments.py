"""Ask and answer about a request, beside the votes."""

from django.db import transaction
from django.utils.translation import gettext as _

from deployments.models import (
    ApprovalRequest,
    AuditAction,
    NoticeKind,
    RequestComment,
    User,
)
from deployments.planning.text import text
from deployments.selectors.votes import roles_on
from deployments.services.audit import record
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.notices.announcing import tell_of_request

MOST_COMMENTS = 200
LONGEST = 2000
ASKED = text("Somebody wrote about revision {revision} of {name} on {cluster}.")


def comment_on(user: User, request: ApprovalRequest, words: str) -> RequestComment:
    """Write a question or an answer for everybody who sees the request; votes and state stay.

    Raises:
        NotAllowedError: the person holds no role in the team.
        ConflictError: nothing is said, too much, or too often.
    """
    if not roles_on(user, request):
        raise NotAllowedError(_("Writing here needs a role in this team."))
    words = words.strip()
    if not words or len(words) > LONGEST:
        raise ConflictError(_("Write between one and 2000 characters."))
    with transaction.atomic():
        # One after the other, so that two at once cannot pass the limit.
        ApprovalRequest.objects.select_for_update().get(pk=request.pk)
        if request.comments.count() >= MOST_COMMENTS:
            raise ConflictError(_("There is no room for more: ask a person directly."))
        row = RequestComment.objects.create(
            request=request, author=user, author_name=str(user)[:160], text=words
        )
        tell_of_request(NoticeKind.COMMENTED, request, ASKED, actor=user)
        record(AuditAction.REQUEST_COMMENTED, user, request, reason=words)
    return row
