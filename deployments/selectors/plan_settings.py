"""A planned replica as named settings: nothing that decides a container is left out."""

import json
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields

from deployments.planning.canonical import Json
from deployments.planning.container import ContainerSpec, PortMapping, SecretVariable
from deployments.planning.documents import to_document
from deployments.planning.plan import Plan, PlannedReplica, ReplaceStrategy
from deployments.planning.text import Text, listed, text
from deployments.selectors.methods import method_title

NONE = text("none")
CLEARED = text("that of the image is cleared")
_REPLACEMENTS = {
    ReplaceStrategy.CREATE_THEN_REMOVE: text("create then remove"),
    ReplaceStrategy.REMOVE_THEN_CREATE: text("remove then create"),
}
PLAN_SETTINGS: tuple[tuple[str, Callable[[Plan], str]], ...] = (
    (text("model"), lambda plan: plan.model),
    (text("checkpoint"), lambda plan: plan.checkpoint),
    (text("engine"), lambda plan: f"{plan.engine} {plan.engine_version}"),
    (text("method"), lambda plan: method_title(plan.decision.method)),
    (text("drafter"), lambda plan: plan.decision.drafter or NONE),
    (text("replacement"), lambda plan: _REPLACEMENTS[plan.replace]),
)

PORT_NAMES = {
    "api": text("API port"),
    "kv": text("KV transfer port"),
    "dp-rpc": text("data parallel port"),
}
"""By the purpose that the plan gives a port."""
_NAMES = {
    "speculation": text("expected in the start-up log"),
    "ready_deadline_s": text("ready within (s)"),
    "stop_grace_s": text("stop grace (s)"),
    "shm_size_bytes": text("shared memory (bytes)"),
    "health_port": text("health port"),
    "practice": text("practice"),
    "entrypoint": text("entrypoint"),
    "user": text("user"),
    "device_requests": text("device requests"),
    "runtime": text("runtime"),
    "group_add": text("group add"),
    "cap_drop": text("cap drop"),
    "cap_add": text("cap add"),
    "security_opt": text("security opt"),
    "network_mode": text("network mode"),
    "ipc_mode": text("ipc mode"),
    "memory_lock": text("memory lock"),
    "pids_limit": text("pids limit"),
    "health_check": text("health check"),
    "restart": text("restart"),
    "time_zone": text("time zone"),
    "logging": text("logging"),
    "init": text("init"),
    "volumes": text("volumes"),
    "health_path": text("health path"),
    "lists_models": text("lists its models"),
    "canary": text("canary"),
}
_OWN_ROWS = frozenset(
    {
        "image",
        "command",
        "environment",
        "mounts",
        "log_directories",
        "ports",
        "devices",
        "name",
        "labels",
        "secrets",
    }
)


def replica_settings(replica: PlannedReplica) -> dict[str, str]:
    """Names and values of everything that the replica is made of, most telling first."""
    container = replica.container
    found: dict[str, str] = {}
    found.update(_flag_settings(container.command))
    found[text("image")] = image_text(container)
    found[text("host")] = replica.host
    devices = ", ".join(str(number) for number in replica.devices)
    found[text("devices")] = devices or NONE
    found[text("served model name")] = replica.served_model_name
    found.update(_port_settings(container.ports))
    for mount in container.mounts:
        access = text("read only") if mount.read_only else text("writable")
        found[text("mount {target}", target=mount.target)] = text(
            "{source}, {access}", source=mount.source, access=access
        )
    for directory in container.log_directories:
        found[text("log files {target}", target=directory.target)] = text(
            "{source}, writable, made when missing", source=directory.source
        )
    found.update((f"env {name}", value) for name, value in container.environment)
    for secret in container.secrets:
        found[f"env {secret.variable}"] = _secret_text(secret)
    for node in container.devices:
        found[text("device {path}", path=node.container_path)] = (
            f"{node.host_path} {node.permissions}"
        )
    found.update(_remaining(replica))
    found.update((f"label {name}", value) for name, value in container.labels)
    found[text("container name")] = container.name
    return found


def _port_settings(ports: Iterable[PortMapping]) -> Iterator[tuple[str, str]]:
    """Every published port, one line for all that serve the same purpose."""
    mapped: dict[str, list[Text]] = {}
    for port in ports:
        said = text(
            "{host} (in the container {container})",
            host=f"{port.host_address}:{port.host}",
            container=port.container,
        )
        mapped.setdefault(port.purpose, []).append(said)
    for purpose, all_of_it in mapped.items():
        name = PORT_NAMES.get(purpose) or text("port for {purpose}", purpose=purpose)
        yield name, all_of_it[0] if len(all_of_it) == 1 else listed(all_of_it)


def is_detail(name: str) -> bool:
    """Whether a setting is the same in nearly every plan: what hardens and limits a container."""
    return name in _DETAILS or name.startswith("label ")


def image_text(container: ContainerSpec) -> str:
    """The image as it is asked for, and what exactly that was when the plan was made."""
    image = container.image
    exact = ", ".join(one for one in (image.digest, image.image_id) if one)
    if exact:
        return f"{image.reference} ({exact})"
    return text("{image} (not on the host when planned)", image=image.reference)


def _flag_settings(command: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Flags with their values; JSON objects become one setting a key."""
    words = list(command)
    start = next(
        (i for i, word in enumerate(words) if word.startswith("--")), len(words)
    )
    yield text("command"), shlex.join(words[:start])
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
        yield flag, shlex.join(values) if values else text("on")
        return
    for key, value in document.items():
        yield f"{flag}.{key}", _text(value)


def _object(written: str) -> dict[str, Json] | None:
    if not written.startswith("{"):
        return None
    try:
        document = json.loads(written)
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
    rows["entrypoint"] = rows["entrypoint"] or CLEARED
    for name in sorted(rows.keys() - _OWN_ROWS):
        yield _spoken(name), _text(rows[name])


def _secret_text(secret: SecretVariable) -> str:
    if secret.version is None:
        return text("the secret {name}", name=secret.secret)
    return text(
        "the secret {name}, version {version}",
        name=secret.secret,
        version=secret.version,
    )


def _spoken(name: str) -> str:
    return _NAMES.get(name, name.replace("_", " "))


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if value is None or value == []:
        return NONE
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(str(item) for item in value)
    return json.dumps(value, ensure_ascii=False)


_DETAILS = frozenset(
    _spoken(field.name)
    for kind in (PlannedReplica, ContainerSpec)
    for field in fields(kind)
    if field.name not in _OWN_ROWS
) - {"host", "devices", "served model name"} | {"container name"}
