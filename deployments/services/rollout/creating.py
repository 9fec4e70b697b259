"""CREATE and START: one container per replica, made once, adopted if it is already ours."""

from contextlib import suppress

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import (
    ContainerFacts,
    create_container,
    inspect_container,
    remove_container,
    rename_container,
    start_container,
)
from deployments.docker_api.errors import NameTakenError
from deployments.models import FINAL_STATES, Replica
from deployments.planning.text import text
from deployments.services.rollout.journal import Act
from deployments.services.rollout.keys import secrets_of
from deployments.services.rollout.outcomes import Done, StepFailedError
from deployments.services.rollout.permission import prove_approval
from deployments.services.rollout.preflight import name_taken
from deployments.services.rollout.rollout import (
    Member,
    Rollout,
    is_ours,
    labels_of,
    place,
    policy_of,
    save_observed,
)

LONGEST_KEPT_NAME = 54
"""With a dash and eight digits, the 63 characters of a host name."""


def create(rollout: Rollout, act: Act, member: Member) -> Done:
    """Create the container, or adopt the one that an earlier attempt made.

    Raises:
        StepFailedError: the name belongs to a container that is not ours; it is left alone.
        DockerApiError: the engine refuses or does not answer.
    """
    del act
    prove_approval(rollout)
    with rollout.engine(member.host) as engine:
        facts = inspect_container(engine, member.name)
        if facts is not None and _is_leftover(rollout, member, facts):
            _make_room(rollout, engine, facts)
            facts = None
        if facts is None:
            facts = _create(rollout, engine, member)
        if facts is None or not is_ours(facts, member, rollout.digest):
            raise name_taken(member.name)
    with rollout.claim.fenced():
        save_observed(member.row, facts)
    return Done(
        text("Created the container {what}.", what=place(member)),
        {"container_id": facts.container_id},
    )


def _create(rollout: Rollout, engine: Engine, member: Member) -> ContainerFacts | None:
    # Somebody, perhaps an attempt whose answer was lost, may be faster: then look whose it is.
    with suppress(NameTakenError):
        create_container(
            engine,
            member.planned.container,
            image_id=member.row.image_id,
            labels=labels_of(member, rollout.digest),
            policy=policy_of(member.host),
            secrets=secrets_of(rollout, member.planned.container),
        )
    return inspect_container(engine, member.name)


def _make_room(rollout: Rollout, engine: Engine, facts: ContainerFacts) -> None:
    """Free the name: what is being replaced is kept under another one until the new is verified."""
    old = next(
        (
            one
            for one in rollout.old_members
            if one.row.container_id == facts.container_id
        ),
        None,
    )
    if old is None:
        remove_container(engine, facts.container_id)
        return
    aside = f"{old.planned.container.name[:LONGEST_KEPT_NAME]}-{old.row.pk.hex[:8]}"
    rename_container(engine, facts.container_id, aside)
    with rollout.claim.fenced():
        Replica.objects.filter(pk=old.row.pk).update(container_name=aside)


def _is_leftover(rollout: Rollout, member: Member, facts: ContainerFacts) -> bool:
    """A stopped container of an ended release of the same deployment, by our own records."""
    return (
        not facts.running
        and not is_ours(facts, member, rollout.digest)
        and Replica.objects.filter(
            container_id=facts.container_id,
            host=member.host,
            release__deployment=rollout.release.deployment,
            release__state__in=FINAL_STATES,
        ).exists()
    )


def start(rollout: Rollout, act: Act, member: Member) -> Done:
    """Start the container if it never ran; one that ran and ended is judged by WAIT_READY.

    Raises:
        StepFailedError: the approval no longer holds, or the container is gone.
        DockerApiError: port taken, program missing, device missing, or no answer.
    """
    del act
    prove_approval(rollout)
    with rollout.engine(member.host) as engine:
        facts = inspect_container(engine, member.row.container_id)
        if facts is None:
            raise StepFailedError(
                "not_found",
                text("somebody removed the container before it was started"),
                text("Release the plan again."),
            )
        if not facts.running and not facts.ever_started:
            start_container(engine, facts.container_id)
            facts = inspect_container(engine, facts.container_id)
    with rollout.claim.fenced():
        save_observed(member.row, facts)
    return Done(text("Started the container {what}.", what=place(member)))
