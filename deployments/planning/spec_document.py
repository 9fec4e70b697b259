"""A revision and its hosts as the deployment spec that ``parse_deployment_spec`` reads back."""

from collections.abc import Iterable
from dataclasses import replace

from deployments.planning.canonical import Json
from deployments.planning.plan import Role
from deployments.planning.platforms.devices import device_memory
from deployments.planning.revision import (
    Limits,
    RevisionSpec,
    RoleSpec,
    SpeculationChoice,
    Workload,
)
from deployments.planning.snapshot import LOG_ROOT, HostSnapshot


def spec_document(
    spec: RevisionSpec,
    hosts: Iterable[HostSnapshot],
    cluster: str | None = None,
    *,
    split_cards: bool = False,
    log_root: str = LOG_ROOT,
) -> dict[str, Json]:
    """Write the spec; what was left to the planner is left out.

    ``cluster`` is ``team/cluster``; the fleet then repeats what the panel knows of its hosts, and
    ``split_cards`` and ``log_root`` what the cluster decides, so that the same file plans without the panel.
    """
    return _lean(
        {
            "name": spec.name,
            "model": spec.model,
            "checkpoint": spec.checkpoint,
            "engine": spec.engine,
            "image": spec.image,
            "served_model_name": spec.served_model_name,
            "cluster": cluster,
            "speculation": _choice(spec.speculation),
            "canary": _choice(spec.canary) if spec.canary else None,
            "topology": spec.topology.value,
            "roles": {role.role.value: _role(role) for role in spec.roles},
            "fleet": [_host(host) for host in hosts],
            "workload": _workload(spec.workload),
            "limits": _limits(spec.limits) or None,
            "extra_flags": dict(_flag(*pair) for pair in spec.extra_flags) or None,
            "features": dict(spec.features) or None,
            "api_key": spec.api_key,
            "environment": dict(spec.environment) or None,
            "split_cards": split_cards or None,
            "log_root": None if log_root == LOG_ROOT else log_root,
        }
    )


def settled(spec: RevisionSpec) -> RevisionSpec:
    """The same revision in the one spelling that compares: flags in order, counts of a combined
    deployment with its method."""
    spec = replace(
        spec,
        features=tuple(sorted(spec.features)),
        environment=tuple(sorted(spec.environment)),
    )
    flags = tuple(sorted(spec.extra_flags))
    if len(spec.roles) != 1 or spec.roles[0].role is not Role.COMBINED:
        return replace(spec, extra_flags=flags)
    (role,) = spec.roles
    if role.num_speculative_tokens is None:
        return replace(spec, extra_flags=flags)
    choice = replace(
        spec.speculation, num_speculative_tokens=role.num_speculative_tokens
    )
    alone = replace(role, num_speculative_tokens=None)
    return replace(spec, extra_flags=flags, speculation=choice, roles=(alone,))


def _choice(choice: SpeculationChoice) -> dict[str, Json]:
    return _lean(
        {
            "method": choice.method,
            "num_speculative_tokens": choice.num_speculative_tokens,
            "drafter": choice.drafter,
        }
    )


def _role(role: RoleSpec) -> dict[str, Json]:
    return _lean(
        {
            "hosts": list(role.hosts),
            "num_speculative_tokens": role.num_speculative_tokens,
            "devices_per_host": role.devices_per_host,
            "tensor_parallel_size": role.tensor_parallel_size,
            "data_parallel_size": role.data_parallel_size,
            "pipeline_parallel_size": role.pipeline_parallel_size,
            "port": role.port,
        }
    )


def _host(host: HostSnapshot) -> dict[str, Json]:
    memory = host.device_memory_bytes
    if memory == device_memory(host.platform, host.device):
        memory = None
    return _lean(
        {
            "name": host.name,
            "platform": host.platform,
            "device": host.device,
            "devices_per_host": host.device_count,
            "device_memory_bytes": memory,
            "address": host.address,
            "interface": host.interface,
            "arch": host.architecture,
            "model_root": host.model_root,
        }
    )


def _workload(workload: Workload) -> dict[str, Json]:
    return {
        "input_tokens": workload.input_tokens,
        "output_tokens": workload.output_tokens,
        "concurrency": workload.concurrency,
        "goal": workload.goal.value,
    }


def _limits(limits: Limits) -> dict[str, Json]:
    percent = limits.gpu_memory_utilization_percent
    return _lean(
        {
            "max_model_len": limits.max_model_len,
            "max_num_seqs": limits.max_num_seqs,
            "max_num_batched_tokens": limits.max_num_batched_tokens,
            "gpu_memory_utilization": None
            if percent is None
            else f"{percent // 100}.{percent % 100:02d}",
        }
    )


def _flag(flag: str, value: str) -> tuple[str, Json]:
    return flag, value or True


def _lean(values: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in values.items() if value is not None}
