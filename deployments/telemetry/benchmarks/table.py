"""Table: the block that ``vllm bench serve`` prints, to fields.

Labels of vLLM 0.6 to 0.32 and of the older ``benchmark_serving.py``; SGLang's ``bench_serving``
prints nearly the same ones. Labels are looked for anywhere in a line, so that what a runtime puts
in front does no harm.
"""

import re
from collections.abc import Iterable

from deployments.telemetry.benchmarks.values import UNLIMITED, Found

MOST_RUNS = 1000
MOST_POSITIONS = 256

_LABELS = {
    "successful requests": "completed",
    "failed requests": "failed",
    "maximum request concurrency": "max_concurrency",
    "max request concurrency": "max_concurrency",
    "request rate configured (rps)": "request_rate",
    "traffic request rate": "request_rate",
    "burstiness factor": "burstiness",
    "benchmark duration (s)": "duration_s",
    "total input tokens": "input_tokens",
    "total generated tokens": "generated_tokens",
    "request throughput (req/s)": "requests_per_s",
    "request goodput (req/s)": "goodput_requests_per_s",
    "output token throughput (tok/s)": "output_tokens_per_s",
    "peak output token throughput (tok/s)": "peak_output_tokens_per_s",
    "peak concurrent requests": "peak_concurrent_requests",
    "total token throughput (tok/s)": "total_tokens_per_s",
    "acceptance rate (%)": "rate_percent",
    "acceptance length": "length",
    "accept length": "length",
    "drafts": "num_drafts",
    "draft tokens": "drafted",
    "accepted tokens": "accepted",
}
_CONTEXT = {"max_concurrency", "request_rate", "burstiness"}
_HEADER = re.compile(r"=\s?Serving Benchmark Result\s?=", re.IGNORECASE)
_CLOSED = re.compile(r"={30,}\s*$")
_ROW = re.compile(
    r"(?<!peak )(?<!mean )(?<!avg )(?<!draft )(?<!input )(?<![\w-])(?P<label>"
    + "|".join(re.escape(label) for label in sorted(_LABELS, key=len, reverse=True))
    + r")\s{0,8}:\s{0,64}(?P<value>[^\s|]{1,40})",
    re.IGNORECASE,
)
_LATENCY = re.compile(
    r"\b(?P<kind>mean|median|std|p\d{1,3}(?:\.\d{1,4})?)\s(?P<measure>TTFT|TPOT|ITL|E2EL|E2E Latency)"
    r"\s\(ms\)\s{0,8}:\s{0,64}(?P<value>[^\s|]{1,40})",
    re.IGNORECASE,
)
_POSITION = re.compile(
    r"\bposition (?P<index>\d{1,3})\s{0,8}:\s{0,64}(?P<value>[^\s|]{1,40})",
    re.IGNORECASE,
)
_V0 = re.compile(r"Speculative metrics: ")
_V0_FIELDS = (
    (re.compile(r"Number of speculative tokens: (\d{1,4})"), "num_speculative_tokens"),
    (re.compile(r"Number of accepted tokens: (\d{1,15})"), "accepted"),
    (re.compile(r"Number of draft tokens: (\d{1,15})"), "drafted"),
    (re.compile(r"Number of emitted tokens: (\d{1,15})"), "emitted"),
)
_NAMESPACE = re.compile(r"\bNamespace\(")
_ARGUMENT = re.compile(
    r"\b(?P<name>dataset_name|dataset_path|seed|temperature|ignore_eos|num_warmups|endpoint"
    r"|random_input_len|random_output_len|random_range_ratio|hf_subset|hf_split|hf_name"
    r"|sharegpt_output_len|custom_output_len|model|tokenizer|backend|num_prompts|label)="
    r"(?:'(?P<quoted>[^']{0,300})'|(?P<plain>[^,()\s]{1,60}))"
)
_OF_THE_RUN = {"model", "tokenizer", "backend", "num_prompts", "label"}
_NUMBER = re.compile(r"[*`]{0,4}(\d[\d,_]*(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)[%*`]{0,4}$")


def tables(messages: Iterable[str]) -> list[dict[str, Found]]:
    """Find every result block; one begins at its heading, or where a label comes again."""
    reader = _Reader()
    for message in messages:
        reader.take(message)
        if len(reader.runs) > MOST_RUNS:
            break
    return reader.finish()


class _Reader:
    """Collects fields of the open block, and what was said before it."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Found]] = []
        self.open: dict[str, Found] = {}
        self.before: dict[str, Found] = {}
        self.arguments: dict[str, Found] = {}
        self.positions: list[float] = []

    def take(self, message: str) -> None:
        """Read one line."""
        if _NAMESPACE.search(message):
            self._close()
            self.arguments = _arguments(message)
        elif _HEADER.search(message) or _CLOSED.search(message):
            self._close()
        elif _V0.search(message):
            self._earlier(message)
        elif position := _POSITION.search(message):
            self._position(int(position["index"]), _amount(position["value"]))
        elif latency := _LATENCY.search(message):
            measure = latency["measure"].lower().replace("e2e latency", "e2el")
            self._field(f"{latency['kind'].lower()}_{measure}_ms", latency["value"])
        elif row := _ROW.search(message):
            self._field(_LABELS[row["label"].lower()], row["value"])
        elif message.lstrip().startswith("#"):
            self._heading(message)

    def finish(self) -> list[dict[str, Found]]:
        """Every block; one that was cut counts as well."""
        self._close()
        if len(self.runs) == 1 and "accepted" not in self.runs[0]:
            self.runs[0] |= {
                name: value
                for name, value in self.before.items()
                if name not in _CONTEXT
            }
        return self.runs

    def _field(self, name: str, written: str) -> None:
        value: Found | None = _amount(written)
        if name == "request_rate" and written.lower().startswith(UNLIMITED):
            value = UNLIMITED
        if name in _CONTEXT and not self.open:
            if value is not None:
                self.before[name] = value
            return
        if name in self.open:
            self._close()
        if name == "rate_percent":
            name = "rate"
            value = value / 100 if isinstance(value, float) else None
            if name in self.open:
                self._close()
        # An unusable value is kept as a word, so that the label counts as seen.
        self.open[name] = value if value is not None else written

    def _position(self, index: int, value: float | None) -> None:
        if index == len(self.positions) < MOST_POSITIONS and value is not None:
            self.positions.append(round(value / 100, 6))

    def _earlier(self, message: str) -> None:
        """vLLM V0 told its counters in the log of the server."""
        self._close()
        for pattern, name in _V0_FIELDS:
            if found := pattern.search(message):
                self.before[name] = int(found[1])

    def _heading(self, message: str) -> None:
        self._close()
        self.before["label"] = message.lstrip("# \t").strip()[:120]

    def _close(self) -> None:
        if self.positions:
            self.open["per_position"] = tuple(self.positions)
        if self.open:
            self.runs.append(self.arguments | self.before | self.open)
            self.before = {}
        self.open, self.positions = {}, []


def _arguments(message: str) -> dict[str, Found]:
    """The arguments of the benchmark that say how it was run; credentials are not among them."""
    found: dict[str, Found] = {}
    for match in _ARGUMENT.finditer(message[: 64 * 1024]):
        value = match["quoted"] if match["quoted"] is not None else match["plain"]
        name = match["name"]
        if value in {"None", ""} or f"condition:{name}" in found or name in found:
            continue
        if name == "num_prompts":
            found[name] = int(value) if value.isdecimal() else value
        elif name in _OF_THE_RUN:
            found[name] = value
        else:
            found[f"condition:{name}"] = value
    return found


def _amount(written: str) -> float | None:
    match = _NUMBER.match(written)
    return float(match[1].replace(",", "").replace("_", "")) if match else None
