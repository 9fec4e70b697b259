"""Bytes of one weight by quantisation: routed experts, the rest of the layers, embeddings."""

import functools
from dataclasses import dataclass

UNQUANTISED = 2.0
FOUR_BIT_EXPERT = 0.53125


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSizes:
    """Bytes of one weight with its scales, by where it stands; ``alone`` is a dense model's layer.

    Embedding and output head stay in two bytes in every published checkpoint of the catalog.
    """

    routed: float
    body: float
    alone: float
    embedding: float = UNQUANTISED


def _sizes(routed: float, body: float, alone: float | None = None) -> WeightSizes:
    return WeightSizes(
        routed=routed, body=body, alone=routed if alone is None else alone
    )


_SIZES = {
    "bf16": _sizes(2.0, 2.0),
    "fp16": _sizes(2.0, 2.0),
    "fp8": _sizes(1.0, 1.0),
    "int8": _sizes(1.0, 1.0),
    "w8a8": _sizes(1.0, 1.0),
    "mxfp8": _sizes(1.03125, 1.03125),
    "w4a8": _sizes(0.53, 1.0),
    "w4a4": _sizes(0.53, 1.0),
    "int4": _sizes(0.5625, 2.0, 0.53),
    "awq": _sizes(0.53, 2.0),
    "gptq": _sizes(0.53, 2.0),
    "nvfp4": _sizes(0.5625, 1.0),
    "fp4": _sizes(0.5625, 1.0),
    "mxfp4": _sizes(FOUR_BIT_EXPERT, 2.0),
}
"""Scales: one byte to 16 weights (NVFP4) or 32 (MXFP4, MXFP8), two bytes to 32 (int4 of Kimi-K2) or
to 128 (AWQ, GPTQ). Which parts stay unquantised follows the published checkpoints: four-bit ones
of mixtures keep attention in one (NVFP4, w4a8) or two bytes (int4, MXFP4)."""

QUANTISATIONS = (*_SIZES, "w8a8c8", "w4a8c8")
"""Spellings that people choose from."""


@functools.lru_cache(maxsize=256)
def weight_sizes(quantisation: str | None) -> WeightSizes | None:
    """Return the sizes, ``None`` for an unknown quantisation; ``w8a8c8`` weighs what ``w8a8`` does."""
    name = (quantisation or "").lower()
    known = [key for key in _SIZES if name.startswith(key)]
    return _SIZES[max(known, key=len)] if known else None


def quantises_cache(quantisation: str | None) -> bool:
    """Whether the checkpoint brings a one-byte KV cache: names that end in c8."""
    return (quantisation or "").lower().endswith("c8")
