"""Conditions: whether two runs differ in nothing but speculation."""

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from deployments.planning.text import Text, text
from deployments.telemetry.benchmarks.values import BenchmarkRun

MOST_FAILURES = 0.01
"""With a larger share of failed requests the rest met less load than was meant."""

INPUT_TOLERANCE = 0.02
OUTPUT_TOLERANCE = 0.10
"""Mean lengths may differ by this much: tokenisers re-encode, answers end where they will."""

COLD = "cold"
"""The condition ``prefix_cache`` of a run that could find nothing of earlier ones in the prefix cache."""
RANDOM_DATASETS = frozenset({"random", "random-mm", "prefix_repetition"})
_SPECULATION_ONLY = frozenset({"method", "num_speculative_tokens"})


def differences(
    off: Iterable[BenchmarkRun], on: Iterable[BenchmarkRun]
) -> tuple[Text, ...]:
    """Every reason not to compare the runs of two arms; none when they may be compared."""
    said: dict[Text, None] = {}
    for first, second in product(list(off), list(on)):
        said |= dict.fromkeys(_between(first, second))
    return tuple(said)


def failures(runs: Iterable[BenchmarkRun]) -> tuple[Text, ...]:
    """A sentence for each run with too many failed requests."""
    return tuple(
        text(
            "{failed} of {sent} requests failed, more than 1 %: mend that and measure again.",
            failed=run.failed or 0,
            sent=run.requests or 0,
        )
        for run in runs
        if (run.failure_share or 0) > MOST_FAILURES
    )


def random_tokens(runs: Iterable[BenchmarkRun]) -> bool:
    """Whether a run is known to have sent random tokens, which nobody's drafter was made for."""
    return any(run.conditions.get("dataset_name") in RANDOM_DATASETS for run in runs)


def _between(first: BenchmarkRun, second: BenchmarkRun) -> Iterator[Text]:
    pairs: tuple[tuple[Text, object, object, Callable[[object, object], bool]], ...] = (
        (text("model"), first.model, second.model, _same_name),
        (text("API"), first.backend, second.backend, _same),
        (text("burstiness"), first.burstiness, second.burstiness, _same),
        (text("number of prompts"), first.requests, second.requests, _same),
        (
            text("mean input length"),
            _input(first),
            _input(second),
            _within(INPUT_TOLERANCE),
        ),
        (
            text("mean output length"),
            _output(first),
            _output(second),
            _within(OUTPUT_TOLERANCE),
        ),
        *(
            (Text(name), first.conditions[name], second.conditions[name], _same)
            for name in sorted(first.conditions.keys() & second.conditions.keys())
            if name not in _SPECULATION_ONLY
        ),
    )
    for what, before, after, same in pairs:
        if before is not None and after is not None and not same(before, after):
            yield text(
                "The runs differ in more than speculation: {what} is {before} in the first and {after} in the second.",
                what=what,
                before=_said(before),
                after=_said(after),
            )


def _said(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _same(before: object, after: object) -> bool:
    return before == after


def _same_name(before: object, after: object) -> bool:
    """A model may be named by its path in one run and by its last part in the other."""
    one, other = str(before).rstrip("/").lower(), str(after).rstrip("/").lower()
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _within(tolerance: float) -> Callable[[object, object], bool]:
    def near(before: object, after: object) -> bool:
        if not isinstance(before, float) or not isinstance(after, float):
            return True
        return abs(before - after) <= tolerance * max(before, after)

    return near


def _input(run: BenchmarkRun) -> float | None:
    """Mean input tokens of a request that was answered."""
    known = run.input_tokens is not None and run.completed
    return run.input_tokens / run.completed if known else None  # type: ignore[operator]


def _output(run: BenchmarkRun) -> float | None:
    """Mean output tokens of a request that was answered."""
    known = run.generated_tokens is not None and run.completed
    return run.generated_tokens / run.completed if known else None  # type: ignore[operator]
