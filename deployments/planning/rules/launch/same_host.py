"""Servers that one script starts beside each other: they share the ports of their host."""

import re
from collections.abc import Iterator

from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import Hit, RuleCard
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text

SERVER_PORT = 8000
SIDE_CHANNEL = "VLLM_NIXL_SIDE_CHANNEL_PORT"
_BACKGROUND = re.compile(r"[ \t]*(?:\d?>{1,2}&?[ \t]*\S+[ \t]*)*&(?![&>])")
PORT = RuleCard(
    code="SERVER_PORT_TAKEN",
    category="port",
    severity=Severity.ERROR,
    summary=text("Two servers that run beside each other listen on the same port."),
    fix=text("Give each a --port of its own."),
    source="vLLM 0.32.0, run: Address already in use",
)
CHANNEL = RuleCard(
    code="SIDE_CHANNEL_PORT_TAKEN",
    category="port",
    severity=Severity.ERROR,
    summary=text(
        "Two NIXL servers of one host use the same side channel port, whose default is the same for all."
    ),
    fix=text("Set VLLM_NIXL_SIDE_CHANNEL_PORT to a port of its own for each."),
    source="vLLM documentation 0.32.0, NIXL connector",
)
SAME_HOST_CARDS = (PORT, CHANNEL)


def same_host_hits(
    views: list[LaunchView],
) -> Iterator[tuple[LaunchView, RuleCard, Hit]]:
    """Yield what a server takes from one that the same script left running."""
    running: list[LaunchView] = []
    for view in views:
        if not view.launch.is_vllm:
            continue
        for before in running:
            yield from _between(before, view)
        if _left_running(view):
            running.append(view)


def _between(
    before: LaunchView, view: LaunchView
) -> Iterator[tuple[LaunchView, RuleCard, Hit]]:
    ports = [one.launch.number("--port") or SERVER_PORT for one in (before, view)]
    named = [one.launch.value("--port") or "" for one in (before, view)]
    if ports[0] == ports[1] and not any("$" in one for one in named):
        yield (
            view,
            PORT,
            Hit(
                message=text(
                    "Port {port} is taken by the server above.", port=ports[0]
                ),
                evidence=str(ports[0]),
                start=view.place("--port"),
            ),
        )
    nixl = [
        str(one.transfer.get("kv_connector")).startswith("Nixl")
        for one in (before, view)
    ]
    channels = [one.launch.variable(SIDE_CHANNEL) for one in (before, view)]
    if all(nixl) and channels[0] == channels[1] and "$" not in str(channels[0]):
        yield (
            view,
            CHANNEL,
            Hit(
                message=text(
                    "Both servers of this host use the side channel port {port}.",
                    port=channels[0] or text("that is the default"),
                ),
                evidence=channels[0] or SIDE_CHANNEL,
                start=view.launch.start,
            ),
        )


def _left_running(view: LaunchView) -> bool:
    """Whether the shell goes on beside the server: its command ends in ``&``."""
    container = view.launch.container
    if container is not None and not container.host_network:
        return False
    ends = [word.end for word in view.launch.words if word.has_place]
    return bool(ends) and _BACKGROUND.match(view.source.text, max(ends)) is not None
