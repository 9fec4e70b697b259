"""Who may use the endpoint: its key, and ports that anybody can reach."""

import ipaddress
from collections.abc import Iterator

from deployments.planning.context import PlanContext
from deployments.planning.endpoint_key import OPEN, key_of
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.plan import Finding, Role, Severity
from deployments.planning.router import ASCEND_SOURCE, ROUTER_SOURCE
from deployments.planning.text import listed, text

KEY_SOURCE = "vLLM 0.32.0, VLLM_API_KEY and the paths that it guards"
SHARED = ipaddress.ip_network("100.64.0.0/10")
"""Addresses of carriers and private overlays (RFC 6598), which Python counts as neither."""


def endpoint_rules(context: PlanContext) -> Iterator[Finding]:
    """Judge the key; without one, the addresses at which the endpoint answers.

    Only an address that is known to be public is worth a word: a plan whose hosts have private
    addresses, or none that anybody told the panel, is not made noisy by it.
    """
    if key_of(context) is not None:
        yield from _unknown_secret(context)
        yield from _router(context)
    elif context.spec.api_key != OPEN:
        yield from _open_endpoint(context)


def _unknown_secret(context: PlanContext) -> Iterator[Finding]:
    name = key_of(context) or ""
    if context.settings.files_only or name in dict(context.settings.secrets):
        return
    yield Finding(
        code="API_KEY_UNKNOWN",
        category="environment",
        severity=Severity.ERROR,
        message=text("The cluster's team has no secret {name}.", name=name),
        fix=text(
            "Let a team admin store it on the page of the cluster, or name another one."
        ),
        source=text("the team's secrets"),
        evidence=name,
    )


def _router(context: PlanContext) -> Iterator[Finding]:
    router = next((one for one in context.replicas if one.role is Role.ROUTER), None)
    if router is None or context.practice:
        return
    if context.profile.engine == VLLM_ASCEND:
        yield Finding(
            code="ROUTER_ASKS_NO_KEY",
            category="disaggregation",
            severity=Severity.WARNING,
            message=text(
                "The engines ask for the key, but the proxy in front of them adds it to every "
                "request: whoever reaches port {port} of {host} needs none.",
                port=router.health_port or 0,
                host=router.host,
            ),
            fix=text(
                "Let only a gateway that checks keys reach that port, for example with the host's "
                "firewall."
            ),
            source=ASCEND_SOURCE,
            evidence=router.host,
        )
        return
    yield Finding(
        code="API_KEY_STOPS_AT_ROUTER",
        category="disaggregation",
        severity=Severity.ERROR,
        message=text(
            "vllm-router takes the key of the engines only in its command, where everybody on the "
            "host can read it, so a key cannot be planned behind it."
        ),
        fix=text(
            "Serve combined, or leave the key out and put a gateway that checks keys in front."
        ),
        source=ROUTER_SOURCE,
        evidence=router.host,
    )


def _open_endpoint(context: PlanContext) -> Iterator[Finding]:
    if context.practice:
        return
    addresses = {host.name: host.address for host in context.hosts}
    open_ports: dict[tuple[str, str], set[int]] = {}
    for replica in context.replicas:
        address = addresses.get(replica.host)
        if replica.health_port is not None and address and is_public(address):
            place = (replica.host, address)
            open_ports.setdefault(place, set()).add(replica.health_port)
    for (host, address), ports in sorted(open_ports.items()):
        yield Finding(
            code="PUBLIC_PORT_WITHOUT_KEY",
            category="port",
            severity=Severity.WARNING,
            message=text(
                "{host} has the public address {address}, and port {ports} answers whoever asks.",
                host=host,
                address=address,
                ports=listed(str(port) for port in sorted(ports)),
            ),
            fix=text(
                "Name a stored secret as the endpoint's API key, or choose off where something "
                "else keeps strangers out."
            ),
            source=KEY_SOURCE,
            evidence=host,
        )


def is_public(address: str) -> bool:
    """Whether an address is one that the internet routes; a name could be anything and is not."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    shared = found.version == SHARED.version and found in SHARED
    return found.is_global and not shared
