"""Values that only the person who starts the files knows, as ``.env`` variables."""

import re
from collections.abc import Iterable

from deployments.planning.plan import Role
from deployments.planning.snapshot import HostSnapshot
from deployments.planning.text import text

MOST_BEHIND = 64
"""Hosts of one role behind one router."""
HOST_ADDRESS = "HOST_ADDRESS"
HOST_INTERFACE = "HOST_INTERFACE"
MODEL_ROOT = "MODEL_ROOT"
HEAD_ADDRESS = "HEAD_ADDRESS"
EXPLANATIONS = {
    HOST_ADDRESS: text("address of this host that the other hosts reach"),
    HOST_INTERFACE: text("network interface of this host that carries that address"),
    MODEL_ROOT: text("directory on this host that holds one directory per checkpoint"),
    HEAD_ADDRESS: text("address of the host that holds rank 0 of this role"),
}
_BEHIND = {
    Role.PREFILL: text("address of a host of the prefill role"),
    Role.DECODE: text("address of a host of the decode role"),
}
BEHIND_ROUTER = {
    f"{role.value.upper()}_{number}_ADDRESS": explanation
    for role, explanation in _BEHIND.items()
    for number in range(MOST_BEHIND)
}
EXPLANATIONS |= BEHIND_ROUTER
KEY_IN_FILES = "VLLM_API_KEY"
"""What whoever starts the files sets to the endpoint's key, whichever program reads it."""
SECRET_EXPLANATION = text("key that clients of the endpoint send")
VARIABLE = re.compile(r"\$\{(" + "|".join(EXPLANATIONS) + r")\}")


def reference_to(name: str) -> str:
    """Write a variable as the files spell it."""
    return f"${{{name}}}"


def address_of(host: HostSnapshot) -> str:
    """Return the host's address, or the variable for it."""
    return host.address or reference_to(HOST_ADDRESS)


def address_behind(
    host: HostSnapshot, role: Role, number: int, *, router: HostSnapshot
) -> str:
    """Return the address at which the router reaches a host of a role, or the variable for it."""
    if host.address is not None or host.name == router.name:
        return address_of(host)
    return reference_to(f"{role.value.upper()}_{number}_ADDRESS")


def interface_of(host: HostSnapshot) -> str:
    """Return the host's network interface, or the variable for it."""
    return host.interface or reference_to(HOST_INTERFACE)


def model_root_of(host: HostSnapshot) -> str:
    """Return the host's model directory without a trailing slash, or the variable for it."""
    return (host.model_root or reference_to(MODEL_ROOT)).rstrip("/")


def variables_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the variables that texts use, each once, sorted."""
    return tuple(sorted({name for text in texts for name in VARIABLE.findall(text)}))
