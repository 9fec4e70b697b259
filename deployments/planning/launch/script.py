"""A launch script of ``docker run`` lines for the replicas of one host."""

import shlex
from collections.abc import Iterator, Sequence

from deployments.planning.container import ContainerSpec, HealthCheck
from deployments.planning.launch.meaning import (
    bind_of,
    entrypoint_of,
    environment_of,
    image_of,
    published_ports,
)
from deployments.planning.launch.words import spec_texts
from deployments.planning.variables import (
    EXPLANATIONS,
    KEY_IN_FILES,
    SECRET_EXPLANATION,
    VARIABLE,
    variables_in,
)

BREAK = " \\\n  "
AS_SCRIPT = '[[ $- == *i* ]] || { set -euo pipefail; cd "$(dirname "$0")"; }'
"""Strict, and in its own folder: only where no person types."""


def launch_script(specs: Sequence[ContainerSpec]) -> str:
    """Write the script; it stops at the first failure and names a variable that is not set.

    Its lines may also be pasted into a shell, which a failure must not end. What needs variables
    is one group: a shell reads it whole and leaves it whole at a variable that is not set, so
    nothing is started with an empty value.
    """
    lines = ["#!/usr/bin/env bash", AS_SCRIPT]
    used = variables_in(text for spec in specs for text in spec_texts(spec))
    secret = any(spec.secrets for spec in specs)
    asks = bool(used) or secret
    if asks:
        lines += [
            "",
            "{",
            "if [ -f .env ]; then",
            "  set -a",
            "  # shellcheck source=/dev/null",
            "  . ./.env",
            "  set +a",
            "fi",
        ]
        lines += [
            f': "${{{name}:?Set {name} in .env: {EXPLANATIONS[name]}}}"'
            for name in used
        ]
    if secret:
        lines.append(
            f': "${{{KEY_IN_FILES}:?Set {KEY_IN_FILES} in .env: {SECRET_EXPLANATION}}}"'
        )
        names = {one.variable for spec in specs for one in spec.secrets}
        lines += [
            f"export {name}"
            if name == KEY_IN_FILES
            else f'export {name}="${KEY_IN_FILES}"'
            for name in sorted(names)
        ]
    for spec in specs:
        lines += ["", _run(spec)]
    if asks:
        lines.append("}")
    return "\n".join(lines) + "\n"


def shell_word(text: str) -> str:
    """Quote one argument for a POSIX shell; the plan's variables stay open, nothing else does."""
    parts: list[str] = []
    end = 0
    for match in VARIABLE.finditer(text):
        if match.start() > end:
            parts.append(shlex.quote(text[end : match.start()]))
        parts.append(f'"{match.group()}"')
        end = match.end()
    if end < len(text) or not parts:
        parts.append(shlex.quote(text[end:]))
    return "".join(parts)


def _run(spec: ContainerSpec) -> str:
    words = ["docker run --detach", *(" ".join(pair) for pair in _options(spec))]
    words.append(shell_word(image_of(spec)))
    before = [shell_word(word) for word in entrypoint_of(spec)[1:]]
    return BREAK.join([*words, *before, *command_lines(spec.command)])


def command_lines(command: Sequence[str]) -> list[str]:
    """Quote a command with each flag and its value on a line of its own."""
    lines: list[list[str]] = [[]]
    for word in command:
        if word.startswith("-") and not word[1:2].isdigit():
            lines.append([])
        lines[-1].append(shell_word(word))
    return [" ".join(line) for line in lines if line]


def _options(spec: ContainerSpec) -> Iterator[tuple[str, ...]]:
    yield ("--name", shell_word(spec.name))
    yield ("--entrypoint", shell_word(entrypoint_of(spec)[0]))
    yield ("--restart", shell_word(spec.restart))
    if spec.init:
        yield ("--init",)
    yield ("--network", spec.network_mode.value)
    yield ("--ipc", shell_word(spec.ipc_mode))
    yield ("--shm-size", str(spec.shm_size_bytes))
    yield ("--pids-limit", str(spec.pids_limit))
    yield ("--stop-timeout", str(spec.stop_grace_s))
    if spec.memory_lock:
        yield ("--ulimit", "memlock=-1:-1")
    if spec.user is not None:
        yield ("--user", shell_word(spec.user))
    if spec.runtime is not None:
        yield ("--runtime", shell_word(spec.runtime))
    yield from _repeated(spec)
    if spec.health_check is not None:
        yield from _health_check(spec.health_check)


def _repeated(spec: ContainerSpec) -> Iterator[tuple[str, ...]]:
    for flag, values in (
        ("--cap-drop", spec.cap_drop),
        ("--cap-add", spec.cap_add),
        ("--security-opt", spec.security_opt),
        ("--group-add", spec.group_add),
    ):
        for value in values:
            yield (flag, shell_word(value))
    yield from _places(spec)
    for name, value in environment_of(spec):
        yield ("--env", shell_word(f"{name}={value}"))
    for secret in spec.secrets:
        yield ("--env", secret.variable)
    for name, value in spec.labels:
        yield ("--label", shell_word(f"{name}={value}"))
    yield ("--log-driver", shell_word(spec.logging.driver))
    yield ("--log-opt", shell_word(f"max-size={spec.logging.max_size}"))
    yield ("--log-opt", shell_word(f"max-file={spec.logging.max_file}"))


def _places(spec: ContainerSpec) -> Iterator[tuple[str, ...]]:
    for node in spec.devices:
        mapping = f"{node.host_path}:{node.container_path}:{node.permissions}"
        yield ("--device", shell_word(mapping))
    for request in spec.device_requests:
        ids = ",".join(request.device_ids)
        yield ("--gpus", shell_word(f'driver={request.driver},"device={ids}"'))
    for mount in spec.mounts:
        ending = ",readonly" if mount.read_only else ""
        text = f"type=bind,source={mount.source},target={mount.target}{ending}"
        yield ("--mount", shell_word(text))
    for volume in spec.volumes:
        text = f"type=volume,source={volume.name},target={volume.target}"
        yield ("--mount", shell_word(text))
    for directory in spec.log_directories:
        yield ("--volume", shell_word(bind_of(directory)))
    for port in published_ports(spec):
        text = f"{port.host_address}:{port.host}:{port.container}"
        yield ("--publish", shell_word(text))


def _health_check(check: HealthCheck) -> Iterator[tuple[str, ...]]:
    yield ("--health-cmd", shell_word(shlex.join(check.test[1:])))
    yield ("--health-interval", f"{check.interval_s}s")
    yield ("--health-timeout", f"{check.timeout_s}s")
    yield ("--health-retries", str(check.retries))
    yield ("--health-start-period", f"{check.start_period_s}s")
