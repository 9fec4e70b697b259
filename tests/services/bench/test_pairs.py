"""Pairs of benchmarks: asked for once, switched only after votes, and always switched back."""

import uuid
from dataclasses import dataclass

import pytest
from django.db.models.functions import Now

from deployments.models import (
    ApprovalRequest,
    BenchmarkJob,
    BenchmarkPair,
    BenchmarkState,
    Decision,
    Deployment,
    PairState,
    Release,
    ReleaseState,
    RequestState,
)
from deployments.planning.bench.course import Course
from deployments.planning.bench.datasets import Dataset
from deployments.selectors.plans import stored_plan
from deployments.services.approvals import decide, withdraw
from deployments.services.bench.pair_carrying import carry_pair_on, open_pairs
from deployments.services.bench.pairs import Wish, ask_for_pair, cancel_pair
from deployments.services.errors import ConflictError, NotAllowedError
from deployments.services.plans import submit_plan
from deployments.services.releases import start_release
from deployments.services.self_starts import start_due
from tests.benchmark_rows import BenchmarkResultFactory
from tests.services.conftest import Team1
from tests.services.test_freezes import closed
from tests.services.test_plans import make_wish
from tests.team_rows import shown_changes

pytestmark = pytest.mark.django_db
COURSE = Course(dataset=Dataset.CODE, levels=(1, 4), repeats=1)


@dataclass(slots=True, kw_only=True)
class Stage:
    """A live deployment that speculates; the executor's part is played by rows."""

    team1: Team1
    deployment: Deployment
    live: Release

    def ask(self, **wish: object) -> BenchmarkPair:
        usual: dict[str, object] = {"course": COURSE}
        return ask_for_pair(
            self.team1.alice,
            self.deployment,
            Wish(**{**usual, **wish}),  # type: ignore[arg-type]
            key=uuid.uuid4().hex,
        )

    def carried(self, pair: BenchmarkPair, times: int = 1) -> BenchmarkPair:
        for _ in range(times):
            carry_pair_on(pair.pk)
        return BenchmarkPair.objects.get(pk=pair.pk)

    def approve(self, pair: BenchmarkPair) -> None:
        assert pair.request is not None
        approve(self.team1, pair.request)

    def switched(self, release: Release | None) -> None:
        """What the executor does: the new one is live, the one before has stopped."""
        assert release is not None
        become_live(release)

    def measured(
        self, job: BenchmarkJob | None, state: BenchmarkState = BenchmarkState.DONE
    ) -> None:
        """What the carrier of benchmarks does at the end of one."""
        assert job is not None
        assert job.state == BenchmarkState.WAITING
        done = state == BenchmarkState.DONE
        result = BenchmarkResultFactory.create(team=self.team1.team) if done else None
        BenchmarkJob.objects.filter(pk=job.pk).update(
            state=state,
            result=result,
            cause="" if done else "It broke.",
            ended_at=Now(),
        )


def approve(team1: Team1, request: ApprovalRequest) -> None:
    """Bob says yes to what is shown now."""
    request.refresh_from_db()
    shown = "self//" if request.starts_itself else "person//"
    shown_changes(team1.bob, request)
    decide(
        team1.bob,
        request,
        Decision.APPROVE,
        shown_digest=request.digest,
        shown_start=shown,
    )


def become_live(release: Release) -> None:
    """The state that a good rollout ends in."""
    Release.objects.filter(
        deployment=release.deployment, state=ReleaseState.LIVE
    ).update(state=ReleaseState.STOPPED)
    Release.objects.filter(pk=release.pk).update(state=ReleaseState.LIVE, live_at=Now())


@pytest.fixture
def stage(team1: Team1) -> Stage:
    """A small model with n-gram drafting, live."""
    wish = make_wish(team1)
    request = submit_plan(
        team1.alice, wish.inputs, wish.spec, shown_digest=wish.digest()
    )
    approve(team1, request)
    release = start_release(team1.alice, request, "first")
    become_live(release)
    release.refresh_from_db()
    return Stage(team1=team1, deployment=release.deployment, live=release)


def test_a_pair_runs_on_off_on_and_leaves_what_was_there(stage: Stage) -> None:
    pair = stage.ask()
    assert pair.request is not None
    plan = stored_plan(pair.request.plan)
    assert (plan.decision.method, pair.request.starts_itself) == ("off", True)
    assert "comes back after it" in pair.request.comment
    assert stage.carried(pair, 2).state == PairState.APPROVAL
    stage.approve(pair)
    assert start_due() == 0

    pair = stage.carried(pair, 2)
    assert pair.state == PairState.FIRST
    assert not stage.deployment.releases.exclude(pk=stage.live.pk).exists()
    stage.measured(pair.first)
    pair = stage.carried(pair, 2)
    assert pair.state == PairState.SWITCHING_OFF
    stage.switched(pair.without_it)
    pair = stage.carried(pair, 2)
    assert pair.state == PairState.BASE
    stage.measured(pair.base)
    pair = stage.carried(pair, 2)
    assert pair.state == PairState.SWITCHING_BACK
    assert pair.restored is not None
    assert pair.restored.plan_id == stage.live.plan_id
    stage.switched(pair.restored)
    pair = stage.carried(pair, 2)
    assert pair.state == PairState.LAST
    stage.measured(pair.last)
    pair = stage.carried(pair, 2)
    assert (pair.state, str(pair.cause)) == (PairState.DONE, "")
    assert open_pairs() == []
    jobs = BenchmarkJob.objects.order_by("created_at")
    assert [one.course for one in jobs] == [pair.course] * 3
    assert [one.replica.release for one in jobs] == [
        stage.live,
        pair.without_it,
        pair.restored,
    ]


def until_off(stage: Stage) -> BenchmarkPair:
    """A pair whose devices serve without speculation and are being measured."""
    pair = stage.ask()
    stage.approve(pair)
    pair = stage.carried(pair)
    stage.measured(pair.first)
    pair = stage.carried(pair)
    stage.switched(pair.without_it)
    pair = stage.carried(pair)
    assert pair.state == PairState.BASE
    return pair


def test_a_failing_baseline_still_brings_speculation_back(stage: Stage) -> None:
    pair = until_off(stage)
    stage.measured(pair.base, BenchmarkState.FAILED)
    pair = stage.carried(pair)
    assert pair.state == PairState.SWITCHING_BACK
    stage.switched(pair.restored)
    pair = stage.carried(pair)
    assert (pair.state, str(pair.cause)) == (PairState.FAILED, "It broke.")
    assert pair.last is None


def test_cancelling_in_the_midst_brings_speculation_back(stage: Stage) -> None:
    pair = until_off(stage)
    cancel_pair(stage.team1.alice, pair)
    pair = stage.carried(pair)
    assert pair.base is not None
    assert pair.base.cancel_asked_at is not None
    stage.measured(pair.base, BenchmarkState.CANCELLED)
    pair = stage.carried(pair)
    assert pair.state == PairState.SWITCHING_BACK
    stage.switched(pair.restored)
    assert stage.carried(pair).state == PairState.CANCELLED


def test_cancelling_before_the_votes_withdraws_the_request(stage: Stage) -> None:
    pair = stage.ask()
    cancel_pair(stage.team1.alice, pair)
    pair = stage.carried(pair)
    assert pair.request is not None
    assert (pair.state, pair.request.state) == (
        PairState.CANCELLED,
        RequestState.WITHDRAWN,
    )
    with pytest.raises(ConflictError, match="has ended"):
        cancel_pair(stage.team1.alice, pair)


def test_a_request_that_is_not_approved_ends_the_pair(stage: Stage) -> None:
    pair = stage.ask()
    assert pair.request is not None
    withdraw(stage.team1.alice, pair.request)
    pair = stage.carried(pair)
    assert pair.state == PairState.FAILED
    assert "nothing was switched" in str(pair.cause)


def test_a_baseline_that_does_not_start_leaves_what_the_executor_put_back(
    stage: Stage,
) -> None:
    pair = stage.ask()
    stage.approve(pair)
    pair = stage.carried(pair)
    stage.measured(pair.first)
    pair = stage.carried(pair)
    assert pair.without_it is not None
    Release.objects.filter(pk=pair.without_it.pk).update(
        state=ReleaseState.FAILED, cause="The port is taken."
    )
    pair = stage.carried(pair)
    assert pair.state == PairState.FAILED
    assert "The port is taken." in str(pair.cause)
    assert pair.restored is None


def test_somebody_elses_release_ends_the_pair_and_stays(stage: Stage) -> None:
    pair = until_off(stage)
    become_live(stage.live)
    stage.measured(pair.base)
    pair = stage.carried(pair)
    assert (pair.state, pair.restored) == (PairState.FAILED, None)
    stage.live.refresh_from_db()
    assert stage.live.state == ReleaseState.LIVE


def test_a_freeze_holds_the_switch_and_says_until_when(stage: Stage) -> None:
    pair = stage.ask()
    stage.approve(pair)
    pair = stage.carried(pair)
    stage.measured(pair.first)
    closed(stage.team1)
    pair = stage.carried(pair)
    assert (pair.state, pair.without_it) == (PairState.FIRST, None)
    assert "Nothing new may start" in str(pair.hold)


def test_the_same_click_is_the_same_pair_and_a_second_one_waits(stage: Stage) -> None:
    wish = Wish(course=COURSE)
    first = ask_for_pair(stage.team1.alice, stage.deployment, wish, key="k")
    assert ask_for_pair(stage.team1.alice, stage.deployment, wish, key="k") == first
    with pytest.raises(ConflictError, match="waits for votes"):
        stage.ask()


def test_what_is_no_pair_is_refused_with_its_reason(stage: Stage) -> None:
    with pytest.raises(ConflictError, match="Random tokens"):
        stage.ask(course=Course(dataset=Dataset.RANDOM))
    with pytest.raises(NotAllowedError):
        ask_for_pair(
            stage.team1.charlie, stage.deployment, Wish(course=COURSE), key="c"
        )
    with pytest.raises(ConflictError, match="speculates too"):
        stage.ask(other=stage.deployment)
    pair = until_off(stage)
    assert pair.without_it is not None
    with pytest.raises(ConflictError, match="Speculation is off here"):
        stage.ask()
