"""Drafting: deterministic acceptance per position, and the counts that it leaves behind."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

LOOKUP_METHODS = frozenset({"ngram", "ngram_gpu", "suffix"})
_FIRST_POSITION = {
    "mtp": 0.86,
    "eagle3": 0.78,
    "eagle": 0.7,
    "draft_model": 0.66,
    "medusa": 0.58,
    "suffix": 0.55,
    "ngram": 0.48,
}
_DECAY = 0.8


@dataclass(slots=True)
class Counts:
    """What one engine did: tokens and drafts since its start, or in one log interval."""

    drafts: int = 0
    drafted: int = 0
    accepted: int = 0
    per_position: list[int] = field(default_factory=list)
    prompt_tokens: int = 0
    generated_tokens: int = 0
    requests: int = 0

    def copy(self) -> "Counts":
        """Return the same counts in a value of their own."""
        return Counts(
            self.drafts,
            self.drafted,
            self.accepted,
            list(self.per_position),
            self.prompt_tokens,
            self.generated_tokens,
            self.requests,
        )

    def since(self, earlier: "Counts") -> "Counts":
        """Return the difference to earlier counts of the same engine."""
        return Counts(
            self.drafts - earlier.drafts,
            self.drafted - earlier.drafted,
            self.accepted - earlier.accepted,
            [
                now - then
                for now, then in zip(
                    self.per_position, earlier.per_position, strict=True
                )
            ],
            self.prompt_tokens - earlier.prompt_tokens,
            self.generated_tokens - earlier.generated_tokens,
            self.requests - earlier.requests,
        )


def acceptance_by_position(
    method: str, count: int, given: tuple[float, ...]
) -> tuple[float, ...]:
    """Return ``count`` acceptance rates, never rising with the position.

    ``given`` are the rates that were asked for; positions beyond them fall by a fifth each.
    """
    rates: list[float] = []
    for position in range(count):
        if position < len(given):
            rate = given[position]
        elif rates:
            rate = rates[-1] * _DECAY
        else:
            rate = _FIRST_POSITION.get(method, 0.6)
        rates.append(min(rate, rates[-1]) if rates else rate)
    return tuple(rates)


@dataclass(frozen=True, slots=True)
class Step:
    """One decoding step: drafted and accepted draft tokens, and the tokens it puts out."""

    drafted: int
    accepted: int
    emitted: int


def decode_steps(
    tokens: int, method: str | None, rates: tuple[float, ...], source: random.Random
) -> Iterator[Step]:
    """Yield the steps that generate ``tokens`` tokens; the first one is prefill, without a draft.

    n-gram and suffix drafting does not find a draft for every step, and some drafts are short.
    """
    if tokens < 1:
        return
    yield Step(0, 0, 1)
    left = tokens - 1
    while left > 0:
        drafted = _draft_length(method, len(rates), source)
        accepted = _accepted_prefix(rates[:drafted], source)
        emitted = min(accepted + 1, left)
        left -= emitted
        yield Step(drafted, accepted, emitted)


def _draft_length(method: str | None, count: int, source: random.Random) -> int:
    if method not in LOOKUP_METHODS or count == 0:
        return count
    found = source.random()
    if found < 0.25:
        return 0
    return count if found < 0.95 else source.randint(1, count)


def _accepted_prefix(rates: tuple[float, ...], source: random.Random) -> int:
    accepted, before = 0, 1.0
    for rate in rates:
        if before == 0 or source.random() >= rate / before:
            break
        accepted, before = accepted + 1, rate
    return accepted
