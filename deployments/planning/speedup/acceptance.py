"""How many tokens a step yields, from whatever is known about acceptance."""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import mul

from deployments.planning.errors import PlanningError
from deployments.planning.methods import Method
from deployments.planning.speedup.constants import shipped_constants
from deployments.planning.text import Text, text

DECAY = {Method.EAGLE: 0.88, Method.EAGLE3: 0.975, Method.MTP: 0.93}
"""Each position's conditional rate over the one before.

Fitted so that the length at fewer tokens foretells the length at more without bias: EAGLE-3 on 33
pairs two tokens apart and 17 four apart, EAGLE on 4 and 1, MTP on 1 pair and 2 published lists.
"""
USUAL_DECAY = 0.975
LOOKS_UP = (Method.SUFFIX, Method.NGRAM, Method.NGRAM_GPU)
SEED_REASON = text(
    "rate x count / (1 + count x cost) leaves out the token that the target model itself adds in "
    "every step, so it says 'slower' for every deployment with one draft token, and it knows "
    "nothing of concurrency."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who says so: ``kind`` is ``measured``, ``published`` or ``assumed``."""

    kind: str
    source: Text | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Probability that each position is accepted together with all before it, then a decay.

    ``rates`` are unconditional and do not increase. Beyond the last one the conditional rate goes
    on with ``decay`` per position. ``drafted_share`` is the part of the asked tokens that is really
    drafted: below 1 only where text is looked up and nothing but a rate is known.
    """

    rates: tuple[float, ...]
    decay: float
    origin: Origin
    drafted_share: float = 1.0

    def position_rates(self, count: int) -> tuple[float, ...]:
        """Return the unconditional rate of each of so many positions."""
        rates = list(self.rates[:count])
        before = self.rates[-2] if len(self.rates) > 1 else 1.0
        conditional = self.rates[-1] / before if before > 0 else 0.0
        while len(rates) < count:
            conditional *= self.decay
            rates.append(rates[-1] * conditional)
        return tuple(rates)

    def tokens_per_step(self, count: int) -> float:
        """Return the mean acceptance length with so many draft tokens, bonus token included."""
        return 1 + self.drafted_share * sum(self.position_rates(count))

    def rate(self, count: int) -> float:
        """Return accepted draft tokens over drafted ones."""
        return sum(self.position_rates(count)) / count


def from_positions(
    rates: tuple[float, ...], *, method: Method, origin: Origin
) -> Acceptance:
    """Read per-position acceptance as vLLM prints it.

    Raises:
        PlanningError: it is empty, leaves 0 to 1, or increases.
    """
    if not rates or any(not 0 <= rate <= 1 for rate in rates):
        raise PlanningError(
            text(
                "Per-position acceptance needs one number between 0 and 1 for each position."
            )
        )
    if any(later > earlier for earlier, later in pairwise(rates)):
        raise PlanningError(
            text(
                "Per-position acceptance cannot rise from one position to the next: each number is "
                "the share of steps in which this token and all before it were accepted."
            )
        )
    return Acceptance(rates=rates, decay=decay_of(method), origin=origin)


def from_mean_length(
    length: float, count: int, *, method: Method, origin: Origin
) -> Acceptance:
    """Read a mean acceptance length logged with so many draft tokens.

    Raises:
        PlanningError: the length is outside 1 to count + 1, or the count is below 1.
    """
    _refuse_count(count)
    if not 1 <= length <= count + 1:
        raise PlanningError(
            text(
                "A mean acceptance length with {count} draft tokens lies between 1 and {most}, "
                "not {length}; it counts the bonus token.",
                count=count,
                most=count + 1,
                length=f"{length:g}",
            )
        )
    decay = decay_of(method)
    rates = _rates(_first_rate(length, count, decay), decay, count)
    return Acceptance(rates=rates, decay=decay, origin=origin)


def from_rate(rate: float, count: int, *, method: Method, origin: Origin) -> Acceptance:
    """Read an acceptance rate (accepted over drafted) logged with so many draft tokens.

    Methods that look text up draft only where they find a match, so their rate tells less.

    Raises:
        PlanningError: the rate is outside 0 to 1, or the count is below 1.
    """
    if not 0 <= rate <= 1:
        raise PlanningError(
            text(
                "An acceptance rate lies between 0 and 1, not {rate}; write 80 % as 0.8.",
                rate=f"{rate:g}",
            )
        )
    told = from_mean_length(1 + count * rate, count, method=method, origin=origin)
    return replace(told, drafted_share=_drafted_share(method))


def from_first_rate(first: float, *, method: Method, origin: Origin) -> Acceptance:
    """Read the acceptance of the first position alone; later ones follow by the method's decay."""
    return Acceptance(
        rates=(first,),
        decay=decay_of(method),
        origin=origin,
        drafted_share=_drafted_share(method),
    )


def seed_formula(rate: float, count: int, relative_cost: float) -> float:
    """Return rate x count / (1 + count x cost): the common rule of thumb, see ``SEED_REASON``."""
    return rate * count / (1 + count * relative_cost)


def _rates(first: float, decay: float, count: int) -> tuple[float, ...]:
    conditional = [min(1.0, first * decay**position) for position in range(count)]
    return tuple(accumulate(conditional, mul))


def _first_rate(length: float, count: int, decay: float) -> float:
    low, high = 0.0, decay ** -(count - 1)
    for _ in range(50):
        middle = (low + high) / 2
        if 1 + sum(_rates(middle, decay, count)) < length:
            low = middle
        else:
            high = middle
    return high


def decay_of(method: Method) -> float:
    """Return each position's conditional rate over the one before."""
    return DECAY.get(method, USUAL_DECAY)


def _drafted_share(method: Method) -> float:
    return shipped_constants().lookup_share if method in LOOKS_UP else 1.0


def _refuse_count(count: int) -> None:
    if count < 1:
        raise PlanningError(
            text("Acceptance is known only with at least one draft token.")
        )
