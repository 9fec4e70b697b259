"""Failures in words: what a person is told, and what to do next, for each stable code."""

from collections.abc import Mapping

from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import ContainerFacts
from deployments.docker_api.errors import DockerApiError, PortTakenError
from deployments.docker_api.logs import LogLine, read_tail
from deployments.models import ReleaseState
from deployments.planning.text import Text, ended, said_by, sentences, text
from deployments.services.rollout.journal import Step
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Member, place
from deployments.telemetry.diagnosis import Diagnosis, DiagnosisSeverity, diagnose_text

DOING: Mapping[Step, Text] = {
    Step.PULL: text("Getting the image of {what}: {cause}"),
    Step.STOP_OLD: text("Stopping {what}: {cause}"),
    Step.CREATE: text("Creating {what}: {cause}"),
    Step.START: text("Starting {what}: {cause}"),
    Step.WAIT_READY: text("Waiting for {what}: {cause}"),
    Step.SMOKE: text("Verifying {what}: {cause}"),
    Step.REMOVE_OLD: text("Removing {what}: {cause}"),
    Step.STOP: text("Stopping {what}: {cause}"),
    Step.REMOVE: text("Removing {what}: {cause}"),
    Step.UNDO: text("Undoing {what}: {cause}"),
    Step.RESTORE_OLD: text("Starting {what} again: {cause}"),
}
ALONE: Mapping[Step, Text] = {
    Step.QUEUE: text("Waiting for devices and ports: {cause}"),
    Step.VALIDATE: text("Checking the approval and the hosts: {cause}"),
    Step.BOOK: text("Booking devices and ports: {cause}"),
    Step.SWITCH: text("Taking over: {cause}"),
}

SHOWN_LINES = 50
DIAGNOSED_LINES = 400
LONGEST_SHOWN_LINE = 2000
SIGKILL_EXIT_CODE = 137
NO_PROGRAM_EXIT_CODES = frozenset({126, 127})

NEXT_ACTIONS: Mapping[str, Text] = {
    "unreachable": text("Start Docker on the host, then release the plan again."),
    "timeout": text("Look at the host: its Docker Engine is stuck or overloaded."),
    "engine_fault": text("Look at the log of the host's Docker Engine."),
    "not_found": text("Somebody removed it; release the plan again."),
    "image_missing": text(
        "Check the image's name and tag, or import the image on the host, then release again."
    ),
    "name_taken": text("Rename or remove the other container, then release again."),
    "port_taken": text("Free the port on the host, or plan again with another port."),
    "no_entrypoint": text(
        "Choose an image that contains this program; the catalog names one per platform."
    ),
    "device_unavailable": text(
        "Install the accelerator's driver and container runtime on the host, then release "
        "again."
    ),
    "mount_missing": text(
        "Put the files into that directory on the host, or plan again with another one."
    ),
    "disk_full": text("Free disk space on the host, then release again."),
    "registry_denied": text(
        "Pull the image on the host by hand, or use a registry that the host may read."
    ),
    "registry_unavailable": text(
        "Check the host's way to the registry, or rewrite the image to a mirror in the "
        "cluster."
    ),
    "pull_stalled": text("Check the host's way to the registry, then release again."),
    "policy": text("Plan the revision again."),
}
FALLBACK = text("Read the message above and the host's Docker log.")
BLOCKING_CODES = frozenset({"name_taken", "policy", "address_refused"})


def docker_failure(error: DockerApiError) -> StepFailedError:
    """The failure that a Docker error means for the release."""
    cause = said_by(error)
    if isinstance(error, PortTakenError) and error.port is not None:
        cause = text("port {port} is already in use on the host", port=error.port)
    return StepFailedError(
        error.code,
        cause,
        NEXT_ACTIONS.get(error.code, FALLBACK),
        final=ReleaseState.BLOCKED
        if error.code in BLOCKING_CODES
        else ReleaseState.FAILED,
        detail={"engine_answer": str(error)},
    )


def trying_again(
    error: DockerApiError, pause_s: float, *, number: int, tries: int
) -> Text:
    """What a passing failure means for the call that is made again after ``pause_s``."""
    return text(
        "{error} Trying again in {seconds} s ({try_number} of {tries}).",
        error=ended(said_by(error)),
        seconds=int(pause_s),
        try_number=number,
        tries=tries,
    )


def exit_failure(engine: Engine, facts: ContainerFacts) -> StepFailedError:
    """Why a container ended, from its exit code, the OOM mark and its last lines."""
    lines = read_tail(engine, facts.container_id, lines=DIAGNOSED_LINES)
    found = _worst(diagnose_text("\n".join(line.text for line in lines)))
    detail: dict[str, Json] = {
        "exit_code": facts.exit_code,
        "oom_killed": facts.oom_killed,
        "engine_error": facts.error,
        "log": shown(lines),
        "diagnosis": found.code if found else None,
        "evidence": found.evidence if found else None,
    }
    how = text("the container ended with exit code {code}", code=str(facts.exit_code))
    if facts.oom_killed:
        return StepFailedError(
            "oom_killed",
            text("the host ran out of memory and its kernel killed the container"),
            text(
                "Lower the memory the engine takes, or choose a host with more memory."
            ),
            detail=detail,
        )
    if found is not None:
        return StepFailedError(
            found.code.lower(), _with(how, found.cause), found.fix, detail=detail
        )
    if facts.exit_code in NO_PROGRAM_EXIT_CODES and lines:
        return StepFailedError(
            "no_entrypoint",
            text(
                "the image lacks the program that should run ({line})",
                line=lines[-1].text[:200],
            ),
            NEXT_ACTIONS["no_entrypoint"],
            detail=detail,
        )
    if facts.exit_code == SIGKILL_EXIT_CODE:
        how = text("the container was killed (exit code 137), by a person or the host")
    return StepFailedError(
        "exited", how, text("Read the last lines of its log below."), detail=detail
    )


def never_ready(engine: Engine, member: Member, container_id: str) -> StepFailedError:
    """The failure of a container that runs and never answers."""
    lines = read_tail(engine, container_id, lines=DIAGNOSED_LINES)
    found = _worst(diagnose_text("\n".join(line.text for line in lines)))
    minutes = f"{round(member.planned.ready_deadline_s / 60, 1):g}"
    cause = text("it did not become ready within {minutes} minutes", minutes=minutes)
    return StepFailedError(
        "never_ready",
        _with(cause, found.cause) if found else cause,
        found.fix if found else text("Read the last lines of its log below."),
        detail={
            "log": shown(lines),
            "diagnosis": found.code if found else None,
            "evidence": found.evidence if found else None,
        },
    )


def shown(lines: tuple[LogLine, ...]) -> list[Json]:
    """The last lines as kept in the journal; pages escape them."""
    return [
        line.text[:LONGEST_SHOWN_LINE].replace("\0", "\N{REPLACEMENT CHARACTER}")
        for line in lines[-SHOWN_LINES:]
    ]


def sentence(step: Step, member: Member | None, cause: Text) -> Text:
    """Step, object and cause in one sentence."""
    if member is None:
        return ALONE[step].filled({"cause": cause}) if step in ALONE else cause
    return DOING[step].filled({"what": place(member), "cause": cause})


def _with(clause: Text, cause: Text) -> Text:
    return sentences(ended(clause), cause)


def _worst(found: tuple[Diagnosis, ...]) -> Diagnosis | None:
    return next(
        (one for one in found if one.severity is DiagnosisSeverity.CRITICAL), None
    )
