"""The ``vllm serve`` command of one replica."""

import json
from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.engines.arguments import Arguments
from deployments.planning.methods import FACTS, Method
from deployments.planning.sizes import MODELS_IN_CONTAINER
from deployments.planning.transfer import Endpoint, transfer_config


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where a replica sits in its instance.

    ``host_index`` counts the hosts of the instance from 0, the head. ``api_port`` is the port in
    the container, ``None`` for a headless follower. ``head_address`` and ``rpc_port`` are set
    where an instance spans hosts.
    """

    host_index: int
    api_port: int | None
    head_address: str | None
    rpc_port: int | None
    endpoint: Endpoint | None

    @property
    def headless(self) -> bool:
        """Whether it only follows the head."""
        return self.api_port is None


def serve_command(
    context: PlanContext, settings: RoleSettings, seat: Seat
) -> tuple[str, ...]:
    """Build the argument vector; the same inputs give the same order."""
    arguments = Arguments(f"{MODELS_IN_CONTAINER}/{context.checkpoint.directory}")
    arguments = arguments.having("--served-model-name", served_name(context))
    if seat.api_port is not None:
        arguments = arguments.having("--host", "0.0.0.0")  # noqa: S104 - inside the container
        arguments = arguments.having("--port", seat.api_port)
    arguments = _parallel(arguments, settings, seat)
    arguments = _sizes(arguments, context, settings)
    for flag, value in sorted(_flags(context, settings).items()):
        arguments = arguments.having(flag, value)
    if settings.speculative is not None:
        document = settings.speculative.document(context.profile)
        text = json.dumps(document, separators=(",", ":"))
        arguments = arguments.having("--speculative-config", text)
    if seat.endpoint is not None:
        transfer = json.dumps(
            transfer_config(context, settings, seat.endpoint), separators=(",", ":")
        )
        arguments = arguments.having("--kv-transfer-config", transfer)
    for flag, value in sorted(context.spec.extra_flags):
        arguments = arguments.having(flag, value or True)
    return arguments.vector


def _flags(context: PlanContext, settings: RoleSettings) -> dict[str, Json]:
    """The documented flags that go with the method, and those of the platform, which win key by key."""
    flags = dict(settings.layout.serving.flags)
    flags |= _of_the_method(context, settings, flags)
    if context.practice:
        return flags
    for flag, value in context.platform.traits.flags:
        before = flags.get(flag)
        if isinstance(before, dict) and isinstance(value, dict):
            flags[flag] = {**before, **value}
        else:
            flags[flag] = value
    return flags


def _of_the_method(
    context: PlanContext, settings: RoleSettings, flags: dict[str, Json]
) -> dict[str, Json]:
    """What the method changes of the documented flags, which were written for another one.

    vLLM 0.8.5 to 0.33.0 refuse --async-scheduling with methods that draft on the processor;
    vllm-ascend 0.21.0rc1 to 0.23.0 cannot capture MTP on 310P (vllm-ascend#12983).
    """
    if settings.speculative is None:
        return {}
    changed: dict[str, Json] = {}
    method = settings.speculative.method
    if "--async-scheduling" in flags and not FACTS[method].async_scheduling:
        changed["--async-scheduling"] = False
    if method is Method.MTP and context.platform.name == "ascend-310p":
        changed["--enforce-eager"] = True
    return changed


def served_name(context: PlanContext) -> str:
    """The name that clients ask for."""
    return context.spec.served_model_name or context.model.name.lower().replace(
        " ", "-"
    )


def _parallel(arguments: Arguments, settings: RoleSettings, seat: Seat) -> Arguments:
    layout = settings.layout
    arguments = arguments.having("--tensor-parallel-size", layout.tensor_parallel_size)
    if layout.pipeline_parallel_size > 1:
        arguments = arguments.having(
            "--pipeline-parallel-size", layout.pipeline_parallel_size
        )
    if layout.data_parallel_size > 1:
        arguments = arguments.having("--data-parallel-size", layout.data_parallel_size)
        if not seat.headless:
            # More than one API server turns the acceptance lines off (vLLM 0.8.5 to 0.33.0).
            arguments = arguments.having("--api-server-count", 1)
    if layout.hosts_per_instance > 1:
        local = layout.data_parallel_size_local
        arguments = arguments.having("--data-parallel-size-local", local)
        arguments = arguments.having("--data-parallel-address", seat.head_address)
        arguments = arguments.having("--data-parallel-rpc-port", seat.rpc_port)
    if seat.headless:
        start = seat.host_index * layout.data_parallel_size_local
        arguments = arguments.having("--data-parallel-start-rank", start)
        arguments = arguments.having("--headless", value=True)
    return arguments.having("--enable-expert-parallel", layout.expert_parallel)


def _sizes(
    arguments: Arguments, context: PlanContext, settings: RoleSettings
) -> Arguments:
    arguments = arguments.having("--quantization", context.checkpoint.quantization_flag)
    arguments = arguments.having("--max-model-len", settings.max_model_len)
    arguments = arguments.having("--max-num-seqs", settings.max_num_seqs)
    arguments = arguments.having(
        "--max-num-batched-tokens", settings.max_num_batched_tokens
    )
    return arguments.having("--gpu-memory-utilization", settings.gpu_memory_utilization)
