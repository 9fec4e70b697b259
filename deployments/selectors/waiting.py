"""What waits for one person: the requests that they may decide."""

from django.db.models import (
    Exists,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce, Lower, Now

from deployments.models import (
    Approval,
    ApprovalRequest,
    DelegatedVote,
    Delegation,
    Membership,
    RequestState,
    RoleGrant,
    TeamRole,
    User,
)
from deployments.models.scope import ScopedQuerySet
from deployments.selectors.ready_rows import asked_by, ready_rows
from deployments.selectors.votes import earlier_revisions, invited_by_any

TEAM = "plan__revision__deployment__team"
OWNER = "plan__revision__deployment__cluster__team"


def decidable_requests(user: User) -> ScopedQuerySet[ApprovalRequest]:
    """Open requests on which this person's vote would count now (``selectors.votes`` says the same of one)."""
    return ApprovalRequest.objects.for_user(user).filter(decidable_by(user))


def decidable_by(user: User) -> Q:
    """The same as a condition on requests that the person sees."""
    return _decidable_by(user, user)


def teams_with_waiting(user: User) -> list[tuple[str, int]]:
    """The names of the person's teams, each with how many requests need their vote; one query."""
    key = ("teams with waiting", asked_by(user))
    return [
        (name, waiting)
        for name, waiting in ready_rows(key, lambda: _TEAMS.filter(user=user))
    ]


def _decidable_by(person: User | OuterRef, inside: User | OuterRef) -> Q:
    """The rule; ``inside`` is the same person as a subquery of it names them.

    Where the policy asks for another person, at submission or since, those that the person wrote or
    whose writer they are close to, and those older than the person's right to approve, are left out;
    so are those with their vote.
    """
    grants = RoleGrant.objects.filter(
        Q(membership__team=OuterRef(TEAM)) | Q(membership__team=OuterRef(OWNER)),
        role=TeamRole.APPROVER,
        membership__user=inside,
    )
    older_grants = grants.filter(created_at__lte=OuterRef("created_at"))
    lenient = Q(
        requires_other_approver=False,
        plan__revision__deployment__cluster__requires_other_approver=False,
    )
    voted = Approval.objects.filter(request=OuterRef("pk"), user=inside)
    voted_for = DelegatedVote.objects.filter(request=OuterRef("pk"), approver=inside)
    authored = Q(submitted_by=person) | Q(plan__revision__created_by=person)
    kin = User.objects.alias(address=Lower("email")).filter(
        invited_by_any("exact", OuterRef("submitted_by"))
        | invited_by_any("exact", OuterRef("plan__revision__created_by"))
        | Q(address=Lower(OuterRef("submitted_by__email")), email__gt="")
        | Q(address=Lower(OuterRef("plan__revision__created_by__email")), email__gt=""),
        pk=inside.pk if isinstance(inside, User) else inside,
    )
    edited = earlier_revisions().filter(
        deployment=OuterRef("plan__revision__deployment"),
        number__lt=OuterRef("plan__revision__number"),
        created_by=inside,
    )
    other = ~authored & ~Exists(edited) & ~Exists(kin)
    absent, strangers = _absent(inside)
    return Q(~Exists(voted), state=RequestState.OPEN, expires_at__gt=Now()) & (
        (Exists(grants) & ~Exists(voted_for) & lenient)
        | (other & Exists(older_grants) & ~Exists(voted_for))
        | (lenient & ~Exists(grants) & Exists(absent))
        | (other & ~Exists(older_grants) & Exists(strangers))
    )


def _absent(
    delegate: User | OuterRef,
) -> tuple[QuerySet[Delegation], QuerySet[Delegation]]:
    """Absences in which the person decides on the request: of any approver, and of who is no kin of it."""
    grants = RoleGrant.objects.filter(
        role=TeamRole.APPROVER,
        membership__user=OuterRef("approver"),
        membership__team=OuterRef("team"),
    )
    voted = Approval.objects.filter(
        request=OuterRef(OuterRef("pk")), user=OuterRef("approver")
    )
    voted_for = DelegatedVote.objects.filter(
        request=OuterRef(OuterRef("pk")), approver=OuterRef("approver")
    )
    absent = Delegation.objects.filter(
        ~Exists(voted),
        ~Exists(voted_for),
        Q(team=OuterRef(TEAM)) | Q(team=OuterRef(OWNER)),
        Exists(grants),
        delegate=delegate,
        delegate__memberships__team=F("team"),
        approver__is_active=True,
        ended_at=None,
        ends_at__gt=Now(),
    )
    edited = earlier_revisions().filter(
        deployment=OuterRef(OuterRef("plan__revision__deployment")),
        number__lt=OuterRef(OuterRef("plan__revision__number")),
        created_by=OuterRef("approver"),
    )
    older = grants.filter(created_at__lte=OuterRef(OuterRef("created_at")))
    close = Q()
    for author in ("submitted_by", "plan__revision__created_by"):
        close |= Q(approver=OuterRef(author))
        close |= invited_by_any("exact", OuterRef(author), of="approver__")
        theirs = Lower(OuterRef(f"{author}__email"))
        close |= Q(approver_address=theirs, approver__email__gt="")
    addressed = absent.alias(approver_address=Lower("approver__email"))
    return absent, addressed.filter(~close, ~Exists(edited), Exists(older))


_members = Membership.objects.filter(
    user=OuterRef(OuterRef("user")), team=OuterRef(TEAM)
)
"""Whoever is in the guest's team counts its requests there, and not once more where they would run."""
_counted = (
    ApprovalRequest.objects.filter(
        Q(**{TEAM: OuterRef("team")})
        | (Q(**{OWNER: OuterRef("team")}) & ~Exists(_members)),
        _decidable_by(OuterRef("user"), OuterRef(OuterRef("user"))),
    )
    .order_by()
    .annotate(count=Func("pk", function="COUNT", output_field=IntegerField()))
    .values("count")
)
_TEAMS = (
    Membership.objects.annotate(waiting=Coalesce(Subquery(_counted), 0))
    .order_by("team__name")
    .values_list("team__name", "waiting")
)
