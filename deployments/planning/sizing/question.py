"""What the memory of a role is computed from, read off a plan's settings."""

import json
from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.catalog import Checkpoint, Drafter
from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.engines.profile import VLLM_ASCEND
from deployments.planning.methods import Method
from deployments.planning.plan import Role
from deployments.planning.sizing.documented import launched_devices
from deployments.planning.sizing.geometry import Geometry, geometry_of
from deployments.planning.sizing.quantisation import quantises_cache
from deployments.planning.sizing.read_weights import ReadWeights, read_weights
from deployments.planning.versions import Version

HIGHER_SHARE_SINCE = Version((0, 25, 0))
USUAL_SHARE, HIGHER_SHARE = 900, 920
"""Default gpu_memory_utilization in thousandths: vLLM 0.25.0 to 0.33.0 config/cache.py, and before."""
USUAL_BATCHED_TOKENS = 8192
USUAL_HCCL_MIB = 200
BLOCK, ASCEND_BLOCK = 16, 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One role on its devices.

    ``devices`` carry one copy of the routed experts, ``tensor_parallel_size`` of them one data
    parallel rank. ``share`` is gpu_memory_utilization in thousandths. ``sequences`` is max_num_seqs,
    ``sequences_wanted`` what the workload brings to one rank, each of ``sequence_tokens``.
    ``context_length`` is what one sequence must be able to reach, ``context_limit`` the most that the
    model was made for. ``cache_bytes`` is the width of
    one cached value, ``indexer_bytes`` that of sparse attention's index. ``read`` are the
    checkpoint's files on the role's hosts, ``None`` where nobody has read them.
    """

    role: Role
    geometry: Geometry
    checkpoint: Checkpoint
    device_bytes: int | None
    share: int
    share_given: bool
    tensor_parallel_size: int
    data_parallel_size: int
    expert_parallel: bool
    sequences: int
    sequences_wanted: int
    sequence_tokens: int
    context_length: int | None
    context_limit: int | None
    batched_tokens: int
    batched_tokens_given: bool
    count: int
    method: Method | None
    drafter: Drafter | None
    draft_tensor_parallel_size: int
    mtp_layers: int | None
    unquantised_mtp: bool
    cache_bytes: float
    indexer_bytes: float
    context_parallel_size: int
    block_tokens: int
    captures: bool
    ascend: bool
    hccl_mib: int
    launched_devices: int | None
    pipeline_parallel_size: int = 1
    read: ReadWeights | None = None

    @property
    def devices(self) -> int:
        """Devices that the routed experts of one stage spread over."""
        return self.tensor_parallel_size * self.data_parallel_size


def question_of(context: PlanContext, settings: RoleSettings) -> Question:
    """Read the question off a plan's settings."""
    layout, speculative = settings.layout, settings.speculative
    flags = _flags(context, settings)
    ascend = context.profile.engine == VLLM_ASCEND
    share = _share(settings.gpu_memory_utilization)
    tensor = layout.tensor_parallel_size
    draft_tensor = speculative.draft_tensor_parallel_size if speculative else None
    workload = context.spec.workload
    prefill = settings.role is Role.PREFILL
    return Question(
        role=settings.role,
        geometry=geometry_of(context.model),
        checkpoint=context.checkpoint,
        device_bytes=layout.hosts[0].device_memory_bytes,
        share=share or _usual_share(context),
        share_given=share is not None,
        tensor_parallel_size=tensor,
        data_parallel_size=layout.data_parallel_size,
        expert_parallel=layout.expert_parallel,
        sequences=settings.max_num_seqs,
        sequences_wanted=_wanted(context, settings),
        sequence_tokens=workload.input_tokens
        + (1 if prefill else workload.output_tokens),
        context_length=settings.max_model_len or context.model.context_length,
        context_limit=context.model.context_length,
        batched_tokens=settings.max_num_batched_tokens or USUAL_BATCHED_TOKENS,
        batched_tokens_given=settings.max_num_batched_tokens is not None,
        count=settings.num_speculative_tokens,
        method=context.method if speculative else None,
        drafter=context.drafter if speculative else None,
        draft_tensor_parallel_size=min(draft_tensor or tensor, tensor),
        mtp_layers=context.model.mtp_layers,
        unquantised_mtp="floatmtp" in context.checkpoint.directory.lower(),
        cache_bytes=_cache_bytes(context, flags),
        indexer_bytes=_indexer_bytes(context, flags, ascend=ascend),
        context_parallel_size=_integer(flags.get("--decode-context-parallel-size"))
        or 1,
        block_tokens=ASCEND_BLOCK if ascend else BLOCK,
        captures="--enforce-eager" not in flags,
        ascend=ascend,
        hccl_mib=_integer(layout.serving.environment.get("HCCL_BUFFSIZE"))
        or USUAL_HCCL_MIB,
        launched_devices=launched_devices(layout.serving),
        pipeline_parallel_size=layout.pipeline_parallel_size,
        read=read_weights(layout.hosts, context.checkpoint.directory),
    )


def _flags(context: PlanContext, settings: RoleSettings) -> dict[str, Json]:
    flags: dict[str, Json] = dict(settings.layout.serving.flags)
    flags.update({name: value or True for name, value in context.spec.extra_flags})
    return flags


def _share(given: str | None) -> int | None:
    """The share in thousandths; a plan holds decimals as text."""
    if given is None:
        return None
    whole, _point, rest = given.partition(".")
    digits = rest[:3].ljust(3, "0")
    return int(whole or 0) * 1000 + int(digits) if (whole + digits).isdigit() else None


def _usual_share(context: PlanContext) -> int:
    return HIGHER_SHARE if context.profile.vllm >= HIGHER_SHARE_SINCE else USUAL_SHARE


def _wanted(context: PlanContext, settings: RoleSettings) -> int:
    layout = settings.layout
    ranks = layout.instances * layout.data_parallel_size
    share = -(-context.spec.workload.concurrency // ranks)
    return max(1, min(settings.max_num_seqs, share))


def _cache_bytes(context: PlanContext, flags: dict[str, Json]) -> float:
    asked = str(flags.get("--kv-cache-dtype", "auto"))
    if asked.startswith(("fp8", "int8")):
        return 1.0
    sparse = (
        context.model.attention is not None and "sa_mla" in context.model.attention.kind
    )
    quantised = quantises_cache(context.checkpoint.quantisation)
    if sparse:
        return 1.0 if _additional(flags).get("enable_sparse_sfa_c8") is True else 2.0
    return 1.0 if quantised else 2.0


def _indexer_bytes(
    context: PlanContext, flags: dict[str, Json], *, ascend: bool
) -> float:
    """One byte and a scale to 128 values in vLLM; two bytes on Ascend unless c8 is turned on."""
    if not ascend:
        return 1.03125
    quantised = quantises_cache(context.checkpoint.quantisation)
    return 1.0 if quantised or _additional(flags).get("enable_sparse_li_c8") else 2.0


def _additional(flags: dict[str, Json]) -> dict[str, Json]:
    value = flags.get("--additional-config")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


def _integer(value: Json) -> int | None:
    return int(str(value)) if str(value).isdigit() else None
