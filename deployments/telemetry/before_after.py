"""Before and after: what a change of speculation did, in two windows of one length and similar load.

The expected ranges are the seed document's for turning speculation on: time per output token falls
by 30 to 50 %, the request rate grows to 1.5 to 2.5 times. It says of the cache only that its use
may grow slightly, so that has no range. For a change from one count or method to another it says
nothing, so nothing is drawn there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.text import Text, text
from deployments.telemetry.acceptance_history import Counts
from deployments.telemetry.advice import thresholds_for
from deployments.telemetry.diagnosis.acceptance_signs import LOOKUP_METHODS
from deployments.telemetry.serving import OUTPUT_TOKEN_NAMES, Histogram

EXPECTED_OUTPUT = (0.5, 0.7)
EXPECTED_REQUESTS = (1.5, 2.5)
LEAST_SEEN = 0.8
FEWEST_REQUESTS = 100
LOAD_APART = 1.25
LENGTH_APART = 1.5
_PER_STEP = OUTPUT_TOKEN_NAMES[-1]


class Measure(StrEnum):
    """What is compared."""

    OUTPUT = "output"
    REQUESTS = "requests"
    CACHE = "cache"
    ACCEPTANCE = "acceptance"
    LENGTH = "length"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a release drafts with; ``count`` is ``None`` where it does not."""

    method: str
    count: int | None

    @property
    def drafts(self) -> bool:
        """Whether it speculates at all."""
        return bool(self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What the replicas of one release that draft did in some seconds.

    ``seen_s`` of its ``length_s`` seconds were read; ``concurrency`` is the mean of running and
    waiting requests, ``cache`` a fraction or ``None``; ``output_from`` names the series.
    """

    start_s: int
    length_s: int
    seen_s: int
    requests: int
    prompted: int
    generated: int
    concurrency: float
    cache: float | None
    output: Histogram
    output_from: str
    counts: Counts

    @property
    def requests_s(self) -> float | None:
        """Finished requests in a second of what was seen."""
        return self.requests / self.seen_s if self.seen_s else None

    @property
    def output_median(self) -> float | None:
        """Seconds per output token; ``None`` where the release only tells time per step."""
        if self.output_from == _PER_STEP and self.counts.drafted:
            return None
        return self.output.quantile(0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure in both windows; ``expected`` is a range of ``ratio``, or of ``after`` for acceptance."""

    measure: Measure
    before: float | None
    after: float | None
    expected: tuple[float, float] | None = None

    @property
    def ratio(self) -> float | None:
        """After / before; ``None`` where one is unknown or nothing was before."""
        if self.after is None or not self.before:
            return None
        return self.after / self.before

    @property
    def within(self) -> bool | None:
        """Whether it came as expected; ``None`` where nothing is expected or known."""
        value = self.after if self.measure is Measure.ACCEPTANCE else self.ratio
        if self.expected is None or value is None:
            return None
        return self.expected[0] <= value <= self.expected[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter:
    """The comparison; ``against`` says why the windows may not be compared, empty if they may."""

    before: Window
    after: Window
    changes: tuple[Change, ...]
    against: tuple[Text, ...]
    notes: tuple[Text, ...]

    @property
    def comparable(self) -> bool:
        """Whether the figures may stand beside each other."""
        return not self.against


def compare(
    before: Window, after: Window, was: Setting, became: Setting
) -> BeforeAfter:
    """Compare two windows of one length, the later one with the changed setting."""
    turned_on = became.drafts and not was.drafts
    against = _against(before, after)
    changes = (
        Change(
            measure=Measure.OUTPUT,
            before=before.output_median,
            after=after.output_median,
            expected=EXPECTED_OUTPUT if turned_on else None,
        ),
        Change(
            measure=Measure.REQUESTS,
            before=before.requests_s,
            after=after.requests_s,
            expected=EXPECTED_REQUESTS
            if turned_on and not _same_arrivals(before, after)
            else None,
        ),
        Change(measure=Measure.CACHE, before=before.cache, after=after.cache),
        Change(
            measure=Measure.ACCEPTANCE,
            before=before.counts.acceptance_rate,
            after=after.counts.acceptance_rate,
            expected=_normal(became),
        ),
        Change(
            measure=Measure.LENGTH,
            before=before.counts.mean_acceptance_length,
            after=after.counts.mean_acceptance_length,
        ),
    )
    return BeforeAfter(
        before=before,
        after=after,
        changes=changes,
        against=against,
        notes=() if against else _notes(before, after, turned_on=turned_on),
    )


def most_alike(
    after: Window, candidates: Sequence[Window], was: Setting, became: Setting
) -> BeforeAfter | None:
    """Compare with the first window of similar load, else with the first of all; ``None`` without any."""
    pairs = [compare(before, after, was, became) for before in candidates]
    fit = next((pair for pair in pairs if pair.comparable), None)
    return fit or (pairs[0] if pairs else None)


def _normal(became: Setting) -> tuple[float, float] | None:
    if not became.count or became.method in LOOKUP_METHODS:
        return None
    limits = thresholds_for(became.method, became.count)
    return limits.low, limits.high


def _against(before: Window, after: Window) -> tuple[Text, ...]:
    """Every reason against a comparison."""
    thin = _thin(before, later=False), _thin(after, later=True)
    if any(thin):
        return tuple(filter(None, thin))
    return tuple(
        filter(None, (_other_load(before, after), *_other_work(before, after)))
    )


_UNSEEN = {
    False: text(
        "Before the change, counters were read in {seen} of {length} minutes only."
    ),
    True: text(
        "After the change, counters were read in {seen} of {length} minutes only."
    ),
}
_QUIET = {
    False: text(
        "Before the change, {requests} requests were finished; a comparison needs {fewest}."
    ),
    True: text(
        "After the change, {requests} requests were finished; a comparison needs {fewest}."
    ),
}


def _thin(window: Window, *, later: bool) -> Text | None:
    if window.seen_s < LEAST_SEEN * window.length_s:
        return _UNSEEN[later].filled(
            {"seen": window.seen_s // 60, "length": window.length_s // 60}
        )
    if window.requests < FEWEST_REQUESTS:
        return _QUIET[later].filled(
            {"requests": str(window.requests), "fewest": str(FEWEST_REQUESTS)}
        )
    return None


def _other_load(before: Window, after: Window) -> Text | None:
    """Of clients that wait for answers the requests at once are the load, of others their arrivals."""
    if _same_arrivals(before, after) or _alike(
        before.concurrency, after.concurrency, LOAD_APART
    ):
        return None
    return text(
        "The load differs: {was} requests at once before and {is_now} after, {rate_was} and "
        "{rate_now} requests per second.",
        was=f"{before.concurrency:.1f}",
        is_now=f"{after.concurrency:.1f}",
        rate_was=f"{before.requests_s or 0:.2f}",
        rate_now=f"{after.requests_s or 0:.2f}",
    )


def _other_work(before: Window, after: Window) -> tuple[Text | None, ...]:
    prompts = _per_request(before.prompted, before), _per_request(after.prompted, after)
    replies = (
        _per_request(before.generated, before),
        _per_request(after.generated, after),
    )
    return (
        None
        if _alike(*prompts, LENGTH_APART)
        else text(
            "The prompts differ: {was} tokens each before, {is_now} after.",
            was=f"{prompts[0]:.0f}",
            is_now=f"{prompts[1]:.0f}",
        ),
        None
        if _alike(*replies, LENGTH_APART)
        else text(
            "The replies differ: {was} tokens each before, {is_now} after.",
            was=f"{replies[0]:.0f}",
            is_now=f"{replies[1]:.0f}",
        ),
    )


def _per_request(tokens: int, window: Window) -> float:
    return tokens / window.requests


def _same_arrivals(before: Window, after: Window) -> bool:
    return _alike(before.requests_s or 0.0, after.requests_s or 0.0, LOAD_APART)


def _alike(one: float, other: float, apart: float) -> bool:
    low, high = sorted((one, other))
    return high <= low * apart


def _notes(before: Window, after: Window, *, turned_on: bool) -> tuple[Text, ...]:
    notes = []
    if before.output_median is None or after.output_median is None:
        if _PER_STEP in {before.output_from, after.output_from}:
            notes.append(
                text(
                    "Time per output token is not compared: one of the releases tells the time "
                    "between steps only, and a step with speculation is several tokens."
                )
            )
    elif before.output_from != after.output_from:
        notes.append(
            text(
                "Time per output token comes from {was} before and from {is_now} after: they do "
                "not weigh requests alike.",
                was=before.output_from,
                is_now=after.output_from,
            )
        )
    if turned_on and _same_arrivals(before, after):
        notes.append(
            text(
                "As many requests came per second as before, so the request rate could not "
                "grow: look at the time per output token."
            )
        )
    return tuple(notes)
