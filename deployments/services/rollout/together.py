"""The same step of many replicas at once: a bounded pool of calls per host, one client per thread.

Only what goes plainly is done here. Whatever is odd or fails is left to the act of its replica, which
looks before it does anything, says what is wrong, and tries again where that helps. Threads call the
engines and touch no row: intents are committed before the first call, outcomes while others go on,
and no call begins unless the lease was prolonged a moment ago.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue

from deployments.docker_api.client import Access, Engine, open_engine
from deployments.docker_api.containers import (
    ContainerFacts,
    create_container,
    inspect_container,
    start_container,
)
from deployments.docker_api.errors import DockerApiError
from deployments.docker_api.images import find_image
from deployments.models import EventKind, Host, Replica
from deployments.planning.container import ImageReference
from deployments.planning.text import NOTHING, Text, text
from deployments.services.fault_points import fault_point
from deployments.services.host_access import access_for, prove_same_engine
from deployments.services.host_probe import probe_is_running
from deployments.services.rollout.acts import STATE_OF_STEP, time_limit
from deployments.services.rollout.journal import Act, Outcome, Step
from deployments.services.rollout.keys import secrets_of
from deployments.services.rollout.permission import prove_approval
from deployments.services.rollout.pulling import is_there
from deployments.services.rollout.rollout import (
    Member,
    Rollout,
    labels_of,
    place,
    policy_of,
    save_created,
    save_observed,
)

CALLS_PER_HOST = 12
"""An engine makes most containers a second with 8 to 16 calls at once."""
LOOK_EVERY_S = 0.3
LEASE_IS_SURE_S = 5.0
CALL_TIMEOUT_S = 22
"""Of many at once each takes longer; both together are less than the lease."""

Answer = ContainerFacts | str
"""What a call leaves: the container as it is now, or the id of one that was just made."""
Call = Callable[[Engine, Member], Answer]


def do_together(rollout: Rollout, acts: Sequence[Act]) -> None:
    """Do what goes plainly of these acts of one step, and write it down; the rest is as it was.

    Raises:
        StepFailedError: the approval no longer holds, or a secret is not there.
        LeaseLostError: another worker owns the command.
        DockerApiError: an engine does not answer before anything was done.
    """
    members = _fresh(rollout, acts)
    if len(members) < 2:
        return
    step = acts[0].step
    if step is Step.PULL:
        _find_images(rollout, members)
        return
    prove_approval(rollout)
    if step is Step.CREATE:
        secrets = {
            one.row.pk: secrets_of(rollout, one.planned.container) for one in members
        }
        policies = {host.pk: policy_of(host) for host in rollout.hosts}

        def create(engine: Engine, member: Member) -> Answer:
            return create_container(
                engine,
                member.planned.container,
                image_id=member.row.image_id,
                labels=labels_of(member, rollout.plan.digest),
                policy=policies[member.host.pk],
                secrets=secrets[member.row.pk],
            )

        _run(rollout, step, members, create)
    elif step is Step.START:
        _run(rollout, step, members, _start)


def _fresh(rollout: Rollout, acts: Sequence[Act]) -> list[Member]:
    """Members that no attempt has touched yet and that need not wait for one another.

    The first replica of a role, which others may look for, and those without an API of their own,
    which do look for it, start one by one.
    """
    known = [
        rollout.member(act.replica)
        for act in acts
        if act.replica is not None and not rollout.journal.intended(act)
    ]
    if not acts or acts[0].step is not Step.START:
        return known
    begun = {
        one.planned.role
        for one in rollout.members
        if rollout.journal.is_done(Act(Step.START, one.row))
    }
    first = known[0].planned.role if known else None
    probed = {host for host in rollout.hosts if probe_is_running(host)}
    return [
        one
        for one in known
        if one.planned.role is first
        and one.planned.role in begun
        and one.planned.health_port is not None
        and not (one.planned.devices and one.host in probed)
    ]


def _start(engine: Engine, member: Member) -> Answer:
    start_container(engine, member.row.container_id)
    facts = inspect_container(engine, member.row.container_id)
    return facts or ""


def _find_images(rollout: Rollout, members: list[Member]) -> None:
    """Keep the ids of images that are there: one question for all replicas that run the same."""
    groups: dict[tuple[Host, ImageReference], list[Member]] = {}
    for member in members:
        groups.setdefault((member.host, member.planned.container.image), []).append(
            member
        )
    for (host, wanted), same in groups.items():
        with rollout.engine(host) as engine:
            found = find_image(
                engine, wanted.reference, digest=wanted.digest, image_id=wanted.image_id
            )
        if found is None:
            continue
        with rollout.claim.fenced():
            _intend(rollout, Step.PULL, same)
            Replica.objects.filter(pk__in=[one.row.pk for one in same]).update(
                image_id=found.image_id
            )
            for one in same:
                one.row.image_id = found.image_id
            detail = {"image_id": found.image_id}
            rollout.journal.write_all(
                EventKind.DONE,
                [
                    Outcome(Act(Step.PULL, one.row), is_there(one), detail)
                    for one in same
                ],
            )


def _run(rollout: Rollout, step: Step, members: list[Member], call: Call) -> None:
    with rollout.claim.fenced():
        _intend(rollout, step, members)
    todo: dict[Host, SimpleQueue[Member]] = {}
    for member in members:
        todo.setdefault(member.host, SimpleQueue()).put(member)
    for host in todo:
        prove_same_engine(host)
    pool = _Pool(step, call)
    work = [
        partial(pool.work, host, access_for(host), queue)
        for host, queue in todo.items()
        for _number in range(min(CALLS_PER_HOST, queue.qsize()))
    ]
    with ThreadPoolExecutor(len(work), "calls") as threads:
        running = [threads.submit(one) for one in work]
        try:
            while wait(running, LOOK_EVERY_S).not_done:
                _keep(rollout, step, pool.taken())
                rollout.claim.renew()
                pool.sure_until = time.monotonic() + LEASE_IS_SURE_S
                if rollout.claim.cancel_requested():
                    pool.stop.set()
        finally:
            pool.stop.set()
    _keep(rollout, step, pool.taken())
    for one in running:
        one.result()


class _Pool:
    """What the threads of one step share."""

    def __init__(self, step: Step, call: Call) -> None:
        self._step, self._call = step, call
        self._results: SimpleQueue[tuple[Member, Answer]] = SimpleQueue()
        self.stop = threading.Event()
        self.sure_until = time.monotonic() + LEASE_IS_SURE_S

    def work(self, host: Host, access: Access, todo: "SimpleQueue[Member]") -> None:
        """Take one replica after the other; what does not go plainly lets everybody stop."""
        with (
            suppress(DockerApiError, Empty),
            open_engine(
                host.docker_address,
                host=host.name,
                access=access,
                timeout_s=CALL_TIMEOUT_S,
            ) as engine,
        ):
            while not self.stop.is_set() and time.monotonic() < self.sure_until:
                member = todo.get_nowait()
                fault_point(f"before:{self._step}")
                answer = self._plainly(engine, member)
                fault_point(f"after:{self._step}")
                if answer:
                    self._results.put((member, answer))

    def _plainly(self, engine: Engine, member: Member) -> Answer:
        try:
            return self._call(engine, member)
        except BaseException:
            self.stop.set()
            raise

    def taken(self) -> list[tuple[Member, Answer]]:
        """What has come since the last time."""
        found: list[tuple[Member, Answer]] = []
        with suppress(Empty):
            while True:
                found.append(self._results.get_nowait())
        return found


def _intend(rollout: Rollout, step: Step, members: list[Member]) -> None:
    state = STATE_OF_STEP[step]
    rollout.enter(state, time_limit(rollout, state))
    rollout.journal.write_all(
        EventKind.INTENT, [Outcome(Act(step, one.row), NOTHING, {}) for one in members]
    )


def _keep(rollout: Rollout, step: Step, came: list[tuple[Member, Answer]]) -> None:
    """Write down what came, in the order of the replicas."""
    if not came:
        return
    came = sorted(came, key=lambda one: one[0].planned.rank)
    with rollout.claim.fenced():
        for member, answer in came:
            if isinstance(answer, str):
                save_created(member.row, answer)
            else:
                save_observed(member.row, answer)
        rollout.journal.write_all(
            EventKind.DONE,
            [
                Outcome(Act(step, one.row), _said(step, one), _facts(step, one))
                for one, _answer in came
            ],
        )
    fault_point(f"done:{step}")


def _said(step: Step, member: Member) -> Text:
    if step is Step.CREATE:
        return text("Created the container {what}.", what=place(member))
    return text("Started the container {what}.", what=place(member))


def _facts(step: Step, member: Member) -> dict[str, str]:
    return {"container_id": member.row.container_id} if step is Step.CREATE else {}
