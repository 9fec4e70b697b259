"""WAIT_READY and SMOKE: a replica is ready when it answers, and verified when it does what was planned."""

from dataclasses import replace

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import inspect_container
from deployments.docker_api.logs import read_head
from deployments.models import Release, Replica
from deployments.planning.plan import Role
from deployments.planning.text import NOTHING, Text, listed, said_by, sentences, text
from deployments.services.rollout.failures import exit_failure, never_ready
from deployments.services.rollout.journal import Act
from deployments.services.rollout.keys import endpoint_key
from deployments.services.rollout.outcomes import Done, StepFailedError, Wait
from deployments.services.rollout.probe import (
    Endpoint,
    NoAnswerError,
    ProbeError,
    complete,
    endpoint_of,
    is_healthy,
    served_models,
)
from deployments.services.rollout.rollout import Member, Rollout, place, save_observed
from deployments.telemetry.logs.startup import StartupFacts, StartupReader

LOOK_AGAIN_S = 1.5
GENERATING_ROLES = frozenset({Role.COMBINED, Role.DECODE, Role.ROUTER})
SPECULATING_ROLES = frozenset({Role.COMBINED, Role.DECODE, Role.PREFILL})


def wait_ready(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    """Look once whether the replica answers; its end and its deadline are failures.

    Raises:
        StepFailedError: the container ended, is gone, or did not answer in time.
        DockerApiError: the engine does not answer.
    """
    del act
    with rollout.engine(member.host) as engine:
        facts = inspect_container(engine, member.row.container_id)
        with rollout.claim.fenced():
            save_observed(member.row, facts)
        if facts is None:
            raise StepFailedError(
                "not_found",
                text("somebody removed the container while it was starting"),
                text("Release the plan again."),
            )
        if not facts.running:
            raise exit_failure(engine, facts)
        endpoint = endpoint_of(member)
        if endpoint is not None and not is_healthy(endpoint):
            if rollout.past_deadline():
                raise never_ready(engine, member, facts.container_id)
            return Wait(LOOK_AGAIN_S)
    with rollout.claim.fenced():
        Replica.objects.filter(pk=member.row.pk).update(ready=True)
    return Done(text("{what} is ready.", what=place(member)))


def smoke(rollout: Rollout, act: Act, member: Member) -> Done | Wait:
    """Prove that it serves the planned model, speculates as planned, and really generates.

    A first request may take long, since kernels are compiled for it: one without an answer is
    asked again until the deadline.

    Raises:
        StepFailedError: it serves another model, fails a completion, or has ended.
        DockerApiError: the engine does not answer.
    """
    del act
    with rollout.engine(member.host) as engine:
        facts = inspect_container(engine, member.row.container_id)
        if facts is None or not facts.running:
            if facts is not None:
                raise exit_failure(engine, facts)
            raise StepFailedError(
                "not_found",
                text("the container is gone"),
                text("Release the plan again."),
            )
        startup = _startup_facts(engine, member)
        endpoint = endpoint_of(member)
        try:
            if endpoint is not None:
                rollout.claim.renew()
                keyed = replace(endpoint, key=endpoint_key(rollout))
                _prove_endpoint(engine, member, keyed)
        except NoAnswerError as error:
            if rollout.past_deadline():
                raise _no_completion(error) from error
            return Wait(LOOK_AGAIN_S)
    warning = _speculation_warning(member, startup)
    with rollout.claim.fenced():
        Replica.objects.filter(pk=member.row.pk).update(
            verified_method=(startup.method or "")[:24],
            verified_num_speculative_tokens=startup.num_speculative_tokens,
        )
        if warning and warning not in rollout.release.warning:
            warnings = sentences(rollout.release.warning, warning)
            Release.objects.filter(pk=rollout.release.pk).update(warning=warnings)
            rollout.release.warning = warnings
    return Done(
        warning or text("{what} serves what was planned.", what=place(member)),
        {
            "method": startup.method,
            "num_speculative_tokens": startup.num_speculative_tokens,
        },
    )


def _prove_endpoint(engine: Engine, member: Member, endpoint: Endpoint) -> None:
    wanted = member.planned.served_model_name
    try:
        names = served_models(endpoint) if member.planned.lists_models else (wanted,)
        if wanted not in names:
            raise StepFailedError(
                "wrong_model",
                text(
                    "it serves {found}, not {wanted}",
                    found=listed(names) if names else text("no model at all"),
                    wanted=wanted,
                ),
                text(
                    "Look whether another server listens on this port; then plan again."
                ),
            )
        if member.planned.role in GENERATING_ROLES:
            complete(endpoint, wanted)
    except ProbeError as error:
        facts = inspect_container(engine, member.row.container_id)
        if facts is not None and not facts.running:
            raise exit_failure(engine, facts) from error
        if isinstance(error, NoAnswerError):
            raise
        raise _no_completion(error) from error


def _no_completion(error: ProbeError) -> StepFailedError:
    return StepFailedError(
        "completion_failed",
        text(
            "it is healthy, but a first request failed: {error}",
            error=said_by(error),
        ),
        text("Read its log below; the drafter may not fit the model."),
    )


def _startup_facts(engine: Engine, member: Member) -> StartupFacts:
    """What the start-up lines say, read from the head of the log until they have spoken."""
    reader = StartupReader()
    for line in read_head(engine, member.row.container_id):
        facts = reader.feed(line.text + "\n")
        if facts.speculation is not None:
            return facts
    return reader.facts


def _speculation_warning(member: Member, startup: StartupFacts) -> Text:
    """What of the planned speculation the start-up log does not confirm; empty if all is well."""
    planned = member.planned.speculation
    if member.planned.role not in SPECULATING_ROLES or planned is None:
        return NOTHING
    what = place(member)
    if startup.speculation is None:
        return text(
            "{what}: its log does not say whether it speculates, so nobody can be sure.",
            what=what,
        )
    if not startup.speculation:
        return text(
            "{what}: speculation is off, although the plan asks for {method} with {count} tokens.",
            what=what,
            method=planned.method,
            count=planned.num_speculative_tokens,
        )
    same = (startup.method, startup.num_speculative_tokens) == (
        planned.method,
        planned.num_speculative_tokens,
    )
    if same:
        return NOTHING
    return text(
        "{what}: it speculates with {found} and {found_count} tokens; the plan asks for "
        "{method} and {count}.",
        what=what,
        found=startup.method or "-",
        found_count=startup.num_speculative_tokens or "-",
        method=planned.method,
        count=planned.num_speculative_tokens,
    )
