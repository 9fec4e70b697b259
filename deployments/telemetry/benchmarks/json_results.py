"""JSON results: what ``--save-result``, ``--append-result`` and older scripts write, to fields.

Keys of vLLM 0.6 to 0.32. Acceptance of drafts is in the file since 0.14.0: the rate in percent,
the rates of positions as fractions.
"""

import json
import re
from collections.abc import Iterator, Mapping

from deployments.telemetry.benchmarks.table import MOST_POSITIONS, MOST_RUNS
from deployments.telemetry.benchmarks.values import MEASURES, UNLIMITED, Found

_KEYS = {
    "output_throughput": "output_tokens_per_s",
    "request_throughput": "requests_per_s",
    "duration": "duration_s",
    "total_output_tokens": "generated_tokens",
    "total_input_tokens": "input_tokens",
    "completed": "completed",
    "failed": "failed",
    "num_prompts": "num_prompts",
    "max_concurrency": "max_concurrency",
    "request_rate": "request_rate",
    "burstiness": "burstiness",
    "request_goodput": "goodput_requests_per_s",
    "request_goodput:": "goodput_requests_per_s",
    "total_token_throughput": "total_tokens_per_s",
    "max_output_tokens_per_s": "peak_output_tokens_per_s",
    "max_concurrent_requests": "peak_concurrent_requests",
    "model_id": "model",
    "tokenizer_id": "tokenizer",
    "backend": "backend",
    "endpoint_type": "backend",
    "label": "label",
    "date": "date",
    "spec_decode_acceptance_rate": "rate_percent",
    "spec_decode_acceptance_length": "length",
    "accept_length": "length",
    "spec_decode_num_drafts": "num_drafts",
    "spec_decode_draft_tokens": "drafted",
    "spec_decode_accepted_tokens": "accepted",
    "mean_e2e_latency_ms": "mean_e2el_ms",
    "median_e2e_latency_ms": "median_e2el_ms",
    "p99_e2e_latency_ms": "p99_e2el_ms",
}
_CONDITIONS = frozenset(
    {
        "seed",
        "temperature",
        "dataset_name",
        "dataset_path",
        "ignore_eos",
        "num_warmups",
        "random_input_len",
        "random_output_len",
        "random_range_ratio",
        "endpoint",
        "version",
        "vllm_version",
        "engine",
        "engine_version",
        "device",
        "gpu",
        "hardware",
        "dtype",
        "quantization",
        "tp",
        "tensor_parallel_size",
        "method",
        "num_speculative_tokens",
    }
)
_PROOF = frozenset({"output_throughput", "request_throughput", "mean_tpot_ms"})
_LATENCY = re.compile(
    r"(?:mean|median|std|p\d{1,3}(?:\.\d{1,4})?)_(?:" + "|".join(MEASURES) + r")_ms"
)
_POSITIONS = "spec_decode_per_position_acceptance_rates"
_DEEPEST = 6
_DECODER = json.JSONDecoder(parse_constant=lambda _name: None)
_SCALAR = re.compile(
    r'"(?P<key>[a-z][\w.:]{0,80})"\s{0,8}:\s{0,8}'
    r'(?:"(?P<word>[^"\\]{0,300})"|(?P<number>-?\d{1,20}(?:\.\d{1,25})?(?:[eE][+-]?\d{1,3})?)(?=[\s,}]))'
)
_CUT_POSITIONS = re.compile(
    rf'"{_POSITIONS}"\s{{0,8}}:\s{{0,8}}\[([\d.eE,\s+-]{{1,8192}})\]'
)


def parsed(text: str) -> object | None:
    """A JSON value; ``None`` when the text is none. ``NaN`` and infinities become ``None``."""
    try:
        value: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value


def first_value(lines: list[str]) -> tuple[object | None, int]:
    """The JSON value that begins these lines, and how many lines it takes."""
    joined = "\n".join(lines).lstrip()
    try:
        value, end = _DECODER.raw_decode(joined)
    except (ValueError, RecursionError):
        return None, 0
    return value, joined.count("\n", 0, end) + 1


def results(value: object) -> list[dict[str, Found]]:
    """Every result in a JSON value, as files of sweeps hold lists and maps of them."""
    return [_fields(found) for found in _within(value, 0)][: MOST_RUNS + 1]


def cut_result(text: str) -> dict[str, Found] | None:
    """The fields of a JSON file that ends too early or is damaged."""
    pairs: dict[str, object] = {}
    for match in _SCALAR.finditer(text):
        amount = match["number"]
        pairs.setdefault(match["key"], float(amount) if amount else match["word"])
    if not _PROOF & pairs.keys() and "duration" not in pairs:
        return None
    if positions := _CUT_POSITIONS.search(text):
        pairs[_POSITIONS] = parsed(f"[{positions[1]}]")
    fields = _fields(pairs)
    fields["truncated"] = True
    return fields


def _within(value: object, depth: int) -> Iterator[Mapping[str, object]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        if _PROOF & value.keys():
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for entry in value[: 100 * MOST_RUNS]:
            if isinstance(entry, dict | list):
                yield from _within(entry, depth + 1)


def _fields(result: Mapping[str, object]) -> dict[str, Found]:
    fields: dict[str, Found] = {"source": "json"}
    for key, value in result.items():
        name = _KEYS.get(key) or (key if _LATENCY.fullmatch(key) else None)
        if name is not None and (found := _found(value)) is not None:
            fields[name] = found
        elif key in _CONDITIONS and (found := _found(value)) is not None:
            fields[f"condition:{key}"] = (
                found if not isinstance(found, str) else found[:120]
            )
    rate = fields.pop("rate_percent", None)
    if isinstance(rate, int | float):
        fields["rate"] = rate / 100
    positions = result.get(_POSITIONS)
    if isinstance(positions, list) and 0 < len(positions) <= MOST_POSITIONS:
        rates = [_share(value) for value in positions]
        if None not in rates:
            fields["per_position"] = tuple(rate for rate in rates if rate is not None)
    return fields


def _share(value: object) -> float | None:
    is_share = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_share and 0 <= value <= 1 else None  # type: ignore[operator,arg-type]


def _found(value: object) -> Found | None:
    """A scalar as it is; lists are of single requests and say nothing about the whole run."""
    if isinstance(value, str):
        return value if value.lower() != "infinity" else UNLIMITED
    if isinstance(value, bool | int | float):
        return value
    return None
