"""How many tokens each role drafts per step, and who says so."""

from dataclasses import dataclass

from deployments.planning.catalog import DocumentedCount, Drafter, TargetModel
from deployments.planning.methods import FACTS, Method
from deployments.planning.plan import Role
from deployments.planning.text import Text, text

WITHOUT_PREFILL = frozenset((Method.NGRAM, Method.NGRAM_GPU, Method.SUFFIX))
"""Methods without weights: prefill emits one token and has nothing to carry over for decode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A num_speculative_tokens with its source; ``published`` is false for an assumption."""

    value: int
    source: Text | str
    published: bool
    draft_eager: bool | None = None


def documented(
    model: TargetModel, method: Method, platform: str, role: Role
) -> DocumentedCount | None:
    """Return the published count that fits best: platform and role before either before neither."""
    fitting = [
        entry
        for entry in model.counts
        if entry.followed
        and entry.method is method
        and (not entry.platforms or platform in entry.platforms)
        and (not entry.roles or role in entry.roles)
    ]
    return max(
        fitting,
        key=lambda entry: (bool(entry.platforms), bool(entry.roles)),
        default=None,
    )


def recommended(
    model: TargetModel,
    method: Method,
    platform: str,
    role: Role,
    drafter: Drafter | None,
) -> Count | None:
    """Return what to draft with when nobody chose a number; ``None`` is no drafting in that role."""
    entry = documented(model, method, platform, role)
    if entry is not None:
        return Count(
            value=entry.num_speculative_tokens,
            source=entry.source,
            published=True,
            draft_eager=entry.draft_eager,
        )
    if role is Role.PREFILL:
        return _prefill(model, method, platform, drafter)
    if drafter is not None and drafter.num_speculative_tokens is not None:
        return Count(
            value=drafter.num_speculative_tokens, source=drafter.source, published=True
        )
    return Count(
        value=FACTS[method].default_count, source=text("assumed"), published=False
    )


def _prefill(
    model: TargetModel, method: Method, platform: str, drafter: Drafter | None
) -> Count | None:
    if method in WITHOUT_PREFILL:
        return None
    decode = recommended(model, method, platform, Role.DECODE, drafter)
    if decode is None or must_be_equal(model, method):
        return decode
    return Count(
        value=1,
        source=text(
            "vllm-ascend documentation v0.23.0 and vLLM's own disaggregation tests, 0.32.0"
        ),
        published=True,
        draft_eager=decode.draft_eager,
    )


def must_be_equal(model: TargetModel, method: Method) -> bool:
    """Whether prefill and decode must draft the same number (hybrid state, DSpark)."""
    return model.equal_counts_across_roles or method is Method.DSPARK
