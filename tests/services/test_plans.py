"""Putting a plan to the vote: exactly what was shown, once, by an operator."""

from dataclasses import dataclass, replace

import pytest

from deployments.models import (
    ApprovalRequest,
    Booking,
    Decision,
    Deployment,
    Host,
    Plan,
    RequestState,
    Revision,
)
from deployments.planning.plan import Role
from deployments.planning.revision import RevisionSpec, RoleSpec, SpeculationChoice
from deployments.selectors.plans import stored_plan
from deployments.services.approvals import decide
from deployments.services.errors import (
    ConflictError,
    NotAllowedError,
    PlanNotSubmittableError,
    PlanStaleError,
)
from deployments.services.plans import PlanInputs, plan_on_cluster, submit_plan
from tests.factories import (
    BookingFactory,
    DeviceFactory,
    TargetModelFactory,
    model_document,
)
from tests.services.conftest import Team1
from tests.services.connections import at_once
from tests.team_rows import shown_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What alice wants to serve, and the rows behind it."""

    inputs: PlanInputs
    spec: RevisionSpec

    def digest(self) -> str:
        """The digest that the wizard shows now."""
        return plan_on_cluster(self.inputs, self.spec).digest


def make_wish(team1: Team1) -> Wish:
    """A small model on one device of the host."""
    for number in range(2):
        DeviceFactory.create(host=team1.host, number=number)
    Host.objects.filter(pk=team1.host.pk).update(
        address="10.0.0.1", model_root="/data/models"
    )
    team1.host.refresh_from_db()
    model = TargetModelFactory.create(
        key="example/small", document=model_document("example/small")
    )
    return Wish(
        inputs=PlanInputs(
            cluster=team1.cluster,
            hosts=(team1.host,),
            model=model,
            team=team1.team,
        ),
        spec=RevisionSpec(
            name="chat",
            model="example/small",
            roles=(RoleSpec(role=Role.COMBINED, hosts=("gpu-1",), devices_per_host=1),),
            speculation=SpeculationChoice(method="ngram", num_speculative_tokens=3),
        ),
    )


@pytest.fixture
def wish(team1: Team1) -> Wish:
    """The wish in an ordinary test."""
    return make_wish(team1)


@pytest.fixture
def committed_wish(committed_team1: Team1) -> Wish:
    """The wish in a test with several connections."""
    return make_wish(committed_team1)


def test_submitting_stores_what_was_shown(team1: Team1, wish: Wish) -> None:
    shown = wish.digest()
    request = submit_plan(
        team1.alice, wish.inputs, wish.spec, shown_digest=shown, comment="faster"
    )
    assert (request.state, request.digest, request.comment) == (
        RequestState.OPEN,
        shown,
        "faster",
    )
    assert request.requires_other_approver
    plan = stored_plan(request.plan)
    assert plan.digest == shown
    assert request.plan.method == plan.decision.method == "ngram"
    revision = request.plan.revision
    assert (revision.number, revision.created_by) == (1, team1.alice)
    assert revision.document == plan.revision
    assert revision.deployment.cluster == team1.cluster


def test_second_click_finds_the_first_request(team1: Team1, wish: Wish) -> None:
    shown = wish.digest()
    first = submit_plan(team1.alice, wish.inputs, wish.spec, shown_digest=shown)
    assert submit_plan(team1.alice, wish.inputs, wish.spec, shown_digest=shown) == first
    assert Revision.objects.count() == Plan.objects.count() == 1


def test_other_digest_than_the_shown_one_is_stale(team1: Team1, wish: Wish) -> None:
    with pytest.raises(PlanStaleError, match="changed since this plan was shown"):
        submit_plan(
            team1.alice, wish.inputs, wish.spec, shown_digest="sha256:" + "0" * 64
        )
    assert not Deployment.objects.exists()


def test_host_that_changed_since_makes_the_plan_stale(team1: Team1, wish: Wish) -> None:
    shown = wish.digest()
    Host.objects.update(address="10.0.0.99")
    with pytest.raises(PlanStaleError):
        submit_plan(team1.alice, wish.inputs, wish.spec, shown_digest=shown)
    assert not ApprovalRequest.objects.exists()


def test_plan_with_errors_is_not_put_to_the_vote(team1: Team1, wish: Wish) -> None:
    flags = (("--no-such-flag-at-all", "1"),)
    broken = replace(wish, spec=replace(wish.spec, extra_flags=flags))
    assert not plan_on_cluster(broken.inputs, broken.spec).can_submit
    with pytest.raises(PlanNotSubmittableError, match="errors"):
        submit_plan(
            team1.alice, broken.inputs, broken.spec, shown_digest=broken.digest()
        )
    assert not Deployment.objects.exists()


def test_only_operators_of_the_clusters_team_submit(team1: Team1, wish: Wish) -> None:
    for person in (team1.bob, team1.charlie):
        with pytest.raises(NotAllowedError):
            submit_plan(person, wish.inputs, wish.spec, shown_digest=wish.digest())


def test_newer_revision_replaces_open_and_approved_requests(
    team1: Team1, wish: Wish
) -> None:
    first = submit_plan(team1.alice, wish.inputs, wish.spec, shown_digest=wish.digest())
    shown_changes(team1.bob, first)
    decide(team1.bob, first, Decision.APPROVE, shown_digest=first.digest)
    second = submit_plan(
        team1.alice, wish.inputs, wish.spec, shown_digest=wish.digest()
    )
    first.refresh_from_db()
    assert (first.state, second.state) == (RequestState.SUPERSEDED, RequestState.OPEN)
    assert second.plan.revision.number == 2
    with pytest.raises(ConflictError):
        decide(team1.bob, first, Decision.REJECT, shown_digest=first.digest)


def test_devices_held_by_others_change_the_plan_and_own_ones_do_not(
    team1: Team1, wish: Wish
) -> None:
    shown = wish.digest()
    other = BookingFactory.create(host=team1.host, device=0)
    assert wish.digest() != shown
    Booking.objects.filter(pk=other.pk).update(released_at=other.created_at)
    assert wish.digest() == shown


@pytest.mark.parametrize("attempt", range(3))
def test_double_click_at_once_is_one_request(
    committed_team1: Team1, committed_wish: Wish, attempt: int
) -> None:
    wish = committed_wish
    shown = wish.digest()

    def click() -> ApprovalRequest:
        return submit_plan(
            committed_team1.alice, wish.inputs, wish.spec, shown_digest=shown
        )

    request, again = at_once(click, click)
    assert isinstance(request, ApprovalRequest), request
    assert request == again
    assert Revision.objects.count() == ApprovalRequest.objects.count() == 1


def test_two_authors_at_once_get_one_revision_each_or_an_answer(
    committed_team1: Team1, committed_wish: Wish
) -> None:
    wish = committed_wish
    deep = replace(
        wish,
        spec=replace(
            wish.spec,
            speculation=SpeculationChoice(method="ngram", num_speculative_tokens=5),
        ),
    )
    digests = (wish.digest(), deep.digest())
    outcomes = at_once(
        lambda: submit_plan(
            committed_team1.alice, wish.inputs, wish.spec, shown_digest=digests[0]
        ),
        lambda: submit_plan(
            committed_team1.alice, deep.inputs, deep.spec, shown_digest=digests[1]
        ),
    )
    refused = [one for one in outcomes if isinstance(one, Exception)]
    assert [type(one) for one in refused] == [PlanStaleError]
    assert Revision.objects.count() == 1
