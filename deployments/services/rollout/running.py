"""Run acts in order: intent, act, outcome; wait, try again, or say that it failed."""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile

from deployments.docker_api.errors import (
    DockerApiError,
    NotTriedError,
    PullCancelledError,
)
from deployments.models import EventKind, ReleaseState
from deployments.planning.text import NOTHING, text
from deployments.services.emergency_stop import order_of, said_of
from deployments.services.fault_points import fault_point
from deployments.services.rollout.acts import (
    POINT_OF_NO_RETURN,
    STATE_OF_STEP,
    time_limit,
)
from deployments.services.rollout.failures import docker_failure, trying_again
from deployments.services.rollout.journal import Act
from deployments.services.rollout.outcomes import Done, StepFailedError, Wait
from deployments.services.rollout.rollout import Rollout

SLICE_S = 15.0
TRIES = 5
TURN_S = 2.0
"""Until a release asks again for a place at a host that fails; that is none of its tries."""

Perform = Callable[[Rollout, Act], Done | Wait]
Together = Callable[[Rollout, Sequence[Act]], None]
GiveUp = Callable[[Rollout, Act, StepFailedError], Done]


@dataclass(frozen=True, slots=True)
class Failed:
    """The act that failed for good, and why."""

    act: Act
    error: StepFailedError


@dataclass(frozen=True, slots=True)
class HandedBack:
    """Another slice continues."""


def run_acts(
    rollout: Rollout,
    acts: Iterable[Act],
    perform: Perform,
    *,
    give_up: GiveUp | None = None,
    together: Together | None = None,
) -> Failed | HandedBack | None:
    """Run what is not done yet; ``None`` when all is done.

    ``give_up`` turns a failure into an outcome, for acts that must not stop the rest. With
    ``together`` a person may cancel between two acts, and what goes plainly of the acts of one step
    that come next is done at once before each is looked at by itself.

    Raises:
        LeaseLostError: another worker owns the command.
    """
    ends_at = time.monotonic() + SLICE_S
    done_here = False
    acts = list(acts)
    for number, act in enumerate(acts):
        if rollout.journal.is_done(act):
            continue
        if done_here and time.monotonic() > ends_at:
            rollout.claim.hand_back()
            return HandedBack()
        try:
            outcome = _next(rollout, acts[number:], perform, together)
        except StepFailedError as error:
            if give_up is None:
                return Failed(act, error)
            outcome = give_up(rollout, act, error)
        if isinstance(outcome, Wait):
            rollout.claim.hand_back(outcome.seconds)
            return HandedBack()
        if outcome is not None:
            _record(rollout, act, outcome)
        done_here = True
    return None


def _next(
    rollout: Rollout, acts: Sequence[Act], perform: Perform, together: Together | None
) -> Done | Wait | None:
    """Do the first of these acts, perhaps with those after it; ``None`` where it is written down."""
    if together is not None:
        _refuse_cancelled(rollout, acts[0])
        _ahead(rollout, together, acts)
        if rollout.journal.is_done(acts[0]):
            return None
    return _attempt(rollout, acts[0], perform)


def _ahead(rollout: Rollout, together: Together, acts: Sequence[Act]) -> None:
    """Let the acts of the next step be done together; a host that fails is met by its own act."""
    same = list(takewhile(lambda act: act.step == acts[0].step, acts))
    if len(same) > 1:
        with suppress(DockerApiError):
            together(rollout, [act for act in same if not rollout.journal.is_done(act)])


def _attempt(rollout: Rollout, act: Act, perform: Perform) -> Done | Wait:
    """Intent first, then the act; a passing failure is waited out within a budget."""
    with rollout.claim.fenced():
        rollout.journal.intend(act, NOTHING)
        state = STATE_OF_STEP.get(act.step)
        if state is not None:
            rollout.enter(state, time_limit(rollout, state))
    fault_point(f"before:{act.step}")
    try:
        outcome = perform(rollout, act)
    except PullCancelledError as error:
        raise cancelled(rollout) from error
    except NotTriedError:
        return Wait(TURN_S)
    except DockerApiError as error:
        return _try_again(rollout, act, error)
    fault_point(f"after:{act.step}")
    return outcome


def _record(rollout: Rollout, act: Act, outcome: Done) -> None:
    with rollout.claim.fenced():
        rollout.journal.write(act, EventKind.DONE, outcome.message, outcome.detail)
    fault_point(f"done:{act.step}")


def _try_again(rollout: Rollout, act: Act, error: DockerApiError) -> Wait:
    tries = rollout.journal.tries(act) + 1
    if not error.retryable or tries >= TRIES:
        raise docker_failure(error) from error
    delay_s = float(2 ** (tries - 1))
    with rollout.claim.fenced():
        rollout.journal.write(
            act,
            EventKind.NOTE,
            trying_again(error, delay_s, number=tries, tries=TRIES),
            {"retry": tries, "code": error.code},
        )
    return Wait(delay_s * random.uniform(1.0, 1.25))  # noqa: S311 - jitter, no secret


def _refuse_cancelled(rollout: Rollout, act: Act) -> None:
    if act.step not in POINT_OF_NO_RETURN and rollout.claim.cancel_requested():
        raise cancelled(rollout)


def cancelled(rollout: Rollout) -> StepFailedError:
    """A person asked to stop between two steps, or stopped the whole deployment."""
    order = order_of(rollout.release)
    return StepFailedError(
        "cancelled",
        said_of(order) if order else text("a person cancelled the release"),
        text("Release the plan again when you want it."),
        final=ReleaseState.CANCELLED,
    )
