"""Modes: how the practice engine is told by environment variables to misbehave."""

from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_READY_AFTER_S = 2.0
DEFAULT_TRAFFIC_PER_S = 0.5
DEFAULT_LOG_INTERVAL_S = 10.0
SHORT_LINE_BYTES = 40_000
HUGE_LINE_BYTES = 1_000_000
PADDED_LINE_BYTES = 20_000


class ModeError(ValueError):
    """A mode variable that cannot be read; says which one and what it takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Modes:
    """Every mode with its default: a healthy server under a gentle load.

    Times are in seconds. ``exit_after_s`` counts from the start of the process,
    ``unhealthy_after_s`` and ``unhealthy_toggle_s`` from readiness. ``traffic_per_s`` are
    synthetic requests per second, besides those that are really sent.
    """

    ready_after_s: float = DEFAULT_READY_AFTER_S
    exit_after_s: float | None = None
    exit_code: int = 1
    hang: bool = False
    unhealthy_after_s: float | None = None
    unhealthy_toggle_s: float | None = None
    out_of_memory: str | None = None
    log_rate_per_s: float = 0.0
    bad_bytes: bool = False
    long_lines: frozenset[str] = frozenset()
    slow_stop_s: float = 0.0
    wrong_model: str | None = None
    speculation_off: bool = False
    check_paths: bool = False
    traffic_per_s: float = DEFAULT_TRAFFIC_PER_S
    step_time_s: float = 0.005
    seed: str = "0"
    acceptance: tuple[float, ...] = ()
    log_interval_s: float = DEFAULT_LOG_INTERVAL_S


LONG_LINE_KINDS = frozenset({"40k", "1m", "spec"})
OUT_OF_MEMORY_KINDS = frozenset({"cuda", "npu", "shm", "kv", "allocate"})


def modes_from_environment(environ: Mapping[str, str]) -> Modes:
    """Read the ``PRACTICE_*`` variables and vLLM's own ``VLLM_LOG_STATS_INTERVAL``.

    Raises:
        ModeError: a value that is not a number or not one of the listed words.
    """
    reader = _Reader(environ)
    after, toggle = _unhealthy(environ.get("PRACTICE_UNHEALTHY", ""))
    return Modes(
        ready_after_s=reader.number("PRACTICE_READY_AFTER", DEFAULT_READY_AFTER_S),
        exit_after_s=reader.optional_number("PRACTICE_EXIT_AFTER"),
        exit_code=int(reader.number("PRACTICE_EXIT_CODE", 1)),
        hang=reader.switch("PRACTICE_HANG"),
        unhealthy_after_s=after,
        unhealthy_toggle_s=toggle,
        out_of_memory=_out_of_memory(environ.get("PRACTICE_OUT_OF_MEMORY", "")),
        log_rate_per_s=reader.number("PRACTICE_LOG_RATE", 0.0),
        bad_bytes=reader.switch("PRACTICE_BAD_BYTES"),
        long_lines=_long_lines(environ.get("PRACTICE_LONG_LINES", "")),
        slow_stop_s=reader.number("PRACTICE_SLOW_STOP", 0.0),
        wrong_model=_wrong_model(environ.get("PRACTICE_WRONG_MODEL", "")),
        speculation_off=reader.switch("PRACTICE_SPECULATION_OFF"),
        check_paths=reader.switch("PRACTICE_CHECK_PATHS"),
        traffic_per_s=reader.number("PRACTICE_TRAFFIC", DEFAULT_TRAFFIC_PER_S),
        step_time_s=reader.number("PRACTICE_STEP_TIME", 0.005),
        seed=environ.get("PRACTICE_SEED") or "0",
        acceptance=reader.numbers("PRACTICE_ACCEPTANCE"),
        log_interval_s=reader.positive(
            "VLLM_LOG_STATS_INTERVAL", DEFAULT_LOG_INTERVAL_S
        ),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    environ: Mapping[str, str]

    def optional_number(self, name: str) -> float | None:
        text = self.environ.get(name, "").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise ModeError(f"{name} is {text!r}; give a number of 0 or more.")
        return value

    def number(self, name: str, default: float) -> float:
        value = self.optional_number(name)
        return default if value is None else value

    def positive(self, name: str, default: float) -> float:
        return self.optional_number(name) or default

    def switch(self, name: str) -> bool:
        return _is_on(self.environ.get(name, ""))

    def numbers(self, name: str) -> tuple[float, ...]:
        text = self.environ.get(name, "").strip()
        try:
            values = tuple(float(part) for part in text.split(",") if part.strip())
        except ValueError:
            values = (-1.0,)
        if any(not 0 <= value <= 1 for value in values):
            raise ModeError(
                f"{name} is {text!r}; give rates between 0 and 1, such as 0.8,0.6,0.4."
            )
        return values


def _is_on(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")


def _unhealthy(text: str) -> tuple[float | None, float | None]:
    if not _is_on(text):
        return None, None
    kind, _, amount = text.strip().partition(":")
    try:
        seconds = float(amount) if amount else 0.0
    except ValueError:
        seconds = -1.0
    if seconds < 0 or kind not in ("1", "always", "after", "toggle"):
        raise ModeError(
            f"PRACTICE_UNHEALTHY is {text!r}; give 1, after:SECONDS or toggle:SECONDS."
        )
    if kind == "toggle":
        return None, seconds or 5.0
    return seconds, None


def _out_of_memory(text: str) -> str | None:
    if not _is_on(text):
        return None
    kind = text.strip().lower()
    kind = "cuda" if kind in ("1", "true", "yes", "on") else kind
    if kind not in OUT_OF_MEMORY_KINDS:
        raise ModeError(
            f"PRACTICE_OUT_OF_MEMORY is {text!r}; give one of "
            f"{', '.join(sorted(OUT_OF_MEMORY_KINDS))}."
        )
    return kind


def _long_lines(text: str) -> frozenset[str]:
    if not _is_on(text):
        return frozenset()
    kinds = frozenset(part.strip().lower() for part in text.split(","))
    if kinds <= {"1", "all", "true", "yes", "on"}:
        return LONG_LINE_KINDS
    if not kinds <= LONG_LINE_KINDS:
        raise ModeError(
            f"PRACTICE_LONG_LINES is {text!r}; give 1 or some of 40k, 1m, spec."
        )
    return kinds


def _wrong_model(text: str) -> str | None:
    if not _is_on(text):
        return None
    return "another-model" if text.strip() == "1" else text.strip()
