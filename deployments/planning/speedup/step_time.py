"""How long one step of the target model takes: a roofline over weights, KV cache and compute."""

from dataclasses import dataclass

from deployments.planning.speedup.accelerators import Accelerator
from deployments.planning.speedup.constants import Constants
from deployments.planning.speedup.shape import ModelShape

_LATENT_READ_WIDTH = 576
_LATENT_HEADS = 128
_BYTES = {
    "bf16": 2.0,
    "fp16": 2.0,
    "fp8": 1.03,
    "mxfp8": 1.05,
    "int8": 1.03,
    "w8a8": 1.03,
    "nvfp4": 0.58,
    "fp4": 0.58,
    "mxfp4": 0.56,
    "int4": 0.58,
    "awq": 0.58,
    "gptq": 0.58,
    "w4a8": 0.58,
    "w4a4": 0.58,
}


def weight_bytes(quantisation: str | None) -> float | None:
    """Return the bytes of one weight with its scales, ``None`` for an unknown quantisation."""
    name = (quantisation or "").lower()
    if name in _BYTES:
        return _BYTES[name]
    known = [key for key in _BYTES if name.startswith(key)]
    return _BYTES[max(known, key=len)] if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Where and how the target model runs.

    ``devices`` carry one copy of it together; with ``data_parallel`` ranks the attention layers are
    copied to each rank and the experts spread over all devices. ``context_tokens`` is the mean
    number of cached tokens of a sequence. Prompts cost throughput only if ``prompt_tokens`` and
    ``output_tokens`` are told. ``early_engine`` means vLLM before 0.10.2 or SGLang before 0.4.6,
    ``eager_drafter`` a drafter without captured graphs.
    """

    accelerator: Accelerator
    devices: int
    quantisation: str
    data_parallel: int = 1
    context_tokens: float = 1000.0
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    early_engine: bool = False
    eager_drafter: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A device's reachable rates: bytes and operations per millisecond, and the fixed times."""

    bytes_per_ms: float
    operations_per_ms: float
    bf16_operations_per_ms: float
    prompt_operations_per_ms: float
    link_bytes_per_ms: float
    weight_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """One step in milliseconds; ``memory_ms`` and ``compute_ms`` are the two roofs inside it."""

    total_ms: float
    memory_ms: float
    compute_ms: float

    @property
    def bound(self) -> str:
        """Return the nearer roof: ``memory`` or ``compute``."""
        return "compute" if self.compute_ms > self.memory_ms else "memory"


def machine(serving: Serving, constants: Constants) -> Machine | None:
    """Return the reachable rates of one device, ``None`` where a figure of it is unknown."""
    device = serving.accelerator
    peak = device.peak_tflops(serving.quantisation)
    size = weight_bytes(serving.quantisation)
    if device.bandwidth_tb_s is None or peak is None or size is None:
        return None
    return Machine(
        bytes_per_ms=device.bandwidth_tb_s * 1e9 * constants.bandwidth_share,
        operations_per_ms=peak * 1e9 * constants.compute_share,
        bf16_operations_per_ms=(device.bf16_tflops or peak)
        * 1e9
        * constants.compute_share,
        prompt_operations_per_ms=peak * 1e9 * constants.prefill_compute_share,
        link_bytes_per_ms=(device.link_gb_s or 50.0) * 1e6,
        weight_bytes=size,
    )


def step_time(
    shape: ModelShape,
    serving: Serving,
    rates: Machine,
    constants: Constants,
    sequences: int,
    queries: int,
) -> StepTime:
    """Return the time of a step in which every sequence brings so many query tokens.

    Memory and compute overlap as sqrt(memory^2 + compute^2); launches, the host and collectives
    come on top.
    """
    memory = _memory_ms(shape, serving, rates, constants, sequences, queries)
    compute = _compute_ms(shape, serving, rates, sequences, queries)
    fixed = constants.step_ms + shape.layers * constants.layer_ms
    if serving.devices > 1:
        fixed += _collectives_ms(shape, serving, rates, constants, sequences * queries)
    return StepTime(
        total_ms=(memory * memory + compute * compute) ** 0.5 + fixed,
        memory_ms=memory,
        compute_ms=compute,
    )


def prompt_ms_per_token(
    shape: ModelShape, serving: Serving, rates: Machine
) -> float | None:
    """Return the prompt's compute in ms per output token, ``None`` when lengths are not told."""
    if not serving.prompt_tokens or not serving.output_tokens:
        return None
    prompt = serving.prompt_tokens
    operations = 2 * shape.active_parameters * prompt
    operations += 2 * prompt * prompt * shape.layers * shape.hidden_size
    per_request = operations / (serving.devices * rates.prompt_operations_per_ms)
    return per_request / serving.output_tokens


def _memory_ms(
    shape: ModelShape,
    serving: Serving,
    rates: Machine,
    constants: Constants,
    sequences: int,
    queries: int,
) -> float:
    copies = serving.data_parallel
    routed = sequences * (1 + (queries - 1) * constants.window_spread)
    weights = (
        shape.dense_parameters * copies
        + shape.expert_parameters * shape.experts_share(routed)
    ) * rates.weight_bytes
    shards = min(serving.devices / copies, shape.kv_shards)
    cached = shape.kv_values * 2.0 * shape.context_read(serving.context_tokens)
    cache_per_device = sequences / copies * cached / shards
    return (weights / serving.devices + cache_per_device) / rates.bytes_per_ms


def _compute_ms(
    shape: ModelShape,
    serving: Serving,
    rates: Machine,
    sequences: int,
    queries: int,
) -> float:
    tokens = sequences * queries
    linear = 2 * tokens * shape.active_parameters
    width = (
        _LATENT_HEADS * _LATENT_READ_WIDTH
        if shape.latent_attention
        else shape.hidden_size
    )
    read = shape.context_read(serving.context_tokens)
    attention = 4 * tokens * read * shape.layers * width
    return (
        linear / rates.operations_per_ms + attention / rates.bf16_operations_per_ms
    ) / serving.devices


def _collectives_ms(
    shape: ModelShape,
    serving: Serving,
    rates: Machine,
    constants: Constants,
    tokens: int,
) -> float:
    share = 2 * (serving.devices - 1) / serving.devices / serving.data_parallel
    payload = tokens * shape.hidden_size * 2.0 * share / rates.link_bytes_per_ms
    return shape.layers * 2 * (constants.collective_ms + payload)
