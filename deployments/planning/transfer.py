"""How prefill hands the KV cache to decode: connector, ports, engine ids."""

from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.plan import Role

KV_PORT_STEP = 100
KV_ROLES = {Role.PREFILL: "kv_producer", Role.DECODE: "kv_consumer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One instance as the connector counts it: a number of its own, and its first KV port."""

    number: int
    port: int


def transfer_config(
    context: PlanContext, settings: RoleSettings, endpoint: Endpoint
) -> dict[str, Json]:
    """Return the value of ``--kv-transfer-config`` for one instance.

    Both sides carry the whole topology on Ascend (vllm-ascend v0.23.0, Mooncake connector);
    NIXL needs the role only (vLLM 0.32.0; ``kv_rank`` and the like are refused there).
    """
    connector = settings.layout.serving.kv_connector or context.platform.kv_connector
    role = KV_ROLES[settings.role]
    if context.profile.engine != VLLM_ASCEND:
        return {
            "kv_connector": connector,
            "kv_role": role,
            "kv_load_failure_policy": "fail",
        }
    extra: dict[str, Json] = dict(
        sorted(settings.layout.serving.kv_connector_extra.items())
    )
    extra |= dict(context.platform.traits.kv_extra)
    extra |= {
        one.role.value: {
            "dp_size": one.layout.data_parallel_size,
            "tp_size": one.layout.tensor_parallel_size,
        }
        for one in context.roles
        if one.role in KV_ROLES
    }
    return {
        "kv_connector": connector,
        "kv_role": role,
        "kv_port": str(endpoint.port),
        "engine_id": str(endpoint.number),
        "kv_connector_extra_config": extra,
    }


def transfer_ports(context: PlanContext, settings: RoleSettings) -> int:
    """Return how many ports one host of an instance listens on for KV transfer."""
    layout = settings.layout
    if context.profile.engine == VLLM_ASCEND:
        return max(1, layout.devices_per_host)
    return layout.data_parallel_size_local
