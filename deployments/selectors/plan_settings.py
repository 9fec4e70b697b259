"""A planned replica as named settings: nothing that decides a container is left out."""

import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import fields

from deployments.planning.canonical import Json
from deployments.planning.container import ContainerSpec
from deployments.planning.documents import to_document
from deployments.planning.plan import Plan, PlannedReplica
from deployments.selectors.methods import method_title

PLAN_SETTINGS: tuple[tuple[str, Callable[[Plan], str]], ...] = (
    ("model", lambda plan: plan.model),
    ("checkpoint", lambda plan: plan.checkpoint),
    ("engine", lambda plan: f"{plan.engine} {plan.engine_version}"),
    ("method", lambda plan: method_title(plan.decision.method)),
    ("drafter", lambda plan: plan.decision.drafter or "none"),
    ("replacement", lambda plan: plan.replace.value.replace("_", " ")),
)

_NAMES = {
    "speculation": "expected in the start-up log",
    "ready_deadline_s": "ready within (s)",
    "stop_grace_s": "stop grace (s)",
    "shm_size_bytes": "shared memory (bytes)",
}
_OWN_ROWS = frozenset(
    {"image", "command", "environment", "mounts", "ports", "devices", "name", "labels"}
)


def replica_settings(replica: PlannedReplica) -> dict[str, str]:
    """Names and values of everything that the replica is made of, most telling first."""
    container = replica.container
    found: dict[str, str] = {}
    found.update(_flag_settings(container.command))
    found["image"] = image_text(container)
    found["host"] = replica.host
    found["devices"] = ", ".join(str(number) for number in replica.devices) or "none"
    found["served model name"] = replica.served_model_name
    for port in container.ports:
        found[f"port for {port.purpose}"] = (
            f"{port.host_address}:{port.host} to {port.container}"
        )
    for mount in container.mounts:
        access = "read only" if mount.read_only else "writable"
        found[f"mount {mount.target}"] = f"{mount.source}, {access}"
    found.update((f"env {name}", value) for name, value in container.environment)
    for node in container.devices:
        found[f"device {node.container_path}"] = f"{node.host_path} {node.permissions}"
    found.update(_remaining(replica))
    found.update((f"label {name}", value) for name, value in container.labels)
    found["container name"] = container.name
    return found


def is_detail(name: str) -> bool:
    """Whether a setting is the same in nearly every plan: what hardens and limits a container."""
    return name in _DETAILS or name.startswith("label ")


def image_text(container: ContainerSpec) -> str:
    """The image as it is asked for, and what exactly that was when the plan was made."""
    image = container.image
    exact = [one for one in (image.digest, image.image_id) if one]
    return f"{image.reference} ({', '.join(exact) or 'not on the host when planned'})"


def _flag_settings(command: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Flags with their values; JSON objects become one setting a key."""
    words = list(command)
    start = next(
        (i for i, word in enumerate(words) if word.startswith("--")), len(words)
    )
    yield "command", shlex.join(words[:start])
    flag = ""
    values: list[str] = []
    for word in [*words[start:], "--"]:
        if not word.startswith("--"):
            values.append(word)
            continue
        if flag:
            yield from _expanded(flag, values)
        flag, values = word, []


def _expanded(flag: str, values: list[str]) -> Iterator[tuple[str, str]]:
    document = _object(values[0]) if len(values) == 1 else None
    if document is None:
        yield flag, shlex.join(values) if values else "on"
        return
    for key, value in document.items():
        yield f"{flag}.{key}", _text(value)


def _object(text: str) -> dict[str, Json] | None:
    if not text.startswith("{"):
        return None
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) and document else None


def _remaining(replica: PlannedReplica) -> Iterator[tuple[str, str]]:
    """The fields that have no row of their own, by their names in the plan."""
    document = to_document(replica)
    if not isinstance(document, dict):
        raise TypeError("a replica is a JSON object")
    container = document.pop("container")
    if not isinstance(container, dict):
        raise TypeError("a container is a JSON object")
    for name in ("role", "rank", "host", "devices", "served_model_name"):
        document.pop(name)
    expected = replica.speculation
    document["speculation"] = (
        f"{expected.method}, {expected.num_speculative_tokens}" if expected else None
    )
    rows = {**document, **container}
    for name in sorted(rows.keys() - _OWN_ROWS):
        yield _spoken(name), _text(rows[name])


def _spoken(name: str) -> str:
    return _NAMES.get(name, name.replace("_", " "))


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None or value == []:
        return "none"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(str(item) for item in value)
    return json.dumps(value, ensure_ascii=False)


_DETAILS = frozenset(
    _spoken(field.name)
    for kind in (PlannedReplica, ContainerSpec)
    for field in fields(kind)
    if field.name not in _OWN_ROWS
) - {"host", "devices", "served model name"} | {"container name"}
