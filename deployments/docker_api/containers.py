"""Containers of an engine: made from a ContainerSpec only, addressed by name or id."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue as Json

from deployments.docker_api.client import Engine
from deployments.docker_api.errors import NotFoundError, StateConflictError
from deployments.docker_api.policy import ContainerPolicy, check_container
from deployments.docker_api.reading import as_object, objects, string, text_map, texts
from deployments.planning.container import ContainerSpec
from deployments.planning.launch.engine_api import create_body
from deployments.planning.text import text

RUNNING_STATES = frozenset({"running", "paused", "restarting"})
CHANGEABLE = (
    "BlkioWeight", "CpuPeriod", "CpuQuota", "CpuShares", "CpusetCpus", "CpusetMems", "Memory",
    "MemoryReservation", "MemorySwap", "NanoCpus", "PidsLimit", "RestartPolicy",
)  # fmt: skip
"""What ``docker update`` changes of a container that exists (Engine API 1.41 to 1.51)."""
NO_RESTART = frozenset({"", "no"})
_LOG_SIZE = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?) ?(?P<unit>[kmg]?)i?b?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerFacts:
    """One container as the engine describes it.

    ``started_at`` is the engine's own text, which names a run together with ``container_id``.
    ``exit_code`` is ``None`` while it runs. ``error`` is why the last start failed. ``settings`` are
    those of ``CHANGEABLE`` that are set, as (name, value), and ``networks`` those it is connected to.
    ``kept_log_bytes`` is how much of its log is kept at most, ``None`` when there is no limit.
    """

    container_id: str
    name: str
    image_id: str
    state: str
    exit_code: int | None
    oom_killed: bool
    error: str
    started_at: str
    finished_at: str
    health: str | None
    stop_signal: str
    labels: Mapping[str, str]
    settings: tuple[tuple[str, str], ...] = ()
    networks: tuple[str, ...] = ()
    kept_log_bytes: int | None = None

    @property
    def running(self) -> bool:
        """Whether its process is alive, paused or about to be restarted."""
        return self.state in RUNNING_STATES

    @property
    def ever_started(self) -> bool:
        """Whether its process ran at least once."""
        return not self.started_at.startswith("0001-")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedContainer:
    """One container of a listing: enough to know whose it is and what it holds."""

    container_id: str
    name: str
    state: str
    host_ports: tuple[int, ...]
    labels: Mapping[str, str]

    @property
    def running(self) -> bool:
        """Whether its process is alive, paused or about to be restarted."""
        return self.state in RUNNING_STATES


def create_container(  # noqa: PLR0913 - each is a part of one request
    engine: Engine,
    spec: ContainerSpec,
    *,
    image_id: str,
    labels: Mapping[str, str],
    policy: ContainerPolicy,
    secrets: Mapping[str, str] | None = None,
) -> str:
    """Create the container of a plan from exactly the image that was found; returns its id.

    ``labels`` are added to those of the plan: whose container this is. ``secrets`` are the values
    of the plan's secret variables, which are in no plan and no message.

    Raises:
        PolicyError: the container asks for more than the floor allows; nothing was sent.
        NameTakenError: the name belongs to another container; look whose it is.
        DockerApiError: the engine does not answer or answers another error.
    """
    body: dict[str, Json] = {
        **create_body(spec, dict(labels), secrets),
        "Image": image_id,
    }
    check_container(spec.name, body, policy)
    answer = engine.call(
        "POST",
        "/containers/create",
        act=text("create the container {container}", container=spec.name),
        params={"name": spec.name},
        body=body,
    )
    return string(as_object(answer), "Id")


def inspect_container(engine: Engine, name_or_id: str) -> ContainerFacts | None:
    """Describe a container; ``None`` if the engine has none of that name or id.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    act = text("describe the container {container}", container=name_or_id)
    try:
        row = engine.call("GET", f"/containers/{name_or_id}/json", act=act)
    except NotFoundError:
        return None
    return _facts(as_object(row))


def start_container(engine: Engine, name_or_id: str) -> None:
    """Start a container; one that runs already is left alone.

    Raises:
        PortTakenError, NoEntrypointError, DeviceUnavailableError: as named; it stays created.
        DockerApiError: the engine does not answer or answers another error.
    """
    act = text("start the container {container}", container=name_or_id)
    engine.call("POST", f"/containers/{name_or_id}/start", act=act)


def signal_container(engine: Engine, name_or_id: str, signal: str) -> None:
    """Send a signal and return at once; a container that is gone or stopped is left alone.

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    act = text(
        "send {signal} to the container {container}",
        signal=signal,
        container=name_or_id,
    )
    path = f"/containers/{name_or_id}/kill"
    try:
        engine.call("POST", path, act=act, params={"signal": signal})
    except (NotFoundError, StateConflictError):
        return


def remove_container(engine: Engine, name_or_id: str) -> None:
    """Remove a stopped container with its anonymous volumes; one that is gone is left alone.

    Raises:
        StateConflictError: it still runs.
        DockerApiError: the engine does not answer or answers another error.
    """
    act = text("remove the container {container}", container=name_or_id)
    try:
        engine.call("DELETE", f"/containers/{name_or_id}", act=act, params={"v": "1"})
    except NotFoundError:
        return


def rename_container(engine: Engine, name_or_id: str, name: str) -> None:
    """Give a container another name; it keeps its id.

    Raises:
        NameTakenError: another container has the new name.
        DockerApiError: the engine does not answer or answers another error.
    """
    act = text("rename the container {container}", container=name_or_id)
    path = f"/containers/{name_or_id}/rename"
    engine.call("POST", path, act=act, params={"name": name})


def changeable_settings(host_config: Mapping[str, Json]) -> tuple[tuple[str, str], ...]:
    """Those of ``CHANGEABLE`` that a host configuration, asked for or inspected, sets."""
    found = []
    for name in CHANGEABLE:
        value = host_config.get(name)
        if name == "RestartPolicy":
            policy = string(as_object(value), "Name")
            value = None if policy in NO_RESTART else policy
        if value:
            found.append((name, str(value)))
    return tuple(found)


def list_containers(
    engine: Engine, *, label: str | None = None
) -> tuple[ListedContainer, ...]:
    """All containers, running or not, of the engine or with one label (``name`` or ``name=value``).

    Raises:
        DockerApiError: the engine does not answer or answers an error.
    """
    params = {"all": "1"}
    if label:
        params["filters"] = json.dumps({"label": [label]})
    rows = engine.call(
        "GET", "/containers/json", act=text("list its containers"), params=params
    )
    return tuple(_listed(row) for row in objects(rows))


def _listed(row: Mapping[str, Json]) -> ListedContainer:
    ports = {port.get("PublicPort") for port in objects(row.get("Ports"))}
    names = texts(row, "Names")
    return ListedContainer(
        container_id=string(row, "Id"),
        name=names[0].lstrip("/") if names else "",
        state=string(row, "State"),
        host_ports=tuple(sorted(port for port in ports if isinstance(port, int))),
        labels=text_map(row, "Labels"),
    )


def _facts(row: Mapping[str, Json]) -> ContainerFacts:
    state, config = as_object(row.get("State")), as_object(row.get("Config"))
    networks = as_object(as_object(row.get("NetworkSettings")).get("Networks"))
    status, exit_code = string(state, "Status"), state.get("ExitCode")
    ended = status not in RUNNING_STATES and isinstance(exit_code, int)
    return ContainerFacts(
        container_id=string(row, "Id"),
        name=string(row, "Name").lstrip("/"),
        image_id=string(row, "Image"),
        state=status,
        exit_code=exit_code if ended and isinstance(exit_code, int) else None,
        oom_killed=bool(state.get("OOMKilled")),
        error=string(state, "Error"),
        started_at=string(state, "StartedAt"),
        finished_at=string(state, "FinishedAt"),
        health=string(as_object(state.get("Health")), "Status") or None,
        stop_signal=string(config, "StopSignal") or "SIGTERM",
        labels=text_map(config, "Labels"),
        settings=changeable_settings(as_object(row.get("HostConfig"))),
        networks=tuple(sorted(networks)),
        kept_log_bytes=_kept_log_bytes(
            as_object(as_object(row.get("HostConfig")).get("LogConfig"))
        ),
    )


def _kept_log_bytes(log: Mapping[str, Json]) -> int | None:
    """``max-size`` times ``max-file``, as the json-file and local drivers read them."""
    options = text_map(log, "Config")
    size = _LOG_SIZE.fullmatch(options.get("max-size", "").strip().lower())
    files = options.get("max-file", "1").strip()
    if size is None or not files.isdecimal():
        return None
    unit = 1024 ** " kmg".index(size["unit"] or " ")
    return int(float(size["number"]) * unit) * max(1, int(files))
