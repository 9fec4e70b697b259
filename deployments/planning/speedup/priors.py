"""Acceptance to reckon with until something is measured, by method; all of it assumed."""

from dataclasses import dataclass

from deployments.planning.methods import Method
from deployments.planning.speedup.acceptance import Acceptance, Origin, from_first_rate
from deployments.planning.text import Text, text


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptancePrior:
    """The first position's acceptance; ``positions`` is how far the source's statement reaches."""

    first: float
    positions: int
    source: Text


PRIORS = {
    Method.MTP: AcceptancePrior(
        first=0.85,
        positions=1,
        source=text(
            "DeepSeek-V3 report: 85 to 90 % for the second token; field guide: 80 to 90 %"
        ),
    ),
    Method.EAGLE3: AcceptancePrior(
        first=0.74,
        positions=3,
        source=text(
            "median of published lengths with 3 tokens: 2.9 (SpecBundle); MiniMax-M3: .76/.56/.43"
        ),
    ),
    Method.EAGLE: AcceptancePrior(
        first=0.71,
        positions=3,
        source=text("vllm#24343: 1.71 with 1 token, 2.31 with 3"),
    ),
    Method.DFLASH: AcceptancePrior(
        first=0.78, positions=7, source=text("speculators#1006: 3.87 with 7 tokens")
    ),
    Method.DSPARK: AcceptancePrior(
        first=0.78,
        positions=7,
        source=text("as other parallel drafters: 3.4 to 3.9 with 7 tokens"),
    ),
    Method.DRAFT_MODEL: AcceptancePrior(
        first=0.60,
        positions=3,
        source=text(
            "field guide: below MTP and EAGLE; vllm-ascend#12890: 40 % of all drafted"
        ),
    ),
    Method.SUFFIX: AcceptancePrior(
        first=0.40,
        positions=3,
        source=text(
            "vllm-ascend suffix tutorial: 24 to 50 % of all drafted, by data set"
        ),
    ),
    Method.NGRAM: AcceptancePrior(
        first=0.40,
        positions=3,
        source=text("TensorRT-LLM n-gram post: 1.66 in a second turn"),
    ),
    Method.NGRAM_GPU: AcceptancePrior(
        first=0.40, positions=3, source=text("as n-gram: the same matches")
    ),
    Method.MEDUSA: AcceptancePrior(
        first=0.60,
        positions=3,
        source=text("field guide; no chain measurement published"),
    ),
    Method.MLP_SPECULATOR: AcceptancePrior(
        first=0.60,
        positions=3,
        source=text("field guide; no chain measurement published"),
    ),
}


def assumed_acceptance(method: Method) -> Acceptance:
    """Return what to reckon with before the first measurement of a method."""
    prior = PRIORS[method]
    if prior.positions == 1:
        source = text("{source} (stated for 1 token)", source=prior.source)
    else:
        source = text(
            "{source} (stated for {count} tokens)",
            source=prior.source,
            count=prior.positions,
        )
    return from_first_rate(
        prior.first, method=method, origin=Origin(kind="assumed", source=source)
    )
