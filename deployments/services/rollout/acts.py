"""Which acts a command consists of, in order, and the release state that each step shows."""

from collections.abc import Iterator
from datetime import timedelta

from deployments.models import ReleaseState
from deployments.planning.plan import Role
from deployments.services.emergency_stop import order_of
from deployments.services.rollout.journal import Act, Step
from deployments.services.rollout.rollout import Rollout

STATE_OF_STEP = {
    Step.VALIDATE: ReleaseState.PREFLIGHT,
    Step.BOOK: ReleaseState.PREFLIGHT,
    Step.PULL: ReleaseState.PULLING,
    Step.CHECK: ReleaseState.PULLING,
    Step.STOP_OLD: ReleaseState.CREATING,
    Step.CREATE: ReleaseState.CREATING,
    Step.START: ReleaseState.STARTING,
    Step.WAIT_READY: ReleaseState.STARTING,
    Step.SMOKE: ReleaseState.VERIFYING,
    Step.SWITCH: ReleaseState.VERIFYING,
    Step.REMOVE_OLD: ReleaseState.VERIFYING,
}
POINT_OF_NO_RETURN = frozenset({Step.SWITCH, Step.REMOVE_OLD})
PREFLIGHT_LIMIT = timedelta(minutes=2)
PULL_LIMIT = timedelta(minutes=70)
CREATE_LIMIT = timedelta(minutes=2)
START_LIMIT = timedelta(minutes=1)
VERIFY_LIMIT = timedelta(minutes=5)


def deploy_acts(rollout: Rollout) -> Iterator[Act]:
    """The acts of a deployment; routers start when everything behind them is ready."""
    rows = [member.row for member in rollout.members]
    if rollout.release.queued_at is not None:
        yield Act(Step.QUEUE)
    yield Act(Step.VALIDATE)
    yield Act(Step.BOOK)
    yield from (Act(Step.PULL, row) for row in rows)
    yield Act(Step.CHECK)
    if rollout.removes_first:
        for member in reversed(rollout.old_members):
            yield Act(Step.STOP_OLD, member.row)
    yield from (Act(Step.CREATE, row) for row in rows)
    for routers in (False, True):
        wave = [
            member.row
            for member in rollout.members
            if (member.planned.role is Role.ROUTER) is routers
        ]
        yield from (Act(Step.START, row) for row in wave)
        yield from (Act(Step.WAIT_READY, row) for row in wave)
    yield from (Act(Step.SMOKE, row) for row in rows)
    yield Act(Step.SWITCH)
    for member in reversed(rollout.old_members):
        yield Act(Step.REMOVE_OLD, member.row)


def undo_acts(rollout: Rollout) -> Iterator[Act]:
    """The acts after a failure: end what this release made, start what it had stopped.

    After an emergency stop nothing is started.
    """
    for member in reversed(rollout.members):
        yield Act(Step.UNDO, member.row)
    ended_by_itself = (
        rollout.old is not None and rollout.old.state == ReleaseState.FAILED
    )
    if (
        rollout.journal.begun(Step.STOP_OLD)
        and not ended_by_itself
        and order_of(rollout.release) is None
    ):
        for member in rollout.old_members:
            yield Act(Step.RESTORE_OLD, member.row)


def stop_acts(rollout: Rollout) -> Iterator[Act]:
    """The acts that stop a release, last started first."""
    for member in reversed(rollout.members):
        yield Act(Step.STOP, member.row)


def remove_acts(rollout: Rollout) -> Iterator[Act]:
    """The acts that remove the stopped containers of a release."""
    for member in reversed(rollout.members):
        yield Act(Step.REMOVE, member.row)


def time_limit(rollout: Rollout, state: ReleaseState) -> timedelta:
    """How long the release may stay in a state."""
    grace = sum(one.planned.container.stop_grace_s for one in rollout.old_members)
    ready = sum(
        max(
            (
                one.planned.ready_deadline_s
                for one in rollout.members
                if (one.planned.role is Role.ROUTER) is routers
            ),
            default=0,
        )
        for routers in (False, True)
    )
    limits = {
        ReleaseState.PREFLIGHT: PREFLIGHT_LIMIT,
        ReleaseState.PULLING: PULL_LIMIT,
        ReleaseState.CREATING: CREATE_LIMIT + timedelta(seconds=grace),
        ReleaseState.STARTING: START_LIMIT + timedelta(seconds=ready),
        ReleaseState.VERIFYING: VERIFY_LIMIT + timedelta(seconds=grace),
    }
    return limits.get(state, VERIFY_LIMIT)
