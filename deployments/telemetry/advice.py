"""Advice: what measured acceptance says about num_speculative_tokens, with the arithmetic.

The seed document's thresholds (above 80 % healthy, 60 to 80 % normal, below 60 % low) hold for
one drafted token. With more tokens the rate falls by construction: a drafter whose every token
is accepted with probability 0.8 has 80 % with one token and 65 % with three. So the thresholds
are carried over to the count, and the marginal gain by position decides what to change. Before there
are enough drafts nothing is judged but that none was accepted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.text import Text, text
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.diagnosis.acceptance_signs import LOOKUP_METHODS

HIGH_RATE = 0.8
LOW_RATE = 0.6
USUAL_EACH = {"eagle3": (0.58, 0.81), "eagle": (0.54, 0.76)}
"""Of each token, for drafts of several, where healthy drafters lie apart from the seed's thresholds:
engines with EAGLE-3 and three tokens log 37 to 67 %; 21 published runs of EAGLE with one to seven
tokens lie from 54 to 76 % a token."""
ENOUGH_DRAFTS = 200
ENOUGH_DRAFTS_FOR_ZERO = 20
"""None accepted of so many: with 95 % confidence less than 15 % of drafts are of any use, for with
none of n the rate is below 3/n (rule of three)."""
LEAST_GAIN = 0.02
LARGEST_COUNT = 16
ZERO_RATE = 0.01
ASSUMED_DRAFT_COST = {
    "mtp": 0.1,
    "eagle": 0.08,
    "eagle3": 0.08,
    "draft_model": 0.15,
    "medusa": 0.03,
    "ngram": 0.02,
    "ngram_gpu": 0.02,
    "suffix": 0.02,
}
DEFAULT_DRAFT_COST = 0.1


class Verdict(StrEnum):
    """How the acceptance rate stands against the thresholds of this method and count.

    ``zero`` is under one per cent, which is no low rate but a mistake.
    """

    ZERO = "zero"
    HEALTHY = "healthy"
    NORMAL = "normal"
    LOW = "low"
    NOT_COMPARABLE = "not_comparable"
    TOO_FEW = "too_few"
    NO_DATA = "no_data"


class Action(StrEnum):
    """What to change next."""

    RAISE = "raise"
    LOWER = "lower"
    KEEP = "keep"
    CHECK_DRAFTER = "check_drafter"
    WAIT = "wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence with its code and the numbers in it."""

    code: str
    text: Text
    parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The rates (fractions) between low, normal and healthy for one count."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionGain:
    """One draft position: its acceptance rate and the tokens per unit of time up to it.

    ``relative_speed`` is (tokens per step) / (1 + positions x draft cost), in target steps;
    ``estimated`` marks a position that was not drafted but extrapolated.
    """

    position: int
    rate: float
    tokens_per_step: float
    relative_speed: float
    estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The verdict, what to do, and every number behind it."""

    verdict: Verdict
    action: Action
    suggested_num_speculative_tokens: int | None
    thresholds: Thresholds | None
    draft_cost: float
    gains: tuple[PositionGain, ...]
    statements: tuple[Statement, ...]


def thresholds_for(method: str | None, num_speculative_tokens: int) -> Thresholds:
    """Carry what is usual for one token of this method over to ``num_speculative_tokens``.

    A draft of k tokens, each accepted with probability a once the ones before it were, has the
    acceptance rate (a + a^2 + ... + a^k) / k. With one token the seed's 60 % and 80 % hold.
    """
    low, high = each_token(method, num_speculative_tokens)
    return Thresholds(
        low=_rate_of(low, num_speculative_tokens),
        high=_rate_of(high, num_speculative_tokens),
    )


def each_token(method: str | None, num_speculative_tokens: int) -> tuple[float, float]:
    """The probabilities of one token between low, normal and healthy, as fractions."""
    seed = (LOW_RATE, HIGH_RATE)
    return USUAL_EACH.get(method or "", seed) if num_speculative_tokens > 1 else seed


def advise(
    method: str | None, num_speculative_tokens: int | None, counts: Counts
) -> Advice:
    """Judge the counts of a decode or combined replica.

    ``method`` is the engine's spelling. Never judge a prefill replica by this: it decodes one
    token per request.
    """
    method = "mtp" if method and method.endswith("mtp") else method
    cost = ASSUMED_DRAFT_COST.get(method or "", DEFAULT_DRAFT_COST)
    rate = counts.acceptance_rate
    if rate is None:
        return _no_data(cost)
    count = num_speculative_tokens or len(counts.per_position) or None
    limits = thresholds_for(method, count) if count else None
    drafts = _drafts(counts, count)
    verdict = _verdict(method, rate, limits, drafts)
    gains = () if verdict is Verdict.TOO_FEW else _gains(counts, cost)
    action, suggested = _action(count, gains, verdict)
    statements = [
        _measured(counts, rate),
        *_judged(verdict, rate, method, count, limits),
        _arithmetic(gains, cost),
        _proposal(action, suggested, count, drafts),
    ]
    return Advice(
        verdict=verdict,
        action=action,
        suggested_num_speculative_tokens=suggested,
        thresholds=limits if verdict in _JUDGEMENTS else None,
        draft_cost=cost,
        gains=gains,
        statements=tuple(statement for statement in statements if statement),
    )


def _no_data(cost: float) -> Advice:
    return Advice(
        verdict=Verdict.NO_DATA,
        action=Action.WAIT,
        suggested_num_speculative_tokens=None,
        thresholds=None,
        draft_cost=cost,
        gains=(),
        statements=(
            Statement(
                code="no_traffic",
                text=text(
                    "Nothing was drafted in this span, so there is nothing to judge."
                ),
            ),
        ),
    )


def _rate_of(probability: float, count: int) -> float:
    return sum(probability**position for position in range(1, count + 1)) / count


def _drafts(counts: Counts, count: int | None) -> int | None:
    """How many drafts there were; where only tokens were counted, how many they make."""
    if counts.num_drafts is not None:
        return counts.num_drafts
    return counts.drafted // count if count else None


def _verdict(
    method: str | None, rate: float, limits: Thresholds | None, drafts: int | None
) -> Verdict:
    known = ENOUGH_DRAFTS if drafts is None else drafts
    if rate < ZERO_RATE and known >= ENOUGH_DRAFTS_FOR_ZERO:
        return Verdict.ZERO
    if known < ENOUGH_DRAFTS:
        return Verdict.TOO_FEW
    if method in LOOKUP_METHODS or limits is None:
        return Verdict.NOT_COMPARABLE
    if rate > limits.high:
        return Verdict.HEALTHY
    return Verdict.LOW if rate < limits.low else Verdict.NORMAL


def _gains(counts: Counts, cost: float) -> tuple[PositionGain, ...]:
    """Return every drafted position and one beyond, extrapolated by the last fall."""
    rates = counts.per_position_rates
    if not rates:
        return ()
    gains: list[PositionGain] = []
    length = 1.0
    for position, rate in enumerate((*rates, _beyond(rates)), start=1):
        length += rate
        gains.append(
            PositionGain(
                position=position,
                rate=rate,
                tokens_per_step=length,
                relative_speed=length / (1 + position * cost),
                estimated=position > len(rates),
            )
        )
    return tuple(gains)


def _beyond(rates: tuple[float, ...]) -> float:
    """Estimate the next position: it falls as the last one did, from 1 before the first."""
    before = rates[-2] if len(rates) > 1 else 1.0
    return rates[-1] * min(1.0, rates[-1] / before) if before else 0.0


def _action(
    count: int | None,
    gains: tuple[PositionGain, ...],
    verdict: Verdict,
) -> tuple[Action, int | None]:
    if verdict is Verdict.TOO_FEW:
        return Action.WAIT, None
    if verdict is Verdict.ZERO:
        return Action.CHECK_DRAFTER, None
    best = _best_count(count, gains, verdict)
    if count is not None and best is not None and best != count:
        return (Action.LOWER if best < count else Action.RAISE), best
    low = verdict is Verdict.LOW
    return (Action.CHECK_DRAFTER if low else Action.KEEP), None


def _best_count(
    count: int | None, gains: tuple[PositionGain, ...], verdict: Verdict
) -> int | None:
    """Return the count with the highest relative speed, if it is worth the change."""
    drafted = [gain for gain in gains if not gain.estimated]
    if not drafted:
        return None
    worth = drafted[-1].relative_speed * (1 + LEAST_GAIN)
    best = max(drafted, key=lambda gain: gain.relative_speed)
    if best.relative_speed >= worth:
        return best.position
    may_raise = verdict is not Verdict.LOW and (count or 0) < LARGEST_COUNT
    return (
        gains[-1].position if may_raise and gains[-1].relative_speed >= worth else None
    )


def _measured(counts: Counts, rate: float) -> Statement:
    length = counts.mean_acceptance_length
    parameters = {
        "accepted": str(counts.accepted),
        "drafted": str(counts.drafted),
        "rate": f"{rate:.1%}",
    }
    if length is None:
        return _statement(
            "measured_rate",
            text("{accepted} of {drafted} drafted tokens were accepted: {rate}."),
            parameters,
        )
    return _statement(
        "measured",
        text(
            "{accepted} of {drafted} drafted tokens were accepted: {rate}, {length} tokens per "
            "step."
        ),
        {**parameters, "length": f"{length:.2f}"},
    )


_JUDGEMENTS = {
    Verdict.HEALTHY: text(
        "{rate} is healthy: with {count} tokens per draft, {low_each} and {high_each} per token "
        "make {low} and {high}."
    ),
    Verdict.NORMAL: text(
        "{rate} is in the normal range: with {count} tokens per draft, {low_each} and {high_each} "
        "per token make {low} and {high}."
    ),
    Verdict.LOW: text(
        "{rate} is low: with {count} tokens per draft, {low_each} and {high_each} per token make "
        "{low} and {high}."
    ),
}


def _judged(
    verdict: Verdict,
    rate: float,
    method: str | None,
    count: int | None,
    limits: Thresholds | None,
) -> list[Statement]:
    if verdict is Verdict.TOO_FEW:
        return []
    if verdict is Verdict.ZERO:
        said = text("{rate} is nothing: such drafts only cost time.")
        return [_statement("rate_zero", said, {"rate": f"{rate:.1%}"})]
    if verdict not in _JUDGEMENTS or limits is None or count is None:
        said = text(
            "The thresholds do not apply: n-gram and suffix drafting only draft where the text "
            "repeats, and without num_speculative_tokens a rate says nothing."
        )
        return [Statement(code="not_comparable", text=said)]
    low_each, high_each = each_token(method, count)
    parameters = {
        "count": str(count),
        "low_each": f"{low_each:.0%}",
        "high_each": f"{high_each:.0%}",
        "low": f"{limits.low:.0%}",
        "high": f"{limits.high:.0%}",
        "rate": f"{rate:.1%}",
    }
    return [_statement(f"rate_{verdict}", _JUDGEMENTS[verdict], parameters)]


def _arithmetic(gains: tuple[PositionGain, ...], cost: float) -> Statement | None:
    drafted = [gain for gain in gains if not gain.estimated]
    if not drafted:
        return None
    speeds = ", ".join(f"{gain.position}: {gain.relative_speed:.2f}" for gain in gains)
    last = drafted[-1]
    parameters = {
        "position": str(last.position),
        "rate": f"{last.rate:.1%}",
        "cost": f"{cost:.2f}",
        "speeds": speeds,
    }
    said = text(
        "Position {position} is accepted in {rate} of the drafts. Tokens per target step of "
        "time by count, with an assumed draft cost of {cost} target steps per token: {speeds} "
        "(the last one is extrapolated)."
    )
    return _statement("marginal_gain", said, parameters)


_PROPOSALS = {
    Action.RAISE: text("Try num_speculative_tokens {suggested} instead of {count}."),
    Action.LOWER: text(
        "Lower num_speculative_tokens from {count} to {suggested}: the positions behind it cost "
        "more than they bring."
    ),
    Action.KEEP: text("Keep num_speculative_tokens at {count}."),
    Action.CHECK_DRAFTER: text(
        "Check that drafter, checkpoint and method belong together before changing "
        "num_speculative_tokens."
    ),
    Action.WAIT: text(
        "Too few to judge: {drafts} drafts. Wait for at least {enough} before changing anything."
    ),
}


def _proposal(
    action: Action, suggested: int | None, count: int | None, drafts: int | None
) -> Statement:
    parameters = {
        "suggested": str(suggested),
        "count": text("its value") if count is None else str(count),
        "drafts": str(drafts),
        "enough": str(ENOUGH_DRAFTS),
    }
    return _statement(f"action_{action}", _PROPOSALS[action], parameters)


def _statement(code: str, said: Text, parameters: Mapping[str, str]) -> Statement:
    return Statement(
        code=code, text=said.filled(parameters), parameters=tuple(parameters.items())
    )
