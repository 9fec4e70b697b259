"""Acceptance history: counts of windows, their sums, and the buckets that a chart draws."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from deployments.telemetry.logs.acceptance import AcceptanceRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Draft tokens of one window or several.

    ``num_drafts`` is ``None`` when it is unknown. ``per_position`` counts the accepted draft
    tokens at each position of the draft; empty when unknown. Ratios are computed when read and
    are ``None`` when there is nothing to divide by.
    """

    accepted: int = 0
    drafted: int = 0
    num_drafts: int | None = None
    per_position: tuple[int, ...] = ()

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted draft tokens / drafted tokens, as a fraction."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def mean_acceptance_length(self) -> float | None:
        """1 + accepted draft tokens / drafts: tokens per decoding step with the bonus token."""
        return 1 + self.accepted / self.num_drafts if self.num_drafts else None

    @property
    def per_position_rates(self) -> tuple[float, ...] | None:
        """Accepted / drafts at each position, as vLLM prints it."""
        if not self.num_drafts or not self.per_position:
            return None
        return tuple(count / self.num_drafts for count in self.per_position)

    def __add__(self, other: "Counts") -> "Counts":
        """Add two windows; what one of them does not know, the sum does not know.

        Windows with different numbers of positions have no common positions: a deep position
        was not tried in every draft.
        """
        if not other.drafted or not self.drafted:
            return self if self.drafted else other
        known = self.num_drafts is not None and other.num_drafts is not None
        same = len(self.per_position) == len(other.per_position)
        return Counts(
            accepted=self.accepted + other.accepted,
            drafted=self.drafted + other.drafted,
            num_drafts=(self.num_drafts or 0) + (other.num_drafts or 0)
            if known
            else None,
            per_position=tuple(map(sum, zip(self.per_position, other.per_position)))  # noqa: B905
            if same
            else (),
        )


NOTHING = Counts(num_drafts=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Counts of one replica over one window; times are nanoseconds since 1970, UTC."""

    start_ns: int
    end_ns: int
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """One step of a chart; ``counts`` is ``None`` when nothing was drafted: a gap, not zero."""

    start_ns: int
    end_ns: int
    counts: Counts | None


def counts_of_record(record: AcceptanceRecord) -> Counts | None:
    """Turn a printed window into counts; ``None`` for cumulative or incomplete records.

    Accepted tokens at position i = round(printed rate x drafts): exact while a window has fewer
    than 1,000 drafts, for the rate has three decimals.
    """
    if record.cumulative or record.accepted is None or record.drafted is None:
        return None
    drafts = record.num_drafts if record.drafted else 0
    rates = record.per_position if drafts else None
    return Counts(
        accepted=record.accepted,
        drafted=record.drafted,
        num_drafts=drafts,
        per_position=tuple(round(rate * drafts) for rate in rates)
        if rates and drafts
        else (),
    )


def total(windows: Iterable[Counts]) -> Counts:
    """Return the sum of all windows; the same as adding them one by one, but faster."""
    drafting = [one for one in windows if one.drafted]
    if len(drafting) < 2:
        return drafting[0] if drafting else NOTHING
    drafts = [one.num_drafts for one in drafting if one.num_drafts is not None]
    shares = [one.per_position for one in drafting]
    same = len(set(map(len, shares))) == 1
    return Counts(
        accepted=sum([one.accepted for one in drafting]),
        drafted=sum([one.drafted for one in drafting]),
        num_drafts=sum(drafts) if len(drafts) == len(drafting) else None,
        per_position=tuple(map(sum, zip(*shares))) if same else (),  # noqa: B905
    )


def bucket_samples(
    samples: Iterable[Sample], start_ns: int, end_ns: int, buckets: int
) -> tuple[Bucket, ...]:
    """Sort samples into ``buckets`` equal steps of (start_ns, end_ns].

    A sample counts once, as a whole, in the step that holds its end: after idle time a window
    is long, but its tokens were drafted shortly before it was printed. Samples that end outside
    are left out.

    Raises:
        ValueError: no bucket, or a span that is empty.
    """
    if buckets < 1 or end_ns <= start_ns:
        raise ValueError(
            f"A chart needs at least one step and a span, but got {buckets} steps from "
            f"{start_ns} to {end_ns}."
        )
    edges = [
        start_ns + (end_ns - start_ns) * index // buckets
        for index in range(buckets + 1)
    ]
    result = [
        Bucket(start_ns=edges[index], end_ns=edges[index + 1], counts=None)
        for index in range(buckets)
    ]
    for sample in samples:
        if start_ns < sample.end_ns <= end_ns and sample.counts.drafted:
            index = ((sample.end_ns - start_ns) * buckets - 1) // (end_ns - start_ns)
            before = result[index].counts
            counts = sample.counts if before is None else before + sample.counts
            result[index] = replace(result[index], counts=counts)
    return tuple(result)
