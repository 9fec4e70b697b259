"""What else may be changed: turn speculation off, switch the method, shorten the context.

How many tokens to draft is ``advice``'s business. Here the load of a release is held against the
break-even of its plan, what its drafts bring against a step without any, and acceptance of hours
with short requests against that of hours with long ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.text import Text, text
from deployments.telemetry.acceptance_history import Counts, total
from deployments.telemetry.advice import ENOUGH_DRAFTS, Verdict, advise
from deployments.telemetry.benchmarks.verdict import Comparison, pays_up_to
from deployments.telemetry.benchmarks.verdict import Verdict as Measured

PAYS_FROM = 1.02
"""Tokens per unit of time over a plain step; less is not worth a drafter's memory."""
LEAST_HOURS = 3
MOST_OF = 0.5
LONGER = 1.5
FALLEN_TO = 0.8
CONTEXT_STEP = 1024
MTP = "mtp"


class Kind(StrEnum):
    """What to change."""

    COUNT = "count"
    OFF = "off"
    METHOD = "method"
    CONTEXT = "context"
    LOAD = "load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A method that the plan's decision left open; ``because`` is its reason."""

    method: str
    num_speculative_tokens: int
    drafter: str | None
    because: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What runs; ``None`` is unknown.

    ``break_even`` is the highest number of requests at once at which speculation pays for one
    instance, ``break_even_high`` the end of its range. ``max_num_seqs`` is known where one engine
    core serves what clients send, so that it bounds the requests at once. ``alternatives`` come best first.
    """

    method: str
    num_speculative_tokens: int | None
    break_even: int | None = None
    break_even_high: int | None = None
    tokens_per_step: float | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    drafter_max_model_len: int | None = None
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """One hour of the replicas that draft: ``concurrency`` is the mean of one replica's requests."""

    concurrency: float
    requests: int
    prompted: int
    generated: int
    counts: Counts

    @property
    def length(self) -> float:
        """Tokens of a request, prompt and reply."""
        return (self.prompted + self.generated) / self.requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One change with its reasons; what it does not name stays as it is."""

    kind: Kind
    said: Text
    because: tuple[Text, ...]
    method: str | None = None
    num_speculative_tokens: int | None = None
    drafter: str | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None

    @property
    def key(self) -> str:
        """What tells this change from others: the same change later has the same key."""
        parts = (
            self.kind,
            self.method,
            self.num_speculative_tokens,
            self.max_model_len,
            self.max_num_seqs,
        )
        return ":".join("" if part is None else str(part) for part in parts)


def by_measurement(
    found: Sequence[Proposal],
    measured: Comparison | None,
    planned: Planned,
    hours: Sequence[Hour],
) -> tuple[Proposal, ...]:
    """The proposals once a benchmark with and without speculation has spoken: it outranks estimates."""
    if measured is None or measured.verdict is Measured.INCONCLUSIVE:
        return tuple(found)
    others = [one for one in found if one.kind is not Kind.OFF]
    if measured.verdict is Measured.KEEP:
        if measured.keep_up_to is None:
            return tuple(others)
        # Beyond the load up to which it is shown to pay, the estimate still counts.
        return (*_limited(planned, hours, measured.keep_up_to), *found)
    said = text("Turn speculation off: a benchmark with and without it says so.")
    off = Proposal(kind=Kind.OFF, said=said, because=measured.why, method="off")
    return (off, *others)


def _limited(
    planned: Planned, hours: Sequence[Hour], keep_up_to: int
) -> tuple[Proposal, ...]:
    """Bound the requests at once where a benchmark showed that speculation pays up to there."""
    allowed = planned.max_num_seqs
    busy = [hour for hour in hours if hour.requests and hour.generated]
    beyond = [hour for hour in busy if hour.concurrency > keep_up_to]
    if allowed is None or allowed <= keep_up_to or not beyond:
        return ()
    said = text(
        "Serve at most {count} requests at once: max_num_seqs {count} instead of {now}.",
        count=str(keep_up_to),
        now=str(allowed),
    )
    because = (
        pays_up_to(keep_up_to),
        text(
            "In {beyond} of {busy} hours with traffic there were more. What comes on top waits in the queue "
            "then; without speculation it would be served at once.",
            beyond=str(len(beyond)),
            busy=str(len(busy)),
        ),
    )
    return (
        Proposal(kind=Kind.LOAD, said=said, because=because, max_num_seqs=keep_up_to),
    )


def count_change(
    planned: Planned, counts: Counts, drafter: str | None
) -> tuple[Proposal, ...]:
    """Another count of the method that runs, as ``advise`` has it; ``drafter`` is the one in use."""
    judged = advise(planned.method, planned.num_speculative_tokens, counts)
    count = judged.suggested_num_speculative_tokens
    if count is None:
        return ()
    said = text(
        "Draft {count} tokens instead of {now}.",
        count=str(count),
        now=str(planned.num_speculative_tokens),
    )
    return (
        Proposal(
            kind=Kind.COUNT,
            said=said,
            because=tuple(one.text for one in judged.statements),
            method=planned.method,
            num_speculative_tokens=count,
            drafter=drafter,
        ),
    )


def next_changes(planned: Planned, hours: Sequence[Hour]) -> tuple[Proposal, ...]:
    """What to change besides the count, the most certain first; nothing without speculation."""
    if not planned.num_speculative_tokens:
        return ()
    busy = [hour for hour in hours if hour.requests and hour.generated]
    counts = total(hour.counts for hour in hours)
    found = [*_by_load(planned, busy, counts), *_by_acceptance(planned, counts)]
    offs = [one for one in found if one.kind is Kind.OFF][1:]
    return tuple(
        one
        for one in (*found, *_by_length(planned, busy, found))
        if all(one is not later for later in offs)
    )


def _by_load(
    planned: Planned, busy: Sequence[Hour], counts: Counts
) -> tuple[Proposal, ...]:
    """Tokens decide, not hours: a quiet night does not make up for a day beyond the break-even."""
    limit = planned.break_even
    if limit is None or len(busy) < LEAST_HOURS:
        return ()
    beyond = [hour for hour in busy if hour.concurrency > limit]
    generated = sum(hour.generated for hour in busy)
    share = sum(hour.generated for hour in beyond) / generated
    if share < MOST_OF:
        return ()
    high = planned.break_even_high
    surely = high is not None and _share_beyond(busy, high) >= MOST_OF
    reasons = [
        text(
            "In {beyond} of {busy} hours with traffic, one instance served more requests at once "
            "than the {limit} up to which its plan expects speculation to pay; {share} of the "
            "tokens were written then.",
            beyond=str(len(beyond)),
            busy=str(len(busy)),
            limit=str(limit),
            share=f"{share:.0%}",
        ),
        text("That is beyond the range of the estimate, too.")
        if surely
        else text(
            "The estimate has a wide range: benchmark with and without speculation at this load "
            "before you keep the change."
        ),
    ]
    length = counts.mean_acceptance_length
    expected = planned.tokens_per_step
    if length and expected and length < expected:
        reasons.append(
            text(
                "The plan expected {expected} tokens per step; {length} were measured, so it "
                "pays even less long.",
                expected=f"{expected:.2f}",
                length=f"{length:.2f}",
            )
        )
    said = text("Turn speculation off: the load is beyond the break-even.")
    return (Proposal(kind=Kind.OFF, said=said, because=tuple(reasons), method="off"),)


def _share_beyond(busy: Sequence[Hour], limit: int) -> float:
    generated = sum(hour.generated for hour in busy)
    return sum(hour.generated for hour in busy if hour.concurrency > limit) / generated


def _by_acceptance(planned: Planned, counts: Counts) -> tuple[Proposal, ...]:
    """Another method where drafts are worth little, none where they are worth nothing."""
    if (counts.num_drafts or 0) < ENOUGH_DRAFTS:
        return ()
    judged = advise(planned.method, planned.num_speculative_tokens, counts)
    best = max(
        (gain for gain in judged.gains if not gain.estimated),
        key=lambda gain: gain.relative_speed,
        default=None,
    )
    pays = best is None or best.relative_speed >= PAYS_FROM
    if pays and judged.verdict is not Verdict.LOW:
        return ()
    if best is None or pays:
        reason = text(
            "With {count} tokens per draft, {rate} of the drafted tokens are accepted, which is "
            "low for that count.",
            count=str(planned.num_speculative_tokens),
            rate=f"{counts.acceptance_rate or 0:.1%}",
        )
    else:
        reason = text(
            "Even the best count, {count}, makes {speed} tokens in the time of a plain step: {tokens} "
            "per step, with an assumed {cost} steps for each drafted token.",
            count=str(best.position),
            speed=f"{best.relative_speed:.2f}",
            tokens=f"{best.tokens_per_step:.2f}",
            cost=f"{judged.draft_cost:.2f}",
        )
    other = _other_method(planned)
    if other is not None:
        return (_switch(other, reason),)
    if pays:
        return ()
    said = text("Turn speculation off: its drafts bring nothing.")
    return (Proposal(kind=Kind.OFF, said=said, because=(reason,), method="off"),)


def _other_method(planned: Planned, method: str | None = None) -> Alternative | None:
    return next(
        (
            one
            for one in planned.alternatives
            if one.method != planned.method and method in {None, one.method}
        ),
        None,
    )


def _switch(other: Alternative, reason: Text) -> Proposal:
    return Proposal(
        kind=Kind.METHOD,
        said=text(
            "Switch the method to {method} with {count} tokens per draft.",
            method=other.method,
            count=str(other.num_speculative_tokens),
        ),
        because=tuple(filter(None, (reason, other.because))),
        method=other.method,
        num_speculative_tokens=other.num_speculative_tokens,
        drafter=other.drafter,
    )


def _by_length(
    planned: Planned, busy: Sequence[Hour], found: Sequence[Proposal]
) -> tuple[Proposal, ...]:
    """A shorter context, or a head trained with the model, where long requests are drafted worse."""
    drafted = sorted(
        (hour for hour in busy if hour.counts.num_drafts), key=lambda hour: hour.length
    )
    if len(drafted) < 2 * LEAST_HOURS:
        return ()
    half = len(drafted) // 2
    short, long = drafted[:half], drafted[-half:]
    length_short, length_long = _mean_length(short), _mean_length(long)
    accepted_short, accepted_long = _accepted(short), _accepted(long)
    if (
        accepted_short is None
        or accepted_long is None
        or length_long < LONGER * length_short
        or accepted_long > FALLEN_TO * accepted_short
    ):
        return ()
    reason = text(
        "In the hours with the longer requests, {long} tokens each, {accepted_long} drafted tokens "
        "are accepted per step; in those with the shorter, {short} tokens, {accepted_short}.",
        long=f"{length_long:.0f}",
        short=f"{length_short:.0f}",
        accepted_long=f"{accepted_long:.2f}",
        accepted_short=f"{accepted_short:.2f}",
    )
    proposals = []
    context = _shorter_context(planned, length_short)
    if context is not None:
        said = text(
            "Shorten the context: max_model_len {context} instead of {now}.",
            context=str(context),
            now=str(planned.max_model_len),
        )
        refused = text("Requests that are longer are refused then.")
        proposals.append(
            Proposal(
                kind=Kind.CONTEXT,
                said=said,
                because=(reason, refused),
                max_model_len=context,
            )
        )
    head = _other_method(planned, MTP)
    if head is not None and all(one.method != MTP for one in found):
        proposals.append(_switch(head, reason))
    return tuple(proposals)


def _mean_length(hours: Sequence[Hour]) -> float:
    tokens = sum(hour.prompted + hour.generated for hour in hours)
    return tokens / sum(hour.requests for hour in hours)


def _accepted(hours: Sequence[Hour]) -> float | None:
    """Accepted tokens per draft, of enough drafts."""
    counts = total(hour.counts for hour in hours)
    if counts.num_drafts is None or counts.num_drafts < ENOUGH_DRAFTS:
        return None
    return counts.accepted / counts.num_drafts


def _shorter_context(planned: Planned, length_short: float) -> int | None:
    """The drafter's own limit, else twice what short requests take, in full steps of 1,024."""
    now = planned.max_model_len
    if now is None:
        return None
    own = planned.drafter_max_model_len
    wanted = -(-int(2 * length_short) // CONTEXT_STEP) * CONTEXT_STEP
    context = own if own is not None and own < now else wanted
    return context if context < now else None
