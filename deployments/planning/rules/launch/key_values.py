"""Values of the speculative config: words by version, ranges, and keys that go with other methods."""

import difflib
from collections.abc import Iterator

from deployments.planning.canonical import Json
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.plan import Severity
from deployments.planning.rules.launch.rule import (
    Hit,
    LaunchRule,
    RuleCard,
    drop_key,
    set_key,
)
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import Text, listed, text

RUN = "vLLM 0.32.0, run with such values; sources 0.17.0 to 0.33.0"
SCHEDULE = "num_speculative_tokens_per_batch_size"
_WORDS: dict[str, tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]] = {
    "rejection_sample_method": (
        ((0, 18, 0), ("strict", "probabilistic")),
        ((0, 19, 0), ("strict", "probabilistic", "synthetic")),
        ((0, 21, 0), ("standard", "synthetic")),
        ((0, 25, 0), ("standard", "synthetic", "block")),
        ((0, 33, 0), ("standard", "synthetic", "block", "fly")),
    ),
    "draft_sample_method": (
        ((0, 21, 0), ("greedy", "gumbel")),
        ((0, 22, 0), ("greedy", "probabilistic")),
    ),
}
"""Words that a key takes, by the vLLM release since which."""

_RENAMED = {"strict": "standard", "gumbel": "probabilistic"}
_RANGES: dict[str, tuple[float, float | None]] = {
    "suffix_decoding_max_tree_depth": (1, None),
    "suffix_decoding_max_cached_requests": (0, None),
    "suffix_decoding_max_spec_factor": (0, None),
    "suffix_decoding_min_token_prob": (0, 1),
    "draft_tensor_parallel_size": (1, None),
    "max_model_len": (1, None),
    "dspark_draft_topk": (1, None),
}
_METHODS: dict[str, frozenset[str]] = {
    "use_heterogeneous_vocab": frozenset(("draft_model",)),
    "parallel_drafting": frozenset(("draft_model", "eagle3", "dflash", "dspark")),
    "index_share_for_mtp_iteration": frozenset(("mtp",)),
    "dspark_draft_topk": frozenset(("dspark",)),
    "enable_adaptive_verification": frozenset(("dspark",)),
}


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _words(profile: EngineProfile, key: str) -> tuple[str, ...]:
    fitting = [words for since, words in _WORDS[key] if profile.vllm.release >= since]
    return fitting[-1] if fitting else ()


@RuleCard(
    code="SPEC_KEY_VALUE",
    category="unknown-flag",
    severity=Severity.ERROR,
    summary=text(
        "A key of the speculative config has a word or a number that the engine version does not take."
    ),
    fix=text("Write a value that the message names."),
    source=RUN,
    versions=text("by the words of each version"),
)
def key_value(view: LaunchView) -> Iterator[Hit]:
    """Fires on words of other versions and on numbers outside their range."""
    if view.speculation is None or not view.launch.is_vllm:
        return
    for key, value in view.config.items():
        if key in _WORDS and isinstance(value, str) and "$" not in value:
            yield from _word(view, key, value)
        elif key in _RANGES and (number := _number(value)) is not None:
            yield from _range(view, key, number)


def _word(view: LaunchView, key: str, value: str) -> Iterator[Hit]:
    severity = view.refusal(
        lambda one: bool(_words(one, key)) and value not in _words(one, key)
    )
    if severity is None:
        return
    profile = view.engine.profile or view.engine.newest
    known = _words(profile, key)
    near = _RENAMED.get(value)
    if near not in known:
        close = difflib.get_close_matches(value, known, n=1, cutoff=0.6)
        near = close[0] if close else None
    yield Hit(
        message=text(
            "{key} does not take {value}; it takes {known}.",
            key=key,
            value=value[:40],
            known=listed(known),
        ),
        severity=severity,
        evidence=value[:40],
        start=view.spec_place,
        edits=(set_key(key, near),) if near else (),
    )


def _range(view: LaunchView, key: str, number: float) -> Iterator[Hit]:
    least, most = _RANGES[key]
    if number >= least and (most is None or number <= most):
        return
    limits = (
        text("{least} or more", least=f"{least:g}")
        if most is None
        else text("{least} to {most}", least=f"{least:g}", most=f"{most:g}")
    )
    yield Hit(
        message=text(
            "{key} is {number}; it takes {limits}.",
            key=key,
            number=f"{number:g}",
            limits=limits,
        ),
        evidence=f"{number:g}",
        start=view.spec_place,
    )


@RuleCard(
    code="KEY_OF_OTHER_METHOD",
    category="unsupported-method",
    severity=Severity.ERROR,
    summary=text("A key of the speculative config goes with other methods only."),
    fix=text("Leave the key out, or use a method that it goes with."),
    source=RUN,
)
def other_method(view: LaunchView) -> Iterator[Hit]:
    """Fires on keys of other methods, and on greedy-only keys with sampled drafts."""
    method, config = view.method, view.config
    if method is None or not view.launch.is_vllm:
        return
    for key, methods in _METHODS.items():
        if config.get(key) in (None, False) or method in methods:
            continue
        yield _other(
            view,
            key,
            text(
                "{key} goes with {methods} only, not with {method}.",
                key=key,
                methods=listed(sorted(methods)),
                method=method,
            ),
        )
    if config.get("disable_padded_drafter_batch") is True and (
        method == "draft_model" or config.get("parallel_drafting") is True
    ):
        yield _other(
            view,
            "disable_padded_drafter_batch",
            text(
                "disable_padded_drafter_batch goes neither with draft models nor with parallel drafting."
            ),
        )
    if config.get("draft_sample_method") in ("probabilistic", "gumbel"):
        for key in ("use_local_argmax_reduction", "use_heterogeneous_vocab"):
            if config.get(key) is True:
                yield _other(
                    view, key, text("{key} goes with greedy drafts only.", key=key)
                )


def _other(view: LaunchView, key: str, message: Text) -> Hit:
    return Hit(
        message=message,
        evidence=key,
        start=view.spec_place,
        edits=(drop_key(key),),
    )


@RuleCard(
    code="COUNT_TABLE_INVALID",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text(
        "A table of counts by batch size begins at 1, rises without overlap, and holds counts of 0 or more."
    ),
    fix=text("Write rows of first batch, last batch and count, the first from 1 on."),
    source="vLLM sources, 0.24.0 to 0.33.0",
    versions=text("vLLM 0.24.0 and later"),
)
def count_table(view: LaunchView) -> Iterator[Hit]:
    """Fires on a table that the engine refuses."""
    table = view.config.get(SCHEDULE)
    if table is None or not view.launch.is_vllm:
        return
    problem = _problem(table)
    if problem is not None:
        yield Hit(
            message=text("{key}: {problem}.", key=SCHEDULE, problem=problem),
            evidence=str(table)[:80],
            start=view.spec_place,
        )


def _problem(table: Json) -> Text | None:
    if not isinstance(table, list) or not table:
        return text("it is no list of rows")
    last = 0
    for row in table:
        whole = isinstance(row, list) and all(
            isinstance(one, int) and not isinstance(one, bool) for one in row
        )
        if not isinstance(row, list) or len(row) != 3 or not whole:
            return text("a row is first batch, last batch and count")
        first, end, count = (int(str(one)) for one in row)
        if last == 0 and first != 1:
            return text("the first row begins at {first}, not at 1", first=first)
        if first <= last or end < first or count < 0:
            return text("the rows overlap, do not rise, or hold a count below 0")
        last = end
    return None


@RuleCard(
    code="SYNTHETIC_VALUES",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text(
        "Synthetic acceptance wants either a length from 1 to k+1, or k rates that do not rise."
    ),
    fix=text("Give one of the two, within its limits."),
    source="vLLM sources, 0.20.0 to 0.33.0",
    versions=text("vLLM 0.20.0 and later"),
)
def synthetic_values(view: LaunchView) -> Iterator[Hit]:
    """Fires on both, none, or values outside their limits."""
    count = view.count
    if view.config.get("rejection_sample_method") != "synthetic" or count is None:
        return
    if view.vllm_before(0, 20, 0) or count < 1:
        return
    rates = view.config.get("synthetic_acceptance_rates")
    length = view.config.get("synthetic_acceptance_length")
    message: Text | None = None
    if (rates is None) == (length is None):
        message = text(
            "Synthetic acceptance wants one of synthetic_acceptance_length and synthetic_acceptance_rates."
        )
    elif rates is not None:
        numbers = [_number(one) for one in rates] if isinstance(rates, list) else []
        given = [one for one in numbers if one is not None and 0 <= one <= 1]
        if len(given) != count or sorted(given, reverse=True) != given:
            message = text(
                "synthetic_acceptance_rates wants {count} numbers from 0 to 1 that do not rise.",
                count=count,
            )
    else:
        number = _number(length)
        if number is None or not 1 <= number <= count + 1:
            message = text(
                "synthetic_acceptance_length is from 1 to {most} here.", most=count + 1
            )
    if message is not None:
        yield Hit(message=message, start=view.spec_place)


@RuleCard(
    code="METHOD_BEHIND_PATH",
    category="unsupported-method",
    severity=Severity.WARNING,
    summary=text(
        "The engine also reads the method from the drafter's path, and may take that one instead of the method given."
    ),
    fix=text("Rename the drafter's folder, or give the method that its name says."),
    source="vllm#47486",
)
def behind_path(view: LaunchView) -> Iterator[Hit]:
    """Fires on draft models and Medusa whose path names another method."""
    speculation = view.speculation
    if speculation is None or speculation.method_as_written is None:
        return
    path = (speculation.drafter_resolved or "").lower()
    if speculation.method not in ("draft_model", "medusa") or not view.launch.is_vllm:
        return
    named = next(
        (one for one in ("eagle3", "eagle-", "dflash", "dspark") if one in path), None
    )
    if named is not None:
        yield Hit(
            message=text(
                "The method is {method}, but the path {path} holds {named}.",
                method=speculation.method,
                path=(speculation.drafter_resolved or "")[:120],
                named=named,
            ),
            evidence=named,
            start=view.spec_place,
        )


KEY_VALUE_RULES: tuple[LaunchRule, ...] = (
    key_value,
    other_method,
    count_table,
    synthetic_values,
    behind_path,
)
