"""What a Docker Engine says of itself."""

from dataclasses import dataclass
from datetime import UTC, datetime

from deployments.docker_api.client import Engine
from deployments.docker_api.reading import as_object, string, texts
from deployments.planning.text import text

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFacts:
    """Identity, version and abilities of an engine; ``system_time`` is the host's clock."""

    engine_id: str
    version: str
    architecture: str
    runtimes: tuple[str, ...]
    cgroup_version: str
    security_options: tuple[str, ...]
    system_time: datetime | None


def engine_facts(engine: Engine) -> EngineFacts:
    """Ask the engine who it is.

    ``architecture`` is spelled as image platforms are (``amd64``, ``arm64``).

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    info = as_object(engine.call("GET", "/info", act=text("describe itself")))
    machine = string(info, "Architecture")
    return EngineFacts(
        engine_id=string(info, "ID"),
        version=string(info, "ServerVersion"),
        architecture=_ARCHITECTURES.get(machine, machine),
        runtimes=tuple(sorted(as_object(info.get("Runtimes")))),
        cgroup_version=string(info, "CgroupVersion") or "1",
        security_options=texts(info, "SecurityOptions"),
        system_time=_time(string(info, "SystemTime")),
    )


def _time(stamp: str) -> datetime | None:
    """RFC 3339 with nanoseconds and any zone; ``None`` for anything else."""
    head, _dot, fraction = stamp.partition(".")
    digits = "".join(c for c in fraction[:9] if c.isdigit())[:6]
    zone = fraction.lstrip("0123456789") or "Z"
    try:
        parsed = datetime.fromisoformat(f"{head}.{digits or '0'}{zone}")
    except ValueError:
        return None
    return parsed.astimezone(UTC)
