"""Failures in words: what a person is told, and what to do next, for each stable code."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.containers import ContainerFacts
from deployments.docker_api.errors import DockerApiError, PortTakenError
from deployments.docker_api.logs import LogLine, read_tail
from deployments.models import ReleaseState
from deployments.services.rollout.outcomes import StepFailedError
from deployments.services.rollout.rollout import Member, place
from deployments.telemetry.diagnosis import Diagnosis, DiagnosisSeverity, diagnose_text

SHOWN_LINES = 50
DIAGNOSED_LINES = 400
LONGEST_SHOWN_LINE = 2000
SIGKILL_EXIT_CODE = 137
NO_PROGRAM_EXIT_CODES = frozenset({126, 127})

NEXT_ACTIONS: Mapping[str, str | Promise] = {
    "unreachable": gettext_lazy(
        "Start Docker on the host, then release the plan again."
    ),
    "timeout": gettext_lazy(
        "Look at the host: its Docker Engine is stuck or overloaded."
    ),
    "engine_fault": gettext_lazy("Look at the log of the host's Docker Engine."),
    "not_found": gettext_lazy("Somebody removed it; release the plan again."),
    "image_missing": gettext_lazy(
        "Check the image's name and tag, or import the image on the host, then release again."
    ),
    "name_taken": gettext_lazy(
        "Rename or remove the other container, then release again."
    ),
    "port_taken": gettext_lazy(
        "Free the port on the host, or plan again with another port."
    ),
    "no_entrypoint": gettext_lazy(
        "Choose an image that contains this program; the catalog names one per platform."
    ),
    "device_unavailable": gettext_lazy(
        "Install the accelerator's driver and container runtime on the host, then release again."
    ),
    "mount_missing": gettext_lazy(
        "Put the files into that directory on the host, or plan again with another one."
    ),
    "disk_full": gettext_lazy("Free disk space on the host, then release again."),
    "registry_denied": gettext_lazy(
        "Pull the image on the host by hand, or use a registry that the host may read."
    ),
    "registry_unavailable": gettext_lazy(
        "Check the host's way to the registry, or rewrite the image to a mirror in the cluster."
    ),
    "pull_stalled": gettext_lazy(
        "Check the host's way to the registry, then release again."
    ),
    "policy": gettext_lazy("Plan the revision again."),
}
FALLBACK = gettext_lazy("Read the message above and the host's Docker log.")
BLOCKING_CODES = frozenset({"name_taken", "policy", "address_refused"})


def docker_failure(error: DockerApiError) -> StepFailedError:
    """The failure that a Docker error means for the release."""
    cause = str(error)
    if isinstance(error, PortTakenError) and error.port is not None:
        cause = _("port %(port)s is already in use on the host") % {"port": error.port}
    return StepFailedError(
        error.code,
        cause,
        str(NEXT_ACTIONS.get(error.code, FALLBACK)),
        final=ReleaseState.BLOCKED
        if error.code in BLOCKING_CODES
        else ReleaseState.FAILED,
        detail={"engine_answer": str(error)},
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
    ended = _("the container ended with exit code %(code)s") % {"code": facts.exit_code}
    if facts.oom_killed:
        return StepFailedError(
            "oom_killed",
            _("the host ran out of memory and its kernel killed the container"),
            _("Lower the memory the engine takes, or choose a host with more memory."),
            detail=detail,
        )
    if found is not None:
        return StepFailedError(
            found.code.lower(), f"{ended}. {found.cause}", found.fix, detail=detail
        )
    if facts.exit_code in NO_PROGRAM_EXIT_CODES and lines:
        return StepFailedError(
            "no_entrypoint",
            _("the image lacks the program that should run (%(line)s)")
            % {"line": lines[-1].text[:200]},
            str(NEXT_ACTIONS["no_entrypoint"]),
            detail=detail,
        )
    if facts.exit_code == SIGKILL_EXIT_CODE:
        ended = _("the container was killed (exit code 137), by a person or the host")
    return StepFailedError(
        "exited", ended, _("Read the last lines of its log below."), detail=detail
    )


def never_ready(engine: Engine, member: Member, container_id: str) -> StepFailedError:
    """The failure of a container that runs and never answers."""
    lines = read_tail(engine, container_id, lines=DIAGNOSED_LINES)
    found = _worst(diagnose_text("\n".join(line.text for line in lines)))
    minutes = round(member.planned.ready_deadline_s / 60, 1)
    cause = _("it did not become ready within %(minutes)g minutes") % {
        "minutes": minutes
    }
    return StepFailedError(
        "never_ready",
        f"{cause}. {found.cause}" if found else cause,
        found.fix if found else _("Read the last lines of its log below."),
        detail={"log": shown(lines), "diagnosis": found.code if found else None},
    )


def shown(lines: tuple[LogLine, ...]) -> list[Json]:
    """The last lines as kept in the journal; pages escape them."""
    return [
        line.text[:LONGEST_SHOWN_LINE].replace("\0", "\N{REPLACEMENT CHARACTER}")
        for line in lines[-SHOWN_LINES:]
    ]


def sentence(step: str, member: Member | None, cause: str) -> str:
    """Step, object and cause in one sentence."""
    if member is None:
        return f"{step}: {cause}"
    return f"{step}, {place(member)}: {cause}"


def _worst(found: tuple[Diagnosis, ...]) -> Diagnosis | None:
    return next(
        (one for one in found if one.severity is DiagnosisSeverity.CRITICAL), None
    )
