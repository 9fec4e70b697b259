"""The speculative methods: what each needs, where and since when it works, and its limits."""

from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, listed, text

VLLM_SOURCES = "vLLM sources, 0.8.5 to 0.33.0"
ASCEND_MAX_TOKENS_PER_STEP = 16
"""Draft tokens plus one on Ascend: limit of the fused attention kernel (vllm-ascend v0.23.0)."""


class Method(StrEnum):
    """vLLM's ``method`` in ``--speculative-config``, in the order in which they are weighed."""

    MTP = "mtp"
    EAGLE3 = "eagle3"
    EAGLE = "eagle"
    DFLASH = "dflash"
    DSPARK = "dspark"
    DRAFT_MODEL = "draft_model"
    SUFFIX = "suffix"
    NGRAM = "ngram"
    NGRAM_GPU = "ngram_gpu"
    MEDUSA = "medusa"
    MLP_SPECULATOR = "mlp_speculator"


class Need(StrEnum):
    """What a method needs besides the target model."""

    MTP_WEIGHTS = "mtp_weights"
    DRAFTER = "drafter"
    PACKAGE = "package"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFacts:
    """What is true of a method whatever the model.

    Since and until when a release runs it is in the engine profiles (``engines/lives.py``).
    ``async_scheduling`` is false where the method turns it off.
    """

    method: Method
    title: Text | str
    drafter_noun: Text
    need: Need
    on_cpu: bool = True
    async_scheduling: bool = True
    smallest_count: int = 1
    default_count: int = 3
    package: str | None = None
    source: str = VLLM_SOURCES


_FACTS = (
    MethodFacts(
        method=Method.MTP,
        title="MTP",
        drafter_noun=text("MTP layers"),
        need=Need.MTP_WEIGHTS,
    ),
    MethodFacts(
        method=Method.EAGLE3,
        title="EAGLE-3",
        drafter_noun=text("EAGLE-3 head"),
        need=Need.DRAFTER,
    ),
    MethodFacts(
        method=Method.EAGLE,
        title="EAGLE",
        drafter_noun=text("EAGLE head"),
        need=Need.DRAFTER,
    ),
    MethodFacts(
        method=Method.DFLASH,
        title="DFlash",
        drafter_noun=text("DFlash module"),
        need=Need.DRAFTER,
        on_cpu=False,
        default_count=15,
    ),
    MethodFacts(
        method=Method.DSPARK,
        title="DSpark",
        drafter_noun=text("DSpark module"),
        need=Need.DRAFTER,
        on_cpu=False,
        smallest_count=5,
        default_count=7,
    ),
    MethodFacts(
        method=Method.DRAFT_MODEL,
        title=text("Draft model"),
        drafter_noun=text("draft model"),
        need=Need.DRAFTER,
    ),
    MethodFacts(
        method=Method.SUFFIX,
        title="Suffix",
        drafter_noun=text("drafter"),
        need=Need.PACKAGE,
        async_scheduling=False,
        package="arctic-inference",
    ),
    MethodFacts(
        method=Method.NGRAM,
        title="N-gram",
        drafter_noun=text("drafter"),
        need=Need.NOTHING,
        async_scheduling=False,
    ),
    MethodFacts(
        method=Method.NGRAM_GPU,
        title=text("N-gram on the device"),
        drafter_noun=text("drafter"),
        need=Need.NOTHING,
        on_cpu=False,
    ),
    MethodFacts(
        method=Method.MEDUSA,
        title="Medusa",
        drafter_noun=text("Medusa heads"),
        need=Need.DRAFTER,
        async_scheduling=False,
    ),
    MethodFacts(
        method=Method.MLP_SPECULATOR,
        title="MLP speculator",
        drafter_noun=text("MLP speculator"),
        need=Need.DRAFTER,
        async_scheduling=False,
    ),
)
FACTS: dict[Method, MethodFacts] = {facts.method: facts for facts in _FACTS}

RECOGNISED = {
    "custom_class": text("it runs a Python class of your own"),
    "extract_hidden_states": text("it collects training data and drafts nothing"),
}
"""Values of ``method`` that are read in a launch and never planned (vLLM 0.17.0 and later)."""


def normalise_method(spelling: str) -> Method:
    """Return the method that a spelling means; every ``*_mtp`` is ``mtp`` (vLLM 0.11.0+).

    Raises:
        PlanningError: no engine knows it, or it is one that the panel does not plan with.
    """
    lowered = spelling.strip().strip("[]").lower().replace("-", "_")
    if lowered.endswith("_mtp"):
        return Method.MTP
    if lowered in RECOGNISED:
        raise PlanningError(
            text(
                "{spelling} is a method that this panel reads in a launch but does not plan with: "
                "{why}. Use auto, off or another method.",
                spelling=lowered,
                why=RECOGNISED[lowered],
            )
        )
    try:
        return Method(lowered)
    except ValueError as error:
        known = listed(method.value for method in Method)
        raise PlanningError(
            text(
                "{spelling} is not a speculative method; use auto, off or one of: {known}.",
                spelling=repr(spelling),
                known=known,
            )
        ) from error
