"""How prefill hands the KV cache to decode: connector, ports, engine ids."""

from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.plan import Role

KV_PORT_STEP = 100
LAYERWISE = "MooncakeLayerwiseConnector"
FAILURE_POLICY_SINCE = (0, 14, 0)
CONNECTOR_SINCE = {
    "NixlConnector": "0.9.0",
    "MooncakeConnector": "0.13.0",
    "MoRIIOConnector": "0.14.1",
    "NixlPullConnector": "0.24.0",
    "NixlPushConnector": "0.24.0",
    "MooncakeConnectorV1": "0.11.0rc1",
    "MooncakeLayerwiseConnector": "0.11.0rc1",
    "MooncakeHybridConnector": "0.20.2rc1",
}
"""First release of its engine that registers a connector (vLLM sources, 0.8.5 to 0.33.0;
vllm-ascend release notes to v0.23.0)."""
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
    connector = connector_of(context, settings)
    role = KV_ROLES[settings.role]
    if context.profile.engine != VLLM_ASCEND:
        plain: dict[str, Json] = {"kv_connector": connector, "kv_role": role}
        if context.profile.vllm.release >= FAILURE_POLICY_SINCE:
            plain["kv_load_failure_policy"] = "fail"
        return plain
    extra: dict[str, Json] = dict(
        sorted(settings.layout.serving.kv_connector_extra.items())
    )
    extra |= dict(context.platform.traits.kv_extra)
    extra |= {
        one.role.value: {
            "dp_size": one.layout.data_parallel_size,
            "tp_size": one.layout.tensor_parallel_size,
            **_stages(one),
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


def _stages(settings: RoleSettings) -> dict[str, Json]:
    """The pipeline stages of a side, said where there is more than one."""
    stages = settings.layout.pipeline_parallel_size
    return {"pp_size": stages} if stages > 1 else {}


def connector_of(context: PlanContext, settings: RoleSettings) -> str | None:
    """Return the connector of a role: the documented one, else the platform's."""
    return settings.layout.serving.kv_connector or context.platform.kv_connector


def transfer_ports(context: PlanContext, settings: RoleSettings) -> int:
    """Return how many ports one host of an instance listens on for KV transfer."""
    layout = settings.layout
    if context.profile.engine == VLLM_ASCEND:
        return max(1, layout.devices_per_host)
    return layout.data_parallel_size_local
