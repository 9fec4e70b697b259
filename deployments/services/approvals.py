"""Decide on requests, and prove later that a decision still holds."""

import uuid
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from deployments.models import (
    Approval,
    ApprovalRequest,
    AuditAction,
    Decision,
    DelegatedVote,
    NoticeKind,
    RequestState,
    TeamRole,
    User,
)
from deployments.planning.text import Text, text
from deployments.selectors.changes_read import changes_unread
from deployments.selectors.deciders import is_enough, lacking, who_text
from deployments.selectors.plans import stored_plan
from deployments.selectors.start_times import AT_ANY_TIME, start_word
from deployments.selectors.texts import listed
from deployments.selectors.votes import (
    OBSTACLE_SENTENCES,
    approvals_needed,
    asks_proof,
    decides_for,
    obstacle,
    team_of,
    vote_counts,
)
from deployments.services.access import require_role
from deployments.services.audit import record
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    NotApprovedError,
    ProofNeededError,
)
from deployments.services.notices.announcing import tell_of_request

DECIDED = {
    Decision.APPROVE: AuditAction.REQUEST_APPROVED,
    Decision.REJECT: AuditAction.REQUEST_REJECTED,
}
TOLD = {
    Decision.APPROVE: (
        NoticeKind.APPROVED,
        text("Revision {revision} of {name} may run on {cluster}."),
    ),
    Decision.REJECT: (
        NoticeKind.REJECTED,
        text("Revision {revision} of {name} will not run on {cluster}."),
    ),
}
PROOF_HOLDS = timedelta(minutes=5)
"""So long after somebody proved who they are, they may decide where that is asked."""
RAN_OUT = text("The time of revision {revision} of {name} on {cluster} ran out.")


def decide(  # noqa: PLR0913 - what a page showed, and what a person says of it
    user: User,
    request: ApprovalRequest,
    decision: Decision,
    *,
    shown_digest: str,
    shown_start: str = AT_ANY_TIME,
    comment: str = "",
    proved_at: datetime | None = None,
) -> ApprovalRequest:
    """Record one person's decision; enough approvals or one rejection end the request.

    The same decision again is the same decision. ``shown_start`` is what the page said of the start,
    as ``selectors.start_times.start_word`` has it. ``proved_at`` is when the person last proved who
    they are, by a password or a code; ``None`` is never.

    Raises:
        ProofNeededError: the rules ask for such a proof, and the last is too old.
        NotAllowedError: no approver, or the policy asks for a person other than the authors.
        ConflictError: the request is no longer open, another digest or start was shown, or it is of
            high risk and the person was not shown what it changes.
    """
    why_not = obstacle(user, request)
    if why_not is not None:
        raise NotAllowedError(str(OBSTACLE_SENTENCES[why_not]))
    if shown_digest != request.digest:
        raise ConflictError(
            _("The plan changed since you opened this page. Look again.")
        )
    try:
        with transaction.atomic():
            # Two votes at the same instant must see each other, or neither would be the last.
            locked = ApprovalRequest.objects.select_for_update().get(pk=request.pk)
            _prove_shown(locked, shown_start)
            _prove_read(user, locked, decision)
            _prove_person(request, proved_at)
            absent = _absent(user, request)
            vote, made = Approval.objects.get_or_create(
                request=request,
                user=user,
                defaults={
                    "decision": decision,
                    "comment": comment,
                    "digest": shown_digest,
                    "user_name": str(user),
                },
            )
            if made:
                _say_for_whom(vote, absent)
            if not made and vote.decision == decision:
                request.refresh_from_db()
                return request
            if not made:
                _prove_open(request)
                raise ConflictError(_("You have already decided on this request."))
            if decision == Decision.APPROVE and _more_needed(request):
                _prove_open(request)
            else:
                _close(locked, decision)
                kind, said = TOLD[decision]
                tell_of_request(kind, request, said, actor=user)
            told = {
                "digest": shown_digest,
                "policy_version": request.policy_version,
                **({"for": str(absent)} if absent else {}),
            }
            record(DECIDED[decision], user, request, after=told, reason=comment)
    except IntegrityError as error:
        raise ConflictError(_("You have already decided on this request.")) from error
    request.refresh_from_db()
    return request


def _absent(user: User, request: ApprovalRequest) -> User | None:
    """For whom the person decides, asked again under the lock: two may want the same place."""
    absent = decides_for(user, request)
    if absent is None and obstacle(user, request) is not None:
        raise ConflictError(_("Somebody else has decided in this place just now."))
    return absent


def _say_for_whom(vote: Approval, absent: User | None) -> None:
    if absent is not None:
        DelegatedVote.objects.create(
            request=vote.request,
            vote=vote,
            approver=absent,
            approver_name=str(absent)[:160],
        )


def withdraw(user: User, request: ApprovalRequest) -> None:
    """Take back a request that nobody needs to decide any more.

    Raises:
        NotAllowedError: the person is no operator of the team.
        ConflictError: the request is neither open nor approved.
    """
    require_role(user, team_of(request), TeamRole.OPERATOR)
    with transaction.atomic():
        changed = _live(request).update(
            state=RequestState.WITHDRAWN, decided_at=timezone.now()
        )
        if changed != 1:
            raise ConflictError(_("This request has already ended."))
        record(AuditAction.REQUEST_WITHDRAWN, user, request)


def expire_requests() -> int:
    """End open and approved requests whose time has run out; returns how many."""
    now = timezone.now()
    over = ApprovalRequest.objects.filter(
        state__in=[RequestState.OPEN, RequestState.APPROVED], expires_at__lte=now
    ).select_related(
        "plan__revision__deployment__cluster", "plan__revision__deployment__team"
    )
    return sum(_expire(request) for request in over.defer("plan__document"))


def _expire(request: ApprovalRequest) -> int:
    now = timezone.now()
    with transaction.atomic():
        ended = (
            _live(request)
            .filter(state=request.state, expires_at__lte=now)
            .update(state=RequestState.EXPIRED, decided_at=now)
        )
        if ended:
            tell_of_request(NoticeKind.EXPIRED, request, RAN_OUT)
            before = {"state": request.state}
            record(AuditAction.REQUEST_EXPIRED, None, request, before=before)
    return ended


def check_approval(request: ApprovalRequest) -> None:
    """Prove that exactly this plan may run now; the executor asks before it acts.

    Raises:
        NotApprovedError: the state, the digest, the votes or the voters do not cover it any more.
        PlanningError: the stored plan does not match its digest.
    """
    if request.state not in {RequestState.APPROVED, RequestState.RELEASED}:
        raise NotApprovedError(
            text(
                "The request is “{state}”, so nothing may run.",
                state=Text(request.get_state_display()),
            )
        )
    unused = request.state == RequestState.APPROVED
    if unused and request.expires_at <= timezone.now():
        raise NotApprovedError(
            text("The approval ran out before anything started: ask for a new one.")
        )
    if stored_plan(request.plan).digest != request.digest:
        raise NotApprovedError(text("The plan is not the one that was approved."))
    votes = list(request.approvals.select_related("user", "delegated__approver"))
    if any(vote.decision == Decision.REJECT for vote in votes):
        raise NotApprovedError(text("Somebody rejected this plan."))
    counted = [vote for vote in votes if vote_counts(vote, request)]
    given = len(counted)
    if not given:
        raise NotApprovedError(
            text("No approval of this plan holds any more: ask for a new one.")
        )
    needed = approvals_needed(request)
    if given < needed:
        raise NotApprovedError(
            text(
                "Of the {needed} approvals that this plan needs, {given} hold: ask for a new one.",
                needed=needed,
                given=given,
            )
        )
    if lacks := lacking(request, counted):
        raise NotApprovedError(
            text(
                "Somebody who must approve this plan has not: {who}.",
                who=listed(who_text(lack.rule) for lack in lacks),
            )
        )


def mark_expired(request_id: uuid.UUID) -> None:
    """End a released request whose release waited until the approval ran out."""
    ApprovalRequest.objects.filter(pk=request_id, state=RequestState.RELEASED).update(
        state=RequestState.EXPIRED, decided_at=timezone.now()
    )


def mark_stale(request_id: uuid.UUID) -> None:
    """End a released or approved request whose hosts changed before anything ran."""
    ApprovalRequest.objects.filter(
        pk=request_id,
        state__in=[RequestState.APPROVED, RequestState.RELEASED],
    ).update(state=RequestState.STALE, decided_at=timezone.now())


def _live(request: ApprovalRequest) -> QuerySet[ApprovalRequest]:
    return ApprovalRequest.objects.filter(
        pk=request.pk, state__in=[RequestState.OPEN, RequestState.APPROVED]
    )


def _prove_shown(request: ApprovalRequest, shown_start: str) -> None:
    if start_word(request) != shown_start:
        raise ConflictError(
            _("When it would start changed since you opened this page. Look again.")
        )


def _prove_read(user: User, request: ApprovalRequest, decision: Decision) -> None:
    if decision == Decision.APPROVE and changes_unread(user, request):
        raise ConflictError(
            _("This plan is of high risk: look at what it changes, then approve it.")
        )


def _prove_person(request: ApprovalRequest, proved_at: datetime | None) -> None:
    """Ask the rules of this moment, under the lock: they may have become stricter just now."""
    now = timezone.now()
    fresh = proved_at is not None and now - PROOF_HOLDS < proved_at <= now
    if not fresh and asks_proof(request):
        raise ProofNeededError(
            _(
                "This cluster asks who decides to prove who they are at most five minutes before. "
                "Set up a second factor in Settings, or log out and in again."
            )
        )


def _more_needed(request: ApprovalRequest) -> bool:
    return not is_enough(request)


def _prove_open(request: ApprovalRequest) -> None:
    if not _open(request).exists():
        raise _ended()


def _close(request: ApprovalRequest, decision: Decision) -> None:
    now = timezone.now()
    state = {
        Decision.APPROVE: RequestState.APPROVED,
        Decision.REJECT: RequestState.REJECTED,
    }[decision]
    ends = now + timedelta(hours=request.approved_hours)
    if request.start_until is not None:
        ends = min(ends, request.start_until)
    changes = {"expires_at": ends} if decision == Decision.APPROVE else {}
    changed = _open(request).update(state=state, decided_at=now, **changes)
    if changed != 1:
        raise _ended()


def _open(request: ApprovalRequest) -> QuerySet[ApprovalRequest]:
    return ApprovalRequest.objects.filter(
        pk=request.pk, state=RequestState.OPEN, expires_at__gt=timezone.now()
    )


def _ended() -> ConflictError:
    return ConflictError(
        _("This request is no longer open: somebody decided, or its time ran out.")
    )
