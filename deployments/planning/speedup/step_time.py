"""How long one step of the target model takes: a roofline over weights, KV cache and compute."""

import math
from dataclasses import dataclass

from deployments.planning.speedup.accelerators import Accelerator
from deployments.planning.speedup.constants import Constants
from deployments.planning.speedup.shape import ModelShape

_LATENT_WIDTHS = 128 * 576
_CACHE_BYTES = 2.0
_USUAL_LINK_GB_S = 50.0
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
class Rates:
    """What one device reaches: bytes and operations per millisecond."""

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


def reachable_rates(serving: Serving, constants: Constants) -> Rates | None:
    """Return the reachable rates of one device, ``None`` where a figure of it is unknown."""
    device = serving.accelerator
    peak = device.peak_tflops(serving.quantisation)
    size = weight_bytes(serving.quantisation)
    if device.bandwidth_tb_s is None or peak is None or size is None:
        return None
    bf16 = device.bf16_tflops or peak
    return Rates(
        bytes_per_ms=device.bandwidth_tb_s * 1e9 * constants.bandwidth_share,
        operations_per_ms=peak * 1e9 * constants.compute_share,
        bf16_operations_per_ms=bf16 * 1e9 * constants.compute_share,
        prompt_operations_per_ms=peak * 1e9 * constants.prefill_compute_share,
        link_bytes_per_ms=(device.link_gb_s or _USUAL_LINK_GB_S) * 1e6,
        weight_bytes=size,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """A target model on its devices, with the constants to judge it by."""

    shape: ModelShape
    serving: Serving
    constants: Constants
    rates: Rates

    def step(self, sequences: int, queries: int) -> StepTime:
        """Return the time of a step in which every sequence brings so many query tokens.

        Matrix products and attention are kernels after one another; within each, memory and compute
        overlap as sqrt(memory^2 + compute^2). Launches, the host and collectives come on top.
        """
        tokens = sequences * queries
        weights, products = (
            self._weights_ms(sequences, queries),
            self._products_ms(tokens),
        )
        cache, attention = self._cache_ms(sequences), self._attention_ms(tokens)
        constants = self.constants
        fixed = constants.step_ms + self.shape.layers * constants.layer_ms
        if self.serving.devices > 1:
            fixed += self._collectives_ms(tokens)
        return StepTime(
            total_ms=math.hypot(weights, products)
            + math.hypot(cache, attention)
            + fixed,
            memory_ms=weights + cache,
            compute_ms=products + attention,
        )

    def prompt_ms_per_token(self) -> float | None:
        """Return the prompts' compute in ms per output token, ``None`` when lengths are not told."""
        prompt, output = self.serving.prompt_tokens, self.serving.output_tokens
        if not prompt or not output:
            return None
        shape = self.shape
        operations = 2 * shape.active_parameters * prompt
        operations += 2 * prompt * prompt * shape.layers * shape.hidden_size
        rate = self.serving.devices * self.rates.prompt_operations_per_ms
        return operations / rate / output

    def _weights_ms(self, sequences: int, queries: int) -> float:
        shape, serving = self.shape, self.serving
        routed = sequences * (1 + (queries - 1) * self.constants.window_spread)
        parameters = (
            shape.dense_parameters * serving.data_parallel
            + shape.expert_parameters * shape.experts_share(routed)
        )
        read = parameters * self.rates.weight_bytes / serving.devices
        return read / self.rates.bytes_per_ms

    def _cache_ms(self, sequences: int) -> float:
        shape, serving = self.shape, self.serving
        shards = min(serving.devices / serving.data_parallel, shape.kv_shards)
        context = shape.context_read(serving.context_tokens)
        cached = shape.kv_values * _CACHE_BYTES * context
        return (
            sequences
            / serving.data_parallel
            * cached
            / shards
            / self.rates.bytes_per_ms
        )

    def _products_ms(self, tokens: int) -> float:
        operations = 2 * tokens * self.shape.active_parameters
        return operations / self.rates.operations_per_ms / self.serving.devices

    def _attention_ms(self, tokens: int) -> float:
        shape = self.shape
        width = _LATENT_WIDTHS if shape.latent_attention else shape.hidden_size
        context = shape.context_read(self.serving.context_tokens)
        operations = 4 * tokens * context * shape.layers * width
        return operations / self.rates.bf16_operations_per_ms / self.serving.devices

    def _collectives_ms(self, tokens: int) -> float:
        devices, copies = self.serving.devices, self.serving.data_parallel
        share = 2 * (devices - 1) / devices / copies
        payload = tokens * self.shape.hidden_size * 2.0 * share
        payload /= self.rates.link_bytes_per_ms
        return self.shape.layers * 2 * (self.constants.collective_ms + payload)
