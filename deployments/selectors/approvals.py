"""What the pages of approval requests show, read from the stored plan and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from deployments.models import (
    Approval,
    ApprovalRequest,
    BreakGlass,
    Decision,
    Release,
    ReleaseState,
    RequestComment,
    RequestState,
    TeamRole,
    User,
)
from deployments.models.scope import ScopedQuerySet
from deployments.planning.errors import PlanningError
from deployments.planning.freezing import Freeze
from deployments.planning.launch.files import launch_files
from deployments.planning.plan import Plan
from deployments.selectors.break_glass import MAY_REVIEW
from deployments.selectors.changes import (
    Setting,
    TextChange,
    command_changes,
    file_changes,
    setting_changes,
)
from deployments.selectors.changes_read import changes_unread, was_shown
from deployments.selectors.deciders import Lack, lacking
from deployments.selectors.freezes import freeze_of, goes_back
from deployments.selectors.intents import STATE_SENTENCES, intent, replacement
from deployments.selectors.plans import stored_plan
from deployments.selectors.policies import rules_for
from deployments.selectors.preflight import MAY_ASK
from deployments.selectors.start_times import StartTimes, start_times, start_word
from deployments.selectors.texts import say_error
from deployments.selectors.votes import (
    OBSTACLE_SENTENCES,
    approvals_needed,
    asks_proof,
    needs_other_person,
    obstacle,
    possible_approvers,
    roles_on,
    vote_counts,
)

LIVE_STATES = (RequestState.OPEN, RequestState.APPROVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestActions:
    """What this person may do with the request now."""

    decide: bool
    deploy: bool
    withdraw: bool
    plan: bool
    check: bool
    break_glass: bool
    comment: bool


@dataclass(frozen=True, kw_only=True)
class RequestPage:
    """One request with everything that an approver weighs.

    ``plan`` is ``None`` when the stored plan cannot be trusted; ``broken`` then says why.
    ``against`` is the release that the plan is compared with: the live one, or the one that it
    replaced. ``freeze`` is what forbids to start it now, ``early`` the moment
    that has to come first, ``glass`` that it was started without approval. ``unread`` holds approval
    back until the person opened what changes.
    """

    row: ApprovalRequest
    state: str
    plan: Plan | None
    broken: str
    against: Release | None
    before: Plan | None
    votes: tuple[Approval, ...]
    needed: int
    given: int
    release: Release | None
    newer: ApprovalRequest | None
    actions: RequestActions
    why_not: str
    approvers: tuple[User, ...]
    freeze: Freeze | None
    times: StartTimes
    early: datetime | None
    may_plan_start: bool
    glass: BreakGlass | None
    may_review: bool
    asks_proof: bool
    comments: tuple[RequestComment, ...]
    lacks: tuple[Lack, ...]
    unread: bool

    @property
    def sentence(self) -> str:
        """What the state of the request means."""
        if self.state == RequestState.OPEN and self.lacks:
            return " ".join(lack.sentence for lack in self.lacks)
        if self.state == RequestState.OPEN and self.needed > 1:
            return ngettext(
                "%(missing)s more approval lets this plan run.",
                "%(missing)s more approvals let this plan run.",
                self.missing,
            ) % {"missing": self.missing}
        if self.freeze and self.state == RequestState.APPROVED:
            return _("Exactly this plan may run, but not while the freeze holds.")
        return str(STATE_SENTENCES[self.state])

    @property
    def missing(self) -> int:
        """How many approvals are still needed."""
        return max(0, self.needed - self.given)

    @property
    def moved(self) -> bool:
        """Whether the deployment has another environment now than the request was made in."""
        return self.row.plan.revision.deployment.environment not in {
            "",
            self.row.environment,
        }

    @property
    def strict(self) -> bool:
        """Whether the policy asks for a person who did not write the plan."""
        return needs_other_person(self.row)

    @property
    def start_word(self) -> str:
        """What the page says of the start, for the vote to carry."""
        return start_word(self.row)

    @property
    def intent(self) -> str:
        """What would happen, in one sentence."""
        return intent(self.before, self.plan) if self.plan else str(self.row.plan)

    @property
    def replacement(self) -> str:
        """What clients would notice."""
        return replacement(self.before, self.plan) if self.plan else ""

    @cached_property
    def all_settings(self) -> tuple[Setting, ...]:
        """Settings that differ from what runs; all of them when nothing runs."""
        return setting_changes(self.before, self.plan) if self.plan else ()

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Those that are read first: every change, or a first plan without its details."""
        shown = self.all_settings
        return shown if self.before else tuple(one for one in shown if not one.detail)

    @property
    def details(self) -> tuple[Setting, ...]:
        """The settings of a first plan that are the same in nearly every plan."""
        hidden = () if self.before else self.all_settings
        return tuple(one for one in hidden if one.detail)

    @cached_property
    def commands(self) -> tuple[TextChange, ...]:
        """Commands that differ from what runs; all of them when nothing runs."""
        return command_changes(self.before, self.plan) if self.plan else ()

    @cached_property
    def files(self) -> tuple[TextChange, ...]:
        """The launch files against those of what runs."""
        if self.plan is None:
            return ()
        before = _host_files(self.before) if self.before else None
        return file_changes(before, _host_files(self.plan))

    @cached_property
    def document(self) -> str:
        """The whole plan as its digest covers it."""
        return dict(launch_files(self.plan))["plan.json"] if self.plan else ""


def requests_for(user: User) -> ScopedQuerySet[ApprovalRequest]:
    """Requests of the person's teams with what their pages read."""
    return ApprovalRequest.objects.for_user(user).select_related(
        "plan__revision__deployment__cluster",
        "plan__revision__deployment__team",
        "plan__revision__created_by",
        "submitted_by",
        "preflight",
    )


def with_void_vote(user: User, rows: QuerySet[ApprovalRequest]) -> QuerySet[Any]:
    """The same rows with ``voted_on``: the revision on which the person voted before its request was superseded.

    ``None`` where there is no such vote, so nothing has to be told. ``changes_shown`` says whether
    they were shown what this plan changes.
    """
    earlier = Approval.objects.filter(
        user=user,
        request__state=RequestState.SUPERSEDED,
        request__created_at__lt=OuterRef("created_at"),
        request__plan__revision__deployment=OuterRef("plan__revision__deployment"),
    ).order_by("-created_at")
    number = earlier.values("request__plan__revision__number")[:1]
    return rows.annotate(voted_on=Subquery(number), changes_shown=was_shown(user))


def effective_state(row: ApprovalRequest) -> str:
    """The state, where a request whose time ran out is expired before the sweeper came."""
    ran_out = row.state in LIVE_STATES and row.expires_at <= timezone.now()
    return RequestState.EXPIRED if ran_out else row.state


def request_page(user: User, row: ApprovalRequest) -> RequestPage:
    """Read the page of one request."""
    plan, broken = _read(row)
    release = row.releases.select_related("replaces__plan__revision").first()
    against = release.replaces if release else _live_release(row)
    state = effective_state(row)
    is_open = state == RequestState.OPEN
    roles = roles_on(user, row)
    operates = TeamRole.OPERATOR in roles
    superseded = state == RequestState.SUPERSEDED
    freeze = _freeze(row) if state in LIVE_STATES else None
    glass = _glass(row) if state not in LIVE_STATES else None
    rules = rules_for(row.plan.revision.deployment)
    times = start_times(row, rules.wait_minutes)
    early = times.early(timezone.now()) if state in LIVE_STATES else None
    votes = tuple(row.approvals.select_related("user", "delegated__approver"))
    approvers = tuple(possible_approvers(row)) if is_open else None
    may = approvers is None or user in approvers
    why_not = None if may else obstacle(user, row)
    if is_open and why_not is None and any(one.user_id == user.pk for one in votes):
        said = _("You have voted; others have to approve as well.")
    else:
        said = str(OBSTACLE_SENTENCES[why_not]) if why_not else ""
    counted = [vote for vote in votes if _counts(vote, row, approvers)]
    return RequestPage(
        row=row,
        state=state,
        plan=plan,
        broken=broken,
        against=against,
        before=_read_release(against),
        votes=votes,
        needed=approvals_needed(row, rules),
        given=len(counted),
        lacks=lacking(row, counted, rules) if is_open else (),
        release=release,
        newer=_newer_requests(row).first() if superseded else None,
        actions=RequestActions(
            decide=is_open and not said and plan is not None,
            deploy=operates
            and state == RequestState.APPROVED
            and plan is not None
            and freeze is None
            and early is None,
            withdraw=operates and state in LIVE_STATES,
            plan=operates,
            check=bool(MAY_ASK & roles),
            break_glass=TeamRole.BREAK_GLASS in roles
            and state in LIVE_STATES
            and plan is not None,
            comment=bool(roles),
        ),
        comments=tuple(row.comments.all()),
        why_not=said,
        approvers=_yet_to_vote(approvers, votes),
        freeze=freeze,
        times=times,
        glass=glass,
        may_review=glass is not None
        and glass.used_by_id != user.pk
        and bool(MAY_REVIEW & roles),
        early=early,
        unread=is_open and not said and changes_unread(user, row),
        asks_proof=is_open and not said and asks_proof(row, rules),
        may_plan_start=is_open
        and operates
        and not votes
        and user.pk == row.submitted_by_id,
    )


def _glass(row: ApprovalRequest) -> BreakGlass | None:
    uses = BreakGlass.objects.filter(request=row)
    return uses.select_related("used_by", "reviewed_by").first()


def _freeze(row: ApprovalRequest) -> Freeze | None:
    now = timezone.now()
    found = freeze_of(row, now)
    return None if found and goes_back(row, now, None) else found


def _yet_to_vote(
    approvers: tuple[User, ...] | None, votes: tuple[Approval, ...]
) -> tuple[User, ...]:
    voted = {vote.user_id for vote in votes}
    return tuple(one for one in approvers or () if one.pk not in voted)


def _counts(
    vote: Approval, row: ApprovalRequest, approvers: tuple[User, ...] | None
) -> bool:
    """Whether a vote approves this digest; while the request is open, by somebody who still may."""
    if approvers is not None and getattr(vote, "delegated", None) is not None:
        return vote.decision == Decision.APPROVE and vote_counts(vote, row)
    may = approvers is None or any(one.pk == vote.user_id for one in approvers)
    return may and vote.decision == Decision.APPROVE and vote.digest == row.digest


def _newer_requests(row: ApprovalRequest) -> QuerySet[ApprovalRequest]:
    return ApprovalRequest.objects.filter(
        plan__revision__deployment=row.plan.revision.deployment,
        created_at__gt=row.created_at,
    ).order_by("-created_at")


def _read(row: ApprovalRequest) -> tuple[Plan | None, str]:
    try:
        return stored_plan(row.plan), ""
    except PlanningError as error:
        return None, say_error(error)


def _live_release(row: ApprovalRequest) -> Release | None:
    return (
        row.plan.revision.deployment.releases.filter(state=ReleaseState.LIVE)
        .select_related("plan__revision__deployment")
        .first()
    )


def _read_release(release: Release | None) -> Plan | None:
    if release is None:
        return None
    try:
        return stored_plan(release.plan)
    except PlanningError:
        return None


def _host_files(plan: Plan) -> Mapping[str, str]:
    return {path: text for path, text in launch_files(plan) if path != "plan.json"}
