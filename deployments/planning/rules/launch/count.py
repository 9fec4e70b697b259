"""num_speculative_tokens: missing, zero, not divisible, beyond what kernel or method take."""

from collections.abc import Iterator

from deployments.planning.methods import ASCEND_MAX_TOKENS_PER_STEP, FACTS, Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.keys import refused_spelling_of
from deployments.planning.rules.launch.rule import Hit, LaunchRule, RuleCard, set_key
from deployments.planning.rules.launch.view import LaunchView
from deployments.planning.text import text

RUN = "vLLM 0.32.0, run with such counts"
KEY = "num_speculative_tokens"
_OWN_COUNT = frozenset(("suffix", "dspark", "extract_hidden_states"))
LONGEST_LOOKUP = 10
HIGHEST_SENSIBLE = {"mtp": 8, "draft_model": 10, "eagle": 10, "eagle3": 10, "ngram": 16}


@RuleCard(
    code="COUNT_MISSING",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text(
        "num_speculative_tokens is not given, and the method has no default that works."
    ),
    fix=text("Always write num_speculative_tokens."),
    source=f"{RUN}; vllm#55323, #20375",
)
def missing(view: LaunchView) -> Iterator[Hit]:
    """Fires on a config without a count, suffix and DSpark left out; a misspelt key that is refused says it itself."""
    speculation = view.speculation
    if speculation is None or speculation.implied or not view.launch.is_vllm:
        return
    if KEY in view.config or view.method in _OWN_COUNT or view.method is None:
        return
    if not view.config or "num_speculative_tokens_per_batch_size" in view.config:
        return
    if refused_spelling_of(view, KEY):
        return
    yield Hit(
        message=text(
            "num_speculative_tokens is missing; {method} does not start without it.",
            method=view.method,
        ),
        evidence=view.method,
        start=view.spec_place,
    )


@RuleCard(
    code="COUNT_NOT_POSITIVE",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text("num_speculative_tokens must be a whole number above 0."),
    fix=text("Write 1 or more, or leave the speculative config out."),
    source=f"{RUN}: Input should be greater than 0; ROCm/ATOM#604",
)
def not_positive(view: LaunchView) -> Iterator[Hit]:
    """Fires on 0, negative numbers, fractions and words."""
    given, count = view.config.get(KEY), view.count
    if given is None or (isinstance(given, str) and "$" in given and count is None):
        return
    if count is None or count < 1:
        yield Hit(
            message=text(
                "num_speculative_tokens is {given}; it must be a whole number above 0.",
                given=str(given)[:40],
            ),
            evidence=str(given)[:40],
            start=view.spec_place,
        )


@RuleCard(
    code="COUNT_ABOVE_KERNEL_LIMIT",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text(
        "Drafted tokens plus one must not exceed 16 on Ascend, the limit of its attention kernel."
    ),
    fix=text("Draft 15 tokens or fewer."),
    source="vllm-ascend sources: limit of 16 in the TND layout",
    platforms=("ascend",),
)
def kernel_limit(view: LaunchView) -> Iterator[Hit]:
    """Fires on 16 drafted tokens and more on Ascend."""
    count = view.count
    if not view.ascend or count is None or count + 1 <= ASCEND_MAX_TOKENS_PER_STEP:
        return
    yield Hit(
        message=text(
            "{count} drafted tokens and the target's own make {step} a step; the attention kernel takes {limit} at most.",
            count=count,
            step=count + 1,
            limit=ASCEND_MAX_TOKENS_PER_STEP,
        ),
        evidence=str(count),
        start=view.spec_place,
        edits=(set_key(KEY, ASCEND_MAX_TOKENS_PER_STEP - 1),),
    )


@RuleCard(
    code="COUNT_BELOW_METHOD_LIMIT",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text("DSpark drafts at least 5 tokens on Ascend."),
    fix=text("Draft the checkpoint's block size, such as 7."),
    source="vllm-ascend documentation, speculative decoding guide",
    platforms=("ascend",),
)
def method_limit(view: LaunchView) -> Iterator[Hit]:
    """Fires on DSpark with fewer than 5 tokens on Ascend."""
    method, count = view.method_enum, view.count
    if method is not Method.DSPARK or not view.ascend or count is None or count < 1:
        return
    facts = FACTS[method]
    if count < facts.smallest_count:
        yield Hit(
            message=text(
                "{method} drafts {least} tokens a step or more, not {count}.",
                method=facts.title,
                least=facts.smallest_count,
                count=count,
            ),
            evidence=str(count),
            start=view.spec_place,
            edits=(set_key(KEY, facts.default_count),),
        )


@RuleCard(
    code="COUNT_NOT_DIVISIBLE",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text(
        "With several MTP layers, a higher count must be a multiple of their number."
    ),
    fix=text("Use a multiple of the number of MTP layers."),
    source=f"{RUN}: must be divisible by n_predict",
)
def not_divisible(view: LaunchView) -> Iterator[Hit]:
    """Fires on a count that the layers of a known model do not divide."""
    layers = view.target.mtp_layers if view.target else None
    count = view.count
    if (
        view.method != Method.MTP.value
        or not layers
        or count is None
        or count <= layers
    ):
        return
    if count % layers:
        yield Hit(
            message=text(
                "{count} is no multiple of the {layers} MTP layers of {model}.",
                count=count,
                layers=layers,
                model=view.model,
            ),
            evidence=str(count),
            start=view.spec_place,
            edits=(set_key(KEY, count - count % layers),),
        )


@RuleCard(
    code="MTP_LAYER_REUSED",
    category="k-limit",
    severity=Severity.INFO,
    summary=text(
        "Drafting more tokens than there are MTP layers runs the same layer again; each further token is accepted less often."
    ),
    fix=text(
        "Watch the acceptance rate by position and draft fewer where it falls off."
    ),
    source="vLLM 0.11.0 and later: multiple times of forward on same MTP layer",
    versions=text("vLLM 0.11.0 and later"),
)
def layer_reused(view: LaunchView) -> Iterator[Hit]:
    """Fires on more tokens than layers where the catalog knows the layers."""
    layers = view.target.mtp_layers if view.target else None
    count = view.count
    if (
        view.method == Method.MTP.value
        and layers
        and count is not None
        and count > layers
    ):
        yield Hit(
            message=text(
                "{model} has {layers} MTP layer; drafting {count} tokens runs it again for each.",
                model=view.model,
                layers=layers,
                count=count,
            ),
            evidence=str(count),
            start=view.spec_place,
        )


@RuleCard(
    code="COUNT_HIGH",
    category="low-acceptance",
    severity=Severity.WARNING,
    summary=text(
        "So many drafted tokens a step cost more than they bring; late positions are hardly accepted."
    ),
    fix=text("Start with 3 and raise it while the acceptance by position stays high."),
    source="vllm-ascend#9290, #9871; field guide, pitfalls",
)
def high(view: LaunchView) -> Iterator[Hit]:
    """Fires on counts beyond anything that documents or reports recommend."""
    limit = HIGHEST_SENSIBLE.get(view.method or "")
    count = view.count
    if limit is None or count is None or count <= limit or not view.launch.is_vllm:
        return
    yield Hit(
        message=text(
            "{count} drafted tokens a step are more than {method} usually gets accepted.",
            count=count,
            method=view.method or "",
        ),
        evidence=str(count),
        start=view.spec_place,
    )


@RuleCard(
    code="NGRAM_LOOKUP_LONG",
    category="slower-than-baseline",
    severity=Severity.WARNING,
    summary=text(
        "A long n-gram lookup is searched on the processor from long to short and rarely matches."
    ),
    fix=text("Use prompt_lookup_min 2 and prompt_lookup_max 4 or 5."),
    source="vllm#16883",
)
def long_lookup(view: LaunchView) -> Iterator[Hit]:
    """Fires on prompt_lookup_max above 10."""
    longest = view.config.get("prompt_lookup_max")
    if (
        not isinstance(longest, int)
        or isinstance(longest, bool)
        or longest <= LONGEST_LOOKUP
    ):
        return
    if view.method not in ("ngram", "ngram_gpu"):
        return
    yield Hit(
        message=text(
            "prompt_lookup_max {longest} is searched from long to short and rarely matches.",
            longest=longest,
        ),
        evidence=str(longest),
        start=view.spec_place,
        edits=(set_key("prompt_lookup_max", 5), set_key("prompt_lookup_min", 2))
        if not view.speculation or not view.speculation.old_flags
        else (),
    )


@RuleCard(
    code="NGRAM_LOOKUP_ORDER",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text(
        "prompt_lookup_min must not exceed prompt_lookup_max, and both start at 1."
    ),
    fix=text("Make the minimum smaller."),
    source=f"{RUN}: prompt_lookup_min must be <= prompt_lookup_max",
)
def lookup_order(view: LaunchView) -> Iterator[Hit]:
    """Fires on a minimum above the maximum, and on lengths below 1."""
    values = [
        view.config.get(key) for key in ("prompt_lookup_min", "prompt_lookup_max")
    ]
    shortest, longest = (
        one if isinstance(one, int) and not isinstance(one, bool) else None
        for one in values
    )
    wrong = shortest is not None and longest is not None and shortest > longest
    below = any(one is not None and one < 1 for one in (shortest, longest))
    if (wrong or below) and view.launch.is_vllm:
        yield Hit(
            message=text(
                "prompt_lookup_min is {shortest} and prompt_lookup_max is {longest}.",
                shortest=str(shortest),
                longest=str(longest),
            ),
            evidence=f"{shortest}, {longest}",
            start=view.spec_place,
        )


@RuleCard(
    code="NGRAM_SMALL_TARGET",
    category="slower-than-baseline",
    severity=Severity.WARNING,
    summary=text(
        "N-gram with many tokens on a small target costs more in verification than it saves."
    ),
    fix=text("Turn speculation off, or draft 2 or 3 tokens, for copy-heavy work only."),
    source="vllm#6494, #8439",
)
def small_target(view: LaunchView) -> Iterator[Hit]:
    """Fires on n-gram with 5 tokens and more on targets up to 3 billion parameters."""
    size, count = families.billions(view.model), view.count
    if view.method != Method.NGRAM.value or size is None or size > 3 or count is None:
        return
    if count >= 5:
        yield Hit(
            message=text(
                "N-gram with {count} tokens on {model} verifies more than it saves.",
                count=count,
                model=view.model,
            ),
            evidence=str(count),
            start=view.spec_place,
        )


@RuleCard(
    code="HIDDEN_STATES_COUNT",
    category="k-limit",
    severity=Severity.ERROR,
    summary=text("extract_hidden_states takes exactly one speculative token."),
    fix=text("Write 1."),
    source="vLLM sources, 0.17.0 to 0.33.0",
    versions=text("vLLM 0.17.0 and later"),
)
def hidden_states(view: LaunchView) -> Iterator[Hit]:
    """Fires on extract_hidden_states with another count than 1."""
    if view.method == "extract_hidden_states" and view.count not in (None, 1):
        yield Hit(
            message=text("extract_hidden_states takes exactly one speculative token."),
            evidence=str(view.count),
            start=view.spec_place,
            edits=(set_key(KEY, 1),),
        )


COUNT_RULES: tuple[LaunchRule, ...] = (
    missing,
    not_positive,
    kernel_limit,
    method_limit,
    not_divisible,
    layer_reused,
    high,
    long_lookup,
    lookup_order,
    small_target,
    hidden_states,
)
