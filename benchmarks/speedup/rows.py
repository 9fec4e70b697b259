"""Published measurements of speculation as cases of the speed model, and why some cannot be used."""

import csv
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from deployments.planning.errors import PlanningError
from deployments.planning.speedup.accelerators import find_accelerator
from deployments.planning.speedup.constants import Constants
from deployments.planning.speedup.cost import Case, case_of
from deployments.planning.speedup.drafting import DrafterKind, Drafting
from deployments.planning.speedup.shape import ModelShape, shape_of_name
from deployments.planning.speedup.step_time import Serving, weight_bytes

SHIPPED_POINTS = Path(__file__).resolve().parent.parent / "data" / "speculation.csv"
LARGEST_CONCURRENCY = 64
USUAL_CONTEXT = 600
_DEVICES_PER_HOST = 8
_WEIGHTS_SHARE_OF_MEMORY = 0.45
_GIGABYTES = {"A100": 80, "H100": 80, "H200": 141, "B200": 180, "B300": 275}
_MORE_GIGABYTES = {"GB200": 185, "H20": 96, "MI300X": 192, "MI355X": 288, "L40S": 48}
_DEVICES = {"Ascend 910B (A2)": "910B3"}
_KINDS = {
    "eagle3": DrafterKind.EAGLE3,
    "eagle": DrafterKind.EAGLE,
    "frspec": DrafterKind.REDUCED_EAGLE,
    "mtp": DrafterKind.MTP,
    "peagle": DrafterKind.PARALLEL,
    "dflash": DrafterKind.PARALLEL,
    "dspark": DrafterKind.PARALLEL,
    "ngram": DrafterKind.LOOKUP,
    "suffix": DrafterKind.LOOKUP,
}
_LAYERS = {"peagle": 4}
_NEEDED = ("mean_acceptance_length", "k", "model", "hardware", "concurrency", "speedup")
_LENGTHS = (
    re.compile(
        r"ISL(?P<prompt>\d+)(?P<a>k?)/OSL(?P<output>\d+)(?P<b>k?)", re.IGNORECASE
    ),
    re.compile(r"\b(?P<prompt>\d+)(?P<a>k?)/(?P<output>\d+)(?P<b>k?)", re.IGNORECASE),
)
_EARLY_NUMBERS = {"vllm": 22_000, "sglang": 5_600}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One usable row. ``length`` is the mean acceptance length, bonus token included."""

    key: str
    source: str
    model: str
    hardware: str
    method: str
    sweep: str
    count: int
    sequences: int
    length: float
    length_is_bound: bool
    speedup: float
    shape: ModelShape
    serving: Serving
    drafting: Drafting

    @property
    def deployment(self) -> tuple[str, str, str, str]:
        """What is calibrated together: source, model, hardware and method."""
        return (self.source, self.model, self.hardware, self.method)

    def case(self, constants: Constants) -> Case:
        """Return the row as a case under these constants."""
        case = case_of(self.shape, self.serving, self.drafting, constants)
        if case is None:
            raise PlanningError(f"The row {self.key} names a device without figures.")
        return case

    def tokens_per_step(self, constants: Constants) -> float:
        """Return the tokens per step; where only an upper bound is known, the expected part."""
        if not self.length_is_bound:
            return self.length
        return 1 + constants.lookup_share * (self.length - 1)

    def predicted(self, constants: Constants) -> float:
        """Return the predicted speed-up."""
        cost = self.case(constants).cost(self.sequences, self.count)
        return cost.speedup(self.tokens_per_step(constants))


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """A file of measurements: what can be used, and for the rest the reason."""

    rows: int
    measurements: tuple[Measurement, ...]
    left_out: dict[str, str]

    def digest(self) -> str:
        """Return the SHA-256 of what a fit uses: who measured what, in the order of the keys."""
        lines = sorted(
            f"{row.key},{row.source},{row.count},{row.sequences},{row.length:g},{row.speedup:g}"
            for row in self.measurements
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_points(path: Path) -> Points:
    """Read a file shaped like the shipped one."""
    measurements, left_out = [], {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        found = measurement_of(row)
        if isinstance(found, Measurement):
            measurements.append(found)
        else:
            left_out[row["id"]] = found
    return Points(rows=len(rows), measurements=tuple(measurements), left_out=left_out)


def measurement_of(row: dict[str, str]) -> Measurement | str:
    """Return the row as a measurement, or the reason why the model cannot be asked about it."""
    reason = _why_not(row)
    if reason is not None:
        return reason
    shape = shape_of_name(
        row["model"],
        _billions(row.get("params_total_b")),
        _billions(row.get("params_active_b")),
    )
    if shape is None:
        return "the size of the model is not stated"
    try:
        serving = _serving(row, shape)
    except PlanningError:
        return "no public bandwidth and peak of the device"
    return Measurement(
        key=row["id"],
        source=row["source"],
        model=row["model"],
        hardware=row["hardware"],
        method=row["method"],
        sweep="|".join(
            row.get(name, "")
            for name in ("source", "model", "hardware", "method", "dataset")
        )
        + f"|{row['concurrency']}|{row.get('note', '')}",
        count=int(row["k"]),
        sequences=int(row["concurrency"]) * serving.data_parallel,
        length=float(row["mean_acceptance_length"]),
        length_is_bound="upper bound" in row.get("al_src", ""),
        speedup=float(row["speedup"]),
        shape=shape,
        serving=serving,
        drafting=Drafting(
            kind=_KINDS[row["method"]],
            parallel_layers=_LAYERS.get(row["method"], 5),
        ),
    )


def _why_not(row: dict[str, str]) -> str | None:
    missing = [name for name in _NEEDED if not row.get(name)]
    if missing:
        return f"not stated: {', '.join(missing)}"
    reasons = {
        "tree drafts, which vLLM does not run": row["topology"]
        not in ("chain", "parallel"),
        "llama.cpp: other kernels and one sequence only": row["engine"] == "llamacpp",
        f"the method {row['method']} is not one of vLLM": row["method"] not in _KINDS,
        "the quantisation is not stated": weight_bytes(row["quant"]) is None,
        f"above {LARGEST_CONCURRENCY} sequences, where no row can check it": int(
            row["concurrency"]
        )
        > LARGEST_CONCURRENCY,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _serving(row: dict[str, str], shape: ModelShape) -> Serving:
    device = find_accelerator(_DEVICES.get(row["hardware"], row["hardware"]))
    told = row.get("num_devices")
    devices = int(told) if told else _usual_devices(row, shape)
    per_rank = "per rank" in row.get("note", "")
    prompt, output = _lengths(row.get("dataset", ""))
    serves_prompts = row["metric"] in ("out_tput", "total_tput") and not per_rank
    return Serving(
        accelerator=device,
        devices=devices,
        data_parallel=devices if per_rank else 1,
        quantisation=row["quant"],
        context_tokens=prompt + output / 2 if prompt and output else USUAL_CONTEXT,
        prompt_tokens=prompt if serves_prompts else None,
        output_tokens=output if serves_prompts else None,
        early_engine=is_early(row["source"], row["engine"]),
    )


def _usual_devices(row: dict[str, str], shape: ModelShape) -> int:
    """The smallest power of two whose memory is at most 45 % weights, within one host."""
    gigabytes = (_GIGABYTES | _MORE_GIGABYTES).get(row["hardware"], 64)
    weights = shape.parameters * (weight_bytes(row["quant"]) or 2.0) / 1e9
    devices = 1
    while (
        weights / devices > _WEIGHTS_SHARE_OF_MEMORY * gigabytes
        and devices < _DEVICES_PER_HOST
    ):
        devices *= 2
    return devices


def _lengths(dataset: str) -> tuple[int | None, int | None]:
    for pattern in _LENGTHS:
        match = pattern.search(dataset)
        if match:
            prompt = int(match["prompt"]) * (1024 if match["a"] else 1)
            return prompt, int(match["output"]) * (1024 if match["b"] else 1)
    return None, None


def is_early(source: str, engine: str) -> bool:
    """Whether a source measured an engine of 2024 or early 2025, by its own numbering."""
    if engine == "vllm-v0" or source.startswith("EAGLE-3 paper"):
        return True
    match = re.match(r"(vllm|sglang)#(\d+)", source)
    return match is not None and int(match[2]) < _EARLY_NUMBERS[match[1]]


def _billions(text: str | None) -> float | None:
    return float(text) * 1e9 if text else None
