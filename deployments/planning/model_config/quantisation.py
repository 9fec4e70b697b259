"""Quantisation of a checkpoint as its config.json states it."""

from dataclasses import dataclass

from deployments.planning.model_config.values import Config
from deployments.planning.text import Text, text

ASCEND = "ascend"
_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_PLAIN = {"fp8": "fp8", "mxfp4": "mxfp4", "mxfp8": "mxfp8", "gpt_oss_mxfp4": "mxfp4"}
_MODELOPT = {
    "FP8": "fp8",
    "FP8_PB_WO": "fp8",
    "NVFP4": "nvfp4",
    "MXFP8": "mxfp8",
    "MXFP4": "mxfp4",
    "W4A8_AWQ": "w4a8",
}
_ASCEND = ("w8a8c8", "w8a8", "w4a8c8", "w4a8", "w4a4", "w8a16", "w4a16", "mxfp8")
_COMPRESSED = {
    ("float", 8, True): "fp8",
    ("float", 8, False): "fp8",
    ("int", 8, True): "w8a8",
    ("int", 8, False): "int8",
    ("int", 4, True): "w4a8",
    ("int", 4, False): "int4",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantisationReading:
    """``name`` is ``None`` where it cannot be told; ``flag`` is the value of ``--quantization``
    that the engine needs besides the file, ``None`` when it reads it there."""

    name: str | None
    place: str = ""
    flag: str | None = None
    why: Text | None = None


def read_quantisation(whole: Config, inner: Config) -> QuantisationReading:
    """Read ``quantization_config`` (or ``compression_config``), ``quantize`` of Ascend, else the type."""
    ascend = whole.name("quantize") or inner.name("quantize")
    if ascend is not None:
        return _ascend(ascend, whole.path("quantize"))
    for config in (whole, inner):
        given = config.inner("quantization_config", "compression_config")
        if given is not None:
            return _given(given)
    for config in (whole, inner):
        kind = config.name("dtype", "torch_dtype")
        if kind is not None:
            known = _TYPES.get(kind.removeprefix("torch."))
            if known is not None:
                return QuantisationReading(name=known, place=config.path("dtype"))
    return QuantisationReading(
        name=None,
        why=text("There is neither quantization_config nor dtype."),
    )


def _given(given: Config) -> QuantisationReading:
    method = (given.name("quant_method") or "").lower()
    if method in _PLAIN:
        return QuantisationReading(name=_PLAIN[method], place=given.place)
    if method == ASCEND:
        written = given.name("quant_type", "quantize", "model_quant_type") or ""
        return _ascend(written, given.place)
    if method in {"awq", "gptq", "auto-round", "auto_round", "gptq_marlin"}:
        return _by_bits(given, "awq" if method == "awq" else "gptq")
    if method == "compressed-tensors":
        return _compressed(given)
    if method in {"modelopt", "modelopt_fp4", "modelopt_mxfp8"} or given.has(
        "quant_algo"
    ):
        return _named(given, _MODELOPT.get((given.name("quant_algo") or "").upper()))
    return _named(given, None)


def _by_bits(given: Config, four: str) -> QuantisationReading:
    bits = given.count("bits", "w_bit", "num_bits")
    return _named(given, {4: four, 8: "int8"}.get(bits or 0))


def _compressed(given: Config) -> QuantisationReading:
    """One group, or groups of one kind; anything mixed is asked for."""
    packed = (given.name("format") or "").lower()
    for start in ("nvfp4", "mxfp4", "mxfp8"):
        if packed.startswith(start):
            return _named(given, start)
    groups = given.inner("config_groups")
    found = {
        _group(inner)
        for key in (groups.values if groups else {})
        if groups is not None and (inner := groups.inner(key)) is not None
    }
    return _named(given, found.pop() if len(found) == 1 else None)


def _group(group: Config) -> str | None:
    weights = group.inner("weights")
    if weights is None:
        return None
    kind, bits = weights.name("type") or "", weights.count("num_bits") or 0
    if (kind, bits) == ("float", 4):
        return {16: "nvfp4", 32: "mxfp4"}.get(weights.count("group_size") or 0)
    return _COMPRESSED.get((kind, bits, group.has("input_activations")))


def _ascend(written: str, place: str) -> QuantisationReading:
    name = written.lower().replace("_", "")
    known = next((one for one in _ASCEND if name.startswith(one)), None)
    why = None
    if known is None:
        why = text(
            "The quantisation of Ascend, {name}, is not one that the panel knows.",
            name=repr(written),
        )
    return QuantisationReading(name=known, place=place, flag=ASCEND, why=why)


def _named(given: Config, name: str | None) -> QuantisationReading:
    if name is not None:
        return QuantisationReading(name=name, place=given.place)
    return QuantisationReading(
        name=None,
        place=given.place,
        why=text(
            "{place} ({method}) does not name one quantisation that the panel knows.",
            place=given.place,
            method=given.name("quant_method", "quant_algo") or text("no quant_method"),
        ),
    )
