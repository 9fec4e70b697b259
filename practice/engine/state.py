"""State: the engines of one server, their counts, and the lines that they print about them."""

import random
import threading
import time
from collections.abc import Iterator

from practice.engine.drafting import Counts, Step, decode_steps
from practice.engine.latencies import Latencies
from practice.engine.modes import PADDED_LINE_BYTES, Modes
from practice.engine.output import Output
from practice.engine.speculation import Speculation

SYNTHETIC_PROMPT_TOKENS = 32
SYNTHETIC_TOKENS = 64
SYNTHETIC_STEP_S = 0.02
"""How long a step of the synthetic load is said to take; it is counted at once."""
SYNTHETIC_FIRST_STEPS = 4


class EngineState:
    """One data parallel engine: counts since the start and since its last line."""

    def __init__(self, index: int, positions: int) -> None:
        self.index = index
        self.counts = Counts(per_position=[0] * positions)
        self.latencies = Latencies()
        self.running = 0
        self._printed = self.counts.copy()
        self._printed_at = self._drafts_printed_at = time.monotonic()
        self._was_idle = True

    def take_interval(self) -> tuple[Counts, float, float]:
        """Return the counts since the last call and the seconds since the last two prints."""
        now = time.monotonic()
        interval = self.counts.since(self._printed)
        elapsed = max(now - self._printed_at, 1e-6)
        drafting = max(now - self._drafts_printed_at, 1e-6)
        self._printed, self._printed_at = self.counts.copy(), now
        if interval.drafts:
            self._drafts_printed_at = now
        return interval, elapsed, drafting

    def goes_quiet(self, interval: Counts) -> bool:
        """Tell whether this interval is idle and the one before it was, too: nothing is printed."""
        idle = not (interval.generated_tokens or interval.prompt_tokens)
        quiet, self._was_idle = idle and self._was_idle, idle
        return quiet


class ServerState:
    """All engines of one server, fed by requests and by the synthetic load."""

    def __init__(
        self,
        modes: Modes,
        speculation: Speculation | None,
        rates: tuple[float, ...],
        *,
        engines: int,
        prefill_only: bool,
    ) -> None:
        self.lock = threading.Lock()
        self.engines = [EngineState(index, len(rates)) for index in range(engines)]
        self.speculation = speculation
        self._method = speculation.method if speculation else None
        self._rates = rates
        self._modes = modes
        self._prefill_only = prefill_only
        self._requests = 0
        self._owed = 0.0

    def generate(
        self, prompt_tokens: int, tokens: int, step_s: float | None = None
    ) -> Iterator[int]:
        """Run one request and yield the number of tokens that each step puts out.

        Latencies are those of the clock, or of steps that are said to take ``step_s`` seconds.
        """
        engine, steps = self._open(prompt_tokens, tokens)
        clock, waited, later = time.monotonic(), 0.0, 0
        try:
            for place, step in enumerate(steps):
                now = time.monotonic()
                took = now - clock
                if step_s is not None:
                    took = step_s * (1 if place else SYNTHETIC_FIRST_STEPS)
                clock, waited = now, waited + took if place else 0.0
                later += step.emitted if place else 0
                with self.lock:
                    engine.latencies.step(took, first=not place)
                    _count(engine.counts, step)
                yield step.emitted
        finally:
            with self.lock:
                engine.latencies.finished(waited, later)
                engine.running -= 1

    def add_synthetic_load(self, seconds: float) -> None:
        """Count the requests of the synthetic load that fall into ``seconds``."""
        self._owed += self._modes.traffic_per_s * seconds
        while self._owed >= 1:
            self._owed -= 1
            for _ in self.generate(
                SYNTHETIC_PROMPT_TOKENS, SYNTHETIC_TOKENS, SYNTHETIC_STEP_S
            ):
                pass

    def _open(
        self, prompt_tokens: int, tokens: int
    ) -> tuple[EngineState, Iterator[Step]]:
        with self.lock:
            number = self._requests
            self._requests += 1
            engine = self.engines[number % len(self.engines)]
            engine.running += 1
            engine.counts.requests += 1
            engine.counts.prompt_tokens += prompt_tokens
        source = random.Random(f"{self._modes.seed}:{number}")  # noqa: S311
        tokens = min(tokens, 1) if self._prefill_only else tokens
        return engine, decode_steps(tokens, self._method, self._rates, source)

    def print_interval(self, output: Output) -> None:
        """Print what every engine did since the last call, as vLLM does at each interval."""
        with self.lock:
            for engine in self.engines:
                interval, elapsed, drafting = engine.take_interval()
                if not engine.goes_quiet(interval):
                    output.log(
                        "loggers.py:335", _engine_line(engine, interval, elapsed)
                    )
                if interval.drafts:
                    padding = "spec" in self._modes.long_lines
                    output.log(
                        "metrics.py:120",
                        _drafting_line(interval, drafting, PADDED_LINE_BYTES * padding),
                    )


def _count(counts: Counts, step: Step) -> None:
    counts.generated_tokens += step.emitted
    if not step.drafted:
        return
    counts.drafts += 1
    counts.drafted += step.drafted
    counts.accepted += step.accepted
    for position in range(step.accepted):
        counts.per_position[position] += 1


def _engine_line(engine: EngineState, interval: Counts, elapsed: float) -> str:
    return (
        f"Engine {engine.index:03d}: "
        f"Avg prompt throughput: {interval.prompt_tokens / elapsed:.1f} tokens/s, "
        f"Avg generation throughput: {interval.generated_tokens / elapsed:.1f} tokens/s, "
        f"Running: {engine.running} reqs, Waiting: 0 reqs, CPU KV cache usage: 0.0%, "
        "Prefix cache hit rate: 0.0%"
    )


def _drafting_line(interval: Counts, elapsed: float, padding: int) -> str:
    positions = ", ".join(
        f"{count / interval.drafts:.3f}" for count in interval.per_position
    )
    filler = f"Practice padding: {'x' * padding}, " if padding else ""
    return (
        "SpecDecoding metrics: "
        f"Mean acceptance length: {1 + interval.accepted / interval.drafts:.2f}, "
        f"Accepted throughput: {interval.accepted / elapsed:.2f} tokens/s, "
        f"Drafted throughput: {interval.drafted / elapsed:.2f} tokens/s, {filler}"
        f"Accepted: {interval.accepted} tokens, Drafted: {interval.drafted} tokens, "
        f"Per-position acceptance rate: {positions}, "
        f"Avg Draft acceptance rate: {interval.accepted / interval.drafted:.1%}"
    )
