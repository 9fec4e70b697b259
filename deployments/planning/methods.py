"""The speculative methods: what each needs, where and since when it works, and its limits."""

from dataclasses import dataclass
from enum import StrEnum

from deployments.planning.errors import PlanningError
from deployments.planning.text import Text, text
from deployments.planning.versions import Version

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

    ``since`` and ``until`` are vLLM releases, ``until`` being the last that runs it;
    ``since_ascend`` is the vllm-ascend release, ``None`` when there is none.
    ``async_scheduling`` is false where the method turns it off.
    """

    method: Method
    title: Text | str
    drafter_noun: Text
    need: Need
    since: Version
    since_ascend: Version | None
    until: Version | None = None
    on_cpu: bool = True
    async_scheduling: bool = True
    smallest_count: int = 1
    default_count: int = 3
    package: str | None = None
    source: str = VLLM_SOURCES


def _v(*numbers: int) -> Version:
    return Version(numbers)


_FACTS = (
    MethodFacts(
        method=Method.MTP,
        title="MTP",
        drafter_noun=text("MTP layers"),
        need=Need.MTP_WEIGHTS,
        since=_v(0, 9, 0),
        since_ascend=_v(0, 9, 1),
    ),
    MethodFacts(
        method=Method.EAGLE3,
        title="EAGLE-3",
        drafter_noun=text("EAGLE-3 head"),
        need=Need.DRAFTER,
        since=_v(0, 9, 1),
        since_ascend=_v(0, 11, 0),
    ),
    MethodFacts(
        method=Method.EAGLE,
        title="EAGLE",
        drafter_noun=text("EAGLE head"),
        need=Need.DRAFTER,
        since=_v(0, 8, 5),
        since_ascend=_v(0, 11, 0),
    ),
    MethodFacts(
        method=Method.DFLASH,
        title="DFlash",
        drafter_noun=text("DFlash module"),
        need=Need.DRAFTER,
        since=_v(0, 20, 0),
        since_ascend=Version((0, 19, 1), (0, 1)),
        on_cpu=False,
        default_count=15,
    ),
    MethodFacts(
        method=Method.DSPARK,
        title="DSpark",
        drafter_noun=text("DSpark module"),
        need=Need.DRAFTER,
        since=_v(0, 25, 1),
        since_ascend=_v(0, 24, 0),
        on_cpu=False,
        smallest_count=5,
        default_count=7,
    ),
    MethodFacts(
        method=Method.DRAFT_MODEL,
        title=text("Draft model"),
        drafter_noun=text("draft model"),
        need=Need.DRAFTER,
        since=_v(0, 16, 0),
        since_ascend=_v(0, 22, 1),
    ),
    MethodFacts(
        method=Method.SUFFIX,
        title="Suffix",
        drafter_noun=text("drafter"),
        need=Need.PACKAGE,
        since=_v(0, 11, 1),
        since_ascend=_v(0, 13, 0),
        async_scheduling=False,
        package="arctic-inference",
    ),
    MethodFacts(
        method=Method.NGRAM,
        title="N-gram",
        drafter_noun=text("drafter"),
        need=Need.NOTHING,
        since=_v(0, 8, 5),
        since_ascend=_v(0, 9, 1),
        async_scheduling=False,
    ),
    MethodFacts(
        method=Method.NGRAM_GPU,
        title=text("N-gram on the device"),
        drafter_noun=text("drafter"),
        need=Need.NOTHING,
        since=_v(0, 18, 0),
        since_ascend=_v(0, 22, 1),
        on_cpu=False,
    ),
    MethodFacts(
        method=Method.MEDUSA,
        title="Medusa",
        drafter_noun=text("Medusa heads"),
        need=Need.DRAFTER,
        since=_v(0, 8, 5),
        since_ascend=Version((0, 14, 0), (0, 1)),
        until=_v(0, 32, 0),
        async_scheduling=False,
    ),
    MethodFacts(
        method=Method.MLP_SPECULATOR,
        title="MLP speculator",
        drafter_noun=text("MLP speculator"),
        need=Need.DRAFTER,
        since=_v(0, 8, 5),
        since_ascend=None,
        until=_v(0, 9, 2),
        async_scheduling=False,
    ),
)
FACTS: dict[Method, MethodFacts] = {facts.method: facts for facts in _FACTS}

MTP_SPELLING_SINCE = _v(0, 11, 0)


def normalise_method(spelling: str) -> Method:
    """Return the method that a spelling means; every ``*_mtp`` is ``mtp`` (vLLM 0.11.0+).

    Raises:
        PlanningError: no engine knows it.
    """
    lowered = spelling.strip().lower().replace("-", "_")
    if lowered.endswith("_mtp"):
        return Method.MTP
    try:
        return Method(lowered)
    except ValueError as error:
        known = ", ".join(method.value for method in Method)
        raise PlanningError(
            text(
                "{spelling} is not a speculative method; use auto, off or one of: {known}.",
                spelling=repr(spelling),
                known=known,
            )
        ) from error


def spelling_for(method: Method, vllm: Version) -> str:
    """Return how a vLLM release wants the method spelt: ``deepseek_mtp`` before 0.11.0."""
    if method is Method.MTP and vllm < MTP_SPELLING_SINCE:
        return "deepseek_mtp"
    return method.value
