"""The same step of many replicas at once: a bounded pool of calls per host, one client per thread.

Only what goes plainly, perhaps at the second try, is done here. Whatever is odd or fails for good is
left to the act of its replica, which looks before it does anything and says what is wrong. Threads call
the engines and touch no row: intents are committed before the first call, outcomes while others go on,
and no call begins unless the lease was prolonged a moment ago.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    create_container,
    inspect_container,
    start_container,
)
from deployments.docker_api.images import find_image
from deployments.models import EventKind, Host, Replica
from deployments.planning.container import ImageReference
from deployments.planning.text import NOTHING, Text, text
from deployments.services.fault_points import fault_point
from deployments.services.host_access import prove_same_engine
from deployments.services.host_probe import probe_is_running
from deployments.services.rollout.acts import STATE_OF_STEP, time_limit
from deployments.services.rollout.calling import (
    CALLS_IN_ALL,
    TRIES,
    Answer,
    Call,
    Passing,
    Pool,
    Result,
    Task,
)
from deployments.services.rollout.failures import trying_again
from deployments.services.rollout.journal import Act, Outcome, Step
from deployments.services.rollout.keys import secrets_of
from deployments.services.rollout.permission import prove_approval
from deployments.services.rollout.pulling import is_there
from deployments.services.rollout.rollout import (
    Member,
    Rollout,
    is_ours,
    labels_of,
    place,
    policy_of,
    save_created,
    save_observed,
    save_started,
)

LOOK_EVERY_S = 0.3


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

        def create(engine: Engine, task: Task) -> Answer:
            member = task.member
            if task.look:
                facts = inspect_container(engine, member.name)
                if facts is not None:
                    ours = is_ours(facts, member, rollout.digest)
                    return facts if ours else ""
            return create_container(
                engine,
                member.planned.container,
                image_id=member.row.image_id,
                labels=labels_of(member, rollout.digest),
                policy=policies[member.host.pk],
                secrets=secrets[member.row.pk],
            )

        _run(rollout, step, members, create)
    elif step is Step.START:
        _run(rollout, step, members, _start)


def _fresh(rollout: Rollout, acts: Sequence[Act]) -> list[Member]:
    """Members that are not left to their own act and that need not wait for one another.

    The first replica of a role, which others may look for, and those without an API of their own,
    which do look for it, start one by one.
    """
    known = [
        rollout.member(act.replica)
        for act in acts
        if act.replica is not None
        and (act.step, act.replica.pk) not in rollout.left_alone
        and not (act.step is Step.PULL and rollout.journal.intended(act))
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


def _start(engine: Engine, task: Task) -> Answer:
    """Start what never ran, and ask no more: whether it runs is looked at when it should be ready."""
    container_id = task.member.row.container_id
    facts = inspect_container(engine, container_id) if task.look else None
    if task.look and (facts is None or facts.running or facts.ever_started):
        return facts or ""
    start_container(engine, container_id)
    return container_id


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
    tasks = [
        Task(one, look=rollout.journal.intended(Act(step, one.row))) for one in members
    ]
    with rollout.claim.fenced():
        _intend(rollout, step, members)
    for host in {one.host for one in members}:
        prove_same_engine(host)
    rollout.left_alone.update((step, one.row.pk) for one in members)
    pool = Pool(step, call, tasks, rollout.open.version)
    work = pool.work()
    with ThreadPoolExecutor(min(len(work), CALLS_IN_ALL), "calls") as threads:
        running = [threads.submit(one) for one in work]
        try:
            while wait(running, LOOK_EVERY_S).not_done:
                _keep(rollout, step, pool.taken())
                rollout.claim.renew()
                pool.sure()
                if rollout.claim.cancel_requested():
                    pool.stop.set()
        finally:
            pool.stop.set()
    _keep(rollout, step, pool.taken())
    for one in running:
        one.result()


def _intend(rollout: Rollout, step: Step, members: list[Member]) -> None:
    state = STATE_OF_STEP[step]
    rollout.enter(state, time_limit(rollout, state))
    acts = [Act(step, one.row) for one in members]
    new = [one for one in acts if not rollout.journal.intended(one)]
    rollout.journal.write_all(
        EventKind.INTENT, [Outcome(one, NOTHING, {}) for one in new]
    )


def _keep(rollout: Rollout, step: Step, came: list[Result]) -> None:
    """Write down what came, in the order of the replicas."""
    if not came:
        return
    passing = [one for one in came if isinstance(one, Passing)]
    done = sorted(
        (one for one in came if not isinstance(one, Passing)),
        key=lambda one: one[0].planned.rank,
    )
    with rollout.claim.fenced():
        rollout.journal.write_all(
            EventKind.NOTE, [_failed(step, one) for one in passing]
        )
        started = []
        for member, answer in done:
            if not isinstance(answer, str):
                save_observed(member.row, answer)
            elif step is Step.CREATE:
                save_created(member.row, answer)
            else:
                started.append(member.row)
        if started:
            save_started(started)
        rollout.journal.write_all(
            EventKind.DONE,
            [
                Outcome(Act(step, one.row), _said(step, one), _facts(step, one))
                for one, _answer in done
            ],
        )
    if done:
        fault_point(f"done:{step}")


def _failed(step: Step, passing: Passing) -> Outcome:
    message = trying_again(
        passing.error, passing.pause_s, number=passing.number, tries=TRIES
    )
    detail: dict[str, Json] = {"pool": passing.number, "code": passing.error.code}
    return Outcome(Act(step, passing.member.row), message, detail)


def _said(step: Step, member: Member) -> Text:
    if step is Step.CREATE:
        return text("Created the container {what}.", what=place(member))
    return text("Started the container {what}.", what=place(member))


def _facts(step: Step, member: Member) -> dict[str, str]:
    return {"container_id": member.row.container_id} if step is Step.CREATE else {}
