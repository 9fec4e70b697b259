"""Values: one run of a benchmark, and how it is put together from the fields that were found."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Found = str | float | int | bool | Sequence[float]
"""What one field of a table or a JSON file holds, in the units of ``BenchmarkRun``."""

UNLIMITED = "inf"
"""A request rate without a limit, as vLLM writes it."""

MEASURES = ("ttft", "tpot", "itl", "e2el")
LARGEST = 2.0**53

_NUMBERS = (
    "output_tokens_per_s",
    "requests_per_s",
    "duration_s",
    "burstiness",
    "mean_ttft_ms",
    "mean_tpot_ms",
    "mean_itl_ms",
    "mean_e2el_ms",
    "goodput_requests_per_s",
    "total_tokens_per_s",
    "peak_output_tokens_per_s",
    "peak_concurrent_requests",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpeculation:
    """Speculation during a run: rates are fractions, counts are tokens and drafts.

    Rate and length are recomputed from counts when these are there: vLLM prints two decimals.
    ``per_position`` is from the first draft position on.
    """

    acceptance_rate: float | None = None
    mean_acceptance_length: float | None = None
    num_drafts: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    per_position: tuple[float, ...] | None = None
    num_speculative_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRun:
    """One result block; ``None`` is not said, never 0.

    Times of tokens are milliseconds, the duration is seconds. ``percentiles`` holds what was
    asked for besides the means, such as ``p99_ttft_ms`` and ``std_tpot_ms``. ``conditions`` are
    other facts about how the run was made: ``seed``, ``temperature``, ``dataset`` and the like.
    """

    output_tokens_per_s: float | None = None
    requests_per_s: float | None = None
    duration_s: float | None = None
    generated_tokens: int | None = None
    input_tokens: int | None = None
    mean_ttft_ms: float | None = None
    mean_tpot_ms: float | None = None
    mean_itl_ms: float | None = None
    mean_e2el_ms: float | None = None
    speculation: RunSpeculation | None = None
    completed: int | None = None
    failed: int | None = None
    num_prompts: int | None = None
    max_concurrency: int | None = None
    request_rate: float | str | None = None
    burstiness: float | None = None
    goodput_requests_per_s: float | None = None
    total_tokens_per_s: float | None = None
    peak_output_tokens_per_s: float | None = None
    peak_concurrent_requests: float | None = None
    percentiles: dict[str, float] = field(default_factory=dict)
    model: str | None = None
    tokenizer: str | None = None
    backend: str | None = None
    label: str | None = None
    date: str | None = None
    conditions: dict[str, str] = field(default_factory=dict)
    source: str = "table"
    truncated: bool = False

    @property
    def requests(self) -> int | None:
        """Requests that were sent, as far as the result tells."""
        if self.completed is not None and self.failed is not None:
            return self.completed + self.failed
        return self.num_prompts if self.num_prompts is not None else self.completed

    @property
    def failure_share(self) -> float | None:
        """Failed requests as a share of those sent."""
        sent = self.requests
        return self.failed / sent if self.failed is not None and sent else None


def built(fields: Mapping[str, Found]) -> BenchmarkRun:
    """Make a run of the fields that were found; what is no usable number becomes unknown."""
    completed, prompts = whole(fields, "completed"), whole(fields, "num_prompts")
    failed = whole(fields, "failed")
    if failed is None and completed is not None and prompts is not None:
        failed = prompts - completed if prompts >= completed else None
    return BenchmarkRun(
        **{  # type: ignore[arg-type]
            name: number(fields, name) for name in _NUMBERS
        },
        **{  # type: ignore[arg-type]
            name: word(fields, name)
            for name in ("model", "tokenizer", "backend", "label", "date")
        },
        generated_tokens=whole(fields, "generated_tokens"),
        input_tokens=whole(fields, "input_tokens"),
        max_concurrency=whole(fields, "max_concurrency"),
        completed=completed,
        failed=failed,
        num_prompts=prompts,
        request_rate=_rate(fields),
        speculation=_speculation(fields),
        percentiles={
            name: value
            for name in sorted(fields)
            if name.endswith(tuple(f"_{measure}_ms" for measure in MEASURES))
            and not name.startswith("mean_")
            and (value := number(fields, name)) is not None
        },
        conditions={
            name.removeprefix("condition:"): str(value)
            for name, value in sorted(fields.items())
            if name.startswith("condition:")
        },
        source=word(fields, "source") or "table",
        truncated=fields.get("truncated") is True,
    )


def number(fields: Mapping[str, Found], name: str) -> float | None:
    """A number that can be worked with; negative, infinite and enormous ones are unknown."""
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LARGEST and math.isfinite(value) else None


def whole(fields: Mapping[str, Found], name: str) -> int | None:
    """A count."""
    value = number(fields, name)
    return int(value) if value is not None else None


def word(fields: Mapping[str, Found], name: str) -> str | None:
    """A name, cut to a length that fits a page."""
    value = fields.get(name)
    return value[:300] if isinstance(value, str) and value else None


def _rate(fields: Mapping[str, Found]) -> float | str | None:
    if fields.get("request_rate") == UNLIMITED:
        return UNLIMITED
    return number(fields, "request_rate")


def _speculation(fields: Mapping[str, Found]) -> RunSpeculation | None:
    drafts, drafted = whole(fields, "num_drafts"), whole(fields, "drafted")
    accepted, emitted = whole(fields, "accepted"), whole(fields, "emitted")
    positions = _positions(fields)
    count = whole(fields, "num_speculative_tokens") or (
        len(positions) if positions else None
    )
    if drafts is None and drafted and count and emitted is not None:
        drafts = drafted // count
    if count is None and drafts and drafted and drafted % drafts == 0:
        count = drafted // drafts
    rate, length = number(fields, "rate"), number(fields, "length")
    if accepted is not None and drafted:
        rate = accepted / drafted
    if emitted is not None and drafts:
        length = emitted / drafts
    elif accepted is not None and drafts:
        length = 1 + accepted / drafts
    if drafted == 0:
        rate = length = None
    value = RunSpeculation(
        acceptance_rate=rate if rate is None or rate <= 1 else None,
        mean_acceptance_length=length,
        num_drafts=drafts,
        drafted=drafted,
        accepted=accepted,
        per_position=positions,
        num_speculative_tokens=count,
    )
    return value if value != RunSpeculation() else None


def _positions(fields: Mapping[str, Found]) -> tuple[float, ...] | None:
    listed = fields.get("per_position")
    if isinstance(listed, str | bool | int | float) or not listed:
        return None
    return tuple(listed)
