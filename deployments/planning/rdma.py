"""RDMA between hosts that serve prefill and decode apart: who names the device, and what its container needs.

Sources: vLLM documentation, NixlConnector usage (UCX carries the cache; ``UCX_NET_DEVICES`` chooses its
devices, ``mlx5_0:1`` with RDMA); Eyescale Equalizer, README.IB (RDMA needs the nodes below
``/dev/infiniband``).
"""

import re
from dataclasses import replace

from deployments.planning.container import DeviceNode
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.platforms.platform import Beyond, ContainerNeeds
from deployments.planning.text import text
from deployments.planning.transfer import connector_of

VARIABLE = "UCX_NET_DEVICES"
NODES = "/dev/infiniband"
SOURCE = "vLLM documentation, NixlConnector usage, 0.32.0"
_PORT_OF_DEVICE = re.compile(r"[\w-]+:\d+")
"""UCX writes the port behind devices with RDMA only; those of TCP are network interfaces."""


def moves_by_nixl(context: PlanContext, settings: RoleSettings) -> bool:
    """Whether NIXL carries the KV cache of a role."""
    return (connector_of(context, settings) or "").startswith("Nixl")


def names_rdma(context: PlanContext, settings: RoleSettings) -> bool:
    """Whether the revision, or what is documented for the model, names an RDMA device for UCX."""
    environment = settings.layout.serving.environment | dict(context.spec.environment)
    named = environment.get(VARIABLE, "").split(",")
    return any(_PORT_OF_DEVICE.fullmatch(one.strip()) for one in named)


def with_rdma(
    context: PlanContext, settings: RoleSettings, needs: ContainerNeeds
) -> ContainerNeeds:
    """Add the nodes that RDMA needs, where a device is named for NIXL."""
    if not moves_by_nixl(context, settings) or not names_rdma(context, settings):
        return needs
    beyond = Beyond(
        what=text("device nodes below {path}", path=NODES),
        why=text("NIXL moves the KV cache through the RDMA device that is named."),
        source=SOURCE,
    )
    node = DeviceNode(host_path=NODES, container_path=NODES)
    return replace(
        needs, devices=(*needs.devices, node), beyond=(*needs.beyond, beyond)
    )
