"""Prefill and decode in one input: the same method, drafter and, for some models, count."""

from collections.abc import Iterator

from deployments.planning.methods import Method
from deployments.planning.plan import Severity
from deployments.planning.rules.launch import families
from deployments.planning.rules.launch.rule import Hit, RuleCard
from deployments.planning.rules.launch.view import EAGLE_FAMILY, LaunchView
from deployments.planning.text import text

GUIDE = "vllm-ascend documentation v0.23.0, prefill/decode disaggregation"
HYBRID_WORDS = frozenset(("qwen3_5_mtp", "qwen3_next_mtp", "nemotron_h_mtp"))
ONE_SIDE = RuleCard(
    code="DRAFTER_ON_ONE_SIDE",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "Prefill and decode do not draft alike: decode misses the drafter's cache of the prompt, or the sides refuse each other."
    ),
    fix=text("Use the same method and drafter on both; prefill drafts 1 token."),
    source=f"{GUIDE}; vLLM 0.28.0 and later, NIXL compatibility hash",
)
METHODS = RuleCard(
    code="METHODS_DIFFER_ACROSS_ROLES",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text("Prefill and decode draft with different methods or drafters."),
    fix=text("Use the same method and drafter on both."),
    source=f"{GUIDE}; vLLM 0.28.0 and later, NIXL compatibility hash",
)
COUNTS = RuleCard(
    code="COUNTS_DIFFER_ACROSS_ROLES",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "Hybrid models and DSpark must draft the same number on prefill and decode, or decode reads the wrong state."
    ),
    fix=text("Draft the same number on both."),
    source=f"{GUIDE}; vllm-ascend#16160",
)
EAGER = RuleCard(
    code="DRAFT_EAGER_DIFFERS_ACROSS_ROLES",
    category="disaggregation",
    severity=Severity.WARNING,
    summary=text("Prefill and decode differ in enforce_eager for the drafter."),
    fix=text("Set it alike on both."),
    source="vllm-ascend documentation v0.23.0, GLM5 tutorial",
)
RANKS = RuleCard(
    code="PREFILL_TENSOR_PARALLEL",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "On Ascend prefill's tensor parallel size must be a multiple of decode's."
    ),
    fix=text("Give prefill a multiple of decode's ranks."),
    source=GUIDE,
)
ENGINE_ID = RuleCard(
    code="ENGINE_ID_TWICE",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text("Prefill and decode have the same engine_id."),
    fix=text("Give each instance an engine_id of its own, or leave it out."),
    source="vllm-ascend sources: Conflict engine id",
)
CONNECTORS = RuleCard(
    code="CONNECTORS_DIFFER_ACROSS_ROLES",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text("Prefill and decode use different KV connectors."),
    fix=text("Use the same connector on both; never mix pushing and pulling."),
    source="vLLM 0.32.0 documentation, KV connectors",
)
CACHES = RuleCard(
    code="CACHES_DIFFER_ACROSS_ROLES",
    category="disaggregation",
    severity=Severity.ERROR,
    summary=text(
        "Prefill and decode keep their KV cache differently, and NIXL compares that before it transfers."
    ),
    fix=text("Give both the same value."),
    source="vLLM 0.13.0 and later: NIXL compatibility hash mismatch",
    versions=text("vLLM 0.13.0 and later"),
)
SEEDS = RuleCard(
    code="HASH_SEEDS_DIFFER",
    category="disaggregation",
    severity=Severity.WARNING,
    summary=text(
        "LMCache finds no block of the other side unless PYTHONHASHSEED is the same on both."
    ),
    fix=text("Set PYTHONHASHSEED=0 on both."),
    source="vLLM 0.32.0 documentation, LMCache",
)
PAIR_CARDS = (
    ONE_SIDE,
    METHODS,
    COUNTS,
    EAGER,
    RANKS,
    ENGINE_ID,
    CONNECTORS,
    CACHES,
    SEEDS,
)
_COMPARED = ("--kv-cache-dtype", "--dtype", "--attention-backend")

Found = tuple[RuleCard, Hit, Severity]


def counts_must_be_equal(view: LaunchView) -> bool:
    """Whether prefill and decode must draft the same number (hybrid state, DSpark)."""
    if view.method == Method.DSPARK.value or view.config.get("method") in HYBRID_WORDS:
        return True
    known = view.target is not None and view.target.equal_counts_across_roles
    return known or families.is_hybrid(view.names)


def pair_hits(prefill: LaunchView, decode: LaunchView) -> Iterator[Found]:
    """Yield card, hit and severity for one prefill and one decode launch of the same model."""
    yield from _one_sided(prefill, decode)
    yield from _methods(prefill, decode)
    yield from _counts(prefill, decode)
    yield from _ranks(prefill, decode)
    yield from _connectors(prefill, decode)
    yield from _caches(prefill, decode)
    first, second = prefill.transfer.get("engine_id"), decode.transfer.get("engine_id")
    if first is not None and first == second and "$" not in str(first):
        yield (
            ENGINE_ID,
            Hit(
                message=text("Both sides have the engine_id {id}.", id=str(first)[:80])
            ),
            Severity.ERROR,
        )


def _one_sided(prefill: LaunchView, decode: LaunchView) -> Iterator[Found]:
    if (prefill.speculation is None) == (decode.speculation is None):
        return
    drafting = prefill if prefill.speculation is not None else decode
    if (
        drafting.method not in EAGLE_FAMILY
        and drafting.method != Method.DRAFT_MODEL.value
    ):
        return
    without = text("decode") if drafting is prefill else text("prefill")
    yield (
        ONE_SIDE,
        Hit(
            message=text(
                "{without} does not draft, while the other side drafts with {method}.",
                without=without,
                method=drafting.method or "",
            ),
            evidence=drafting.method or "",
            start=drafting.spec_place,
        ),
        _one_sided_severity(drafting),
    )


def _one_sided_severity(drafting: LaunchView) -> Severity:
    if drafting.role == "prefill":
        nixl = str(drafting.transfer.get("kv_connector")).startswith("Nixl")
        if not nixl or drafting.vllm_before(0, 28, 0):
            return Severity.WARNING
    if drafting.method == Method.MTP.value:
        return Severity.ERROR
    if drafting.ascend or drafting.method == Method.DRAFT_MODEL.value:
        return Severity.WARNING
    nixl = str(drafting.transfer.get("kv_connector")).startswith("Nixl")
    old = drafting.vllm_before(0, 28, 0)
    return Severity.ERROR if nixl and not old else Severity.WARNING


def _methods(prefill: LaunchView, decode: LaunchView) -> Iterator[Found]:
    first, second = prefill.speculation, decode.speculation
    if first is None or second is None:
        return
    names = [
        (one.method, families.last_part(one.drafter_resolved or ""))
        for one in (first, second)
    ]
    if names[0] != names[1] and None not in (names[0][0], names[1][0]):
        said = [" ".join(part for part in name if part) for name in names]
        yield (
            METHODS,
            Hit(
                message=text(
                    "Prefill drafts with {first} and decode with {second}.",
                    first=said[0],
                    second=said[1],
                ),
                evidence=", ".join(said),
                start=decode.spec_place,
            ),
            Severity.ERROR,
        )
    elif prefill.ascend and families.is_glm(decode.names):
        eager = [one.config.get("enforce_eager") is True for one in (first, second)]
        if eager[0] != eager[1]:
            yield (
                EAGER,
                Hit(
                    message=text("Only one side has enforce_eager for its drafter."),
                    start=decode.spec_place,
                ),
                Severity.WARNING,
            )


def _counts(prefill: LaunchView, decode: LaunchView) -> Iterator[Found]:
    given, wanted = prefill.count, decode.count
    if given is None or wanted is None or given == wanted:
        return
    if counts_must_be_equal(decode):
        yield (
            COUNTS,
            Hit(
                message=text(
                    "Prefill drafts {given} tokens and decode {wanted}; this model needs the same number on both.",
                    given=given,
                    wanted=wanted,
                ),
                evidence=f"{given}, {wanted}",
                start=prefill.spec_place,
            ),
            Severity.ERROR,
        )


def _ranks(prefill: LaunchView, decode: LaunchView) -> Iterator[Found]:
    first, second = (
        prefill.launch.tensor_parallel_size,
        decode.launch.tensor_parallel_size,
    )
    if prefill.ascend and second > 0 and first % second:
        yield (
            RANKS,
            Hit(
                message=text(
                    "Prefill has {first} tensor parallel ranks and decode {second}.",
                    first=first,
                    second=second,
                ),
                evidence=f"{first}, {second}",
                start=prefill.place("--tensor-parallel-size"),
            ),
            Severity.ERROR,
        )


def _connectors(prefill: LaunchView, decode: LaunchView) -> Iterator[Found]:
    first, second = (one.transfer.get("kv_connector") for one in (prefill, decode))
    if first is None or second is None or "$" in f"{first}{second}":
        return
    if first != second and "MultiConnector" not in (first, second):
        yield (
            CONNECTORS,
            Hit(
                message=text(
                    "Prefill uses {first} and decode {second}.",
                    first=str(first)[:80],
                    second=str(second)[:80],
                ),
                evidence=f"{first}, {second}"[:160],
                start=decode.place("--kv-transfer-config"),
            ),
            Severity.ERROR,
        )
    elif str(first).startswith("LMCacheConnector"):
        seeds = [one.launch.variable("PYTHONHASHSEED") for one in (prefill, decode)]
        if seeds[0] != seeds[1] or seeds[0] is None:
            yield (
                SEEDS,
                Hit(
                    message=text("PYTHONHASHSEED is not set alike on both sides."),
                    evidence="PYTHONHASHSEED",
                    start=decode.launch.start,
                ),
                Severity.WARNING,
            )


def _caches(prefill: LaunchView, decode: LaunchView) -> Iterator[Found]:
    nixl = str(decode.transfer.get("kv_connector")).startswith("Nixl")
    extra = decode.transfer.get("kv_connector_extra_config")
    lax = isinstance(extra, dict) and extra.get("enforce_handshake_compat") is False
    if not nixl or lax or decode.vllm_before(0, 13, 0):
        return
    for flag in _COMPARED:
        first, second = (one.launch.value(flag) or "auto" for one in (prefill, decode))
        if first != second and "$" not in first + second:
            yield (
                CACHES,
                Hit(
                    message=text(
                        "{flag} is {first} on prefill and {second} on decode.",
                        flag=flag,
                        first=first,
                        second=second,
                    ),
                    evidence=flag,
                    start=decode.place(flag),
                ),
                Severity.ERROR,
            )
