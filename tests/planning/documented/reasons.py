"""Why the panel's plan differs from a documented launch on purpose: one reason a kind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deployments.planning.canonical import Json
from deployments.planning.methods import normalise_method
from deployments.planning.plan import Role
from tests.planning.documented.agreement import Compared, compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A deliberate difference: a title, why it stands, and which differences it explains."""

    title: str
    why: str
    explains: Callable[[Compared], bool]


def _table(value: Json) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _spelt(one: Compared) -> bool:
    documented, planned = _table(one.documented), _table(one.planned)
    if one.flag != "--speculative-config" or not documented or not planned:
        return False
    normal = normalise_method(str(documented["method"])).value
    return {**documented, "method": normal} == planned


def _without(one: Compared, key: str) -> bool:
    documented = _table(one.documented)
    documented.pop(key, None)
    return documented == _table(one.planned)


def _added(one: Compared) -> bool:
    return one.documented is None


def _place(*places: str) -> Callable[[Compared], bool]:
    return lambda one: one.situation.launch.place in places


def _recompute_on_prefill(one: Compared) -> bool:
    return (
        one.flag == "--additional-config"
        and one.situation.role is Role.PREFILL
        and _without(one, "recompute_scheduler_enable")
    )


def _no_head(one: Compared) -> bool:
    documented = _table(one.documented)
    return (
        one.flag == "--speculative-config"
        and str(documented.get("model", "")).startswith("your_")
        and "model" not in _table(one.planned)
    )


REASONS = (
    Reason(
        title="MTP is spelt `mtp`",
        why=(
            "`deepseek_mtp` and `qwen3_5_mtp` are old names that vLLM 0.11 and later fold into `mtp`; "
            "the panel writes the name of the engine version. Method and count are the same."
        ),
        explains=_spelt,
    ),
    Reason(
        title="One API server",
        why=(
            "With data parallel ranks the panel sets `--api-server-count 1`: more than one turns the "
            "acceptance lines of the log off. With one rank there is nothing to say."
        ),
        explains=lambda one: one.flag == "--api-server-count",
    ),
    Reason(
        title="No profiler in production",
        why="`--profiler-config` writes traces; it is for a session with a developer.",
        explains=lambda one: one.flag == "--profiler-config",
    ),
    Reason(
        title="No files of the host for requests",
        why="`--allowed-local-media-path /` lets a request read every file in the container.",
        explains=lambda one: one.flag == "--allowed-local-media-path",
    ),
    Reason(
        title="The recompute scheduler is for decode nodes",
        why=(
            "The configuration guide of the same release has `recompute_scheduler_enable` on decode "
            "nodes only; some tutorials carry it on prefill as well."
        ),
        explains=_recompute_on_prefill,
    ),
    Reason(
        title="3 tokens on GLM-5.2 decode nodes",
        why=(
            "The A3 tutorial drafts 5 and the A2 and the 1M ones 3; the field guide runs 3 in production. "
            "The panel recommends 3 and shows 5 beside it."
        ),
        explains=lambda one: (
            one.flag == "--speculative-config"
            and one.situation.model == "zai-org/GLM-5.2"
            and _table(one.documented).get("num_speculative_tokens") == 5
            and _table(one.planned).get("num_speculative_tokens") == 3
        ),
    ),
    Reason(
        title="Both sides hold the EAGLE-3 head",
        why=(
            "The Kimi-K2.6 tutorial leaves the head out on prefill; decode then misses the KV cache of "
            "its layers. The Kimi-K2.5 and MiniMax-M2 tutorials and the field guide have it on both."
        ),
        explains=lambda one: (
            one.flag == "--speculative-config"
            and one.situation.role is Role.PREFILL
            and one.situation.model == "moonshotai/Kimi-K2.6"
            and _added(one)
        ),
    ),
    Reason(
        title="Both prefill nodes are alike",
        why=(
            "The Kimi-K2.6 tutorial sets `use_ascend_direct` on one of two equal prefill nodes; the panel "
            "sets it on both."
        ),
        explains=lambda one: (
            one.flag == "--kv-transfer-config"
            and one.situation.launch.place == "Kimi-K2.6.md:407"
        ),
    ),
    Reason(
        title="A head must have a name",
        why=(
            "The tutorials leave the EAGLE-3 head of Qwen3-32B and Qwen3-235B to the reader and the catalog "
            "binds none, so the plan names none and says so in an error until a head is added."
        ),
        explains=_no_head,
    ),
    Reason(
        title="MooncakeConnectorV1 instead of the layerwise one",
        why=(
            "The same guide documents both for the same machines; the layerwise one needs its own proxy, "
            "which must be reachable from the decode nodes."
        ),
        explains=lambda one: (
            _table(one.documented).get("kv_connector") == "MooncakeLayerwiseConnector"
        ),
    ),
    Reason(
        title="No KV pool",
        why=(
            "The A2 tutorial of GLM-5.2 adds a pool (`AscendStoreConnector`) through `MultiConnector`; its "
            "service is not part of a plan. Prefill and decode transfer the same cache without it."
        ),
        explains=lambda one: (
            _table(one.documented).get("kv_connector") == "MultiConnector"
        ),
    ),
    Reason(
        title="No pipeline parallel prefill",
        why=(
            "The guide to chunked pipeline parallelism cuts prefill into two stages with its own scheduler, "
            "prefix cache and `pp_size`; the panel plans the tutorial of the same model instead."
        ),
        explains=lambda one: (
            one.situation.launch.document == "dynamic_chunked_pipeline_parallel.md"
        ),
    ),
    Reason(
        title="No Ray",
        why=(
            "The Ray guide serves BF16 across hosts with `--distributed-executor-backend ray`; the panel starts "
            "its ranks itself and takes the w8a8 checkpoint and settings of the model's tutorial."
        ),
        explains=lambda one: one.situation.launch.document == "ray.md",
    ),
    Reason(
        title="Values that are no JSON or of the wrong kind",
        why=(
            "One value has words behind its JSON, another writes a boolean as text; the panel writes the "
            "value that is meant, or leaves it out where the drafts of one tutorial disagree."
        ),
        explains=_place(
            "GLM5.2.md:1118", "DeepSeek-V3.1.md:817", "DeepSeek-V3.1.md:881"
        ),
    ),
    Reason(
        title="The tokenizer beside the weights",
        why="`--tokenizer` names a path of the reader; the panel mounts one directory with both.",
        explains=lambda one: one.flag == "--tokenizer",
    ),
    Reason(
        title="One block size for both hosts",
        why="The tutorial sets `--block-size` on the second of two equal hosts only.",
        explains=_place("GLM5.2.md:958"),
    ),
    Reason(
        title="A first start without graphs",
        why="Gemma 4 is shown without graphs first and with them afterwards; the panel captures.",
        explains=_place("Gemma4.md:84"),
    ),
    Reason(
        title="Parser and its switch belong together",
        why=(
            "`--tool-call-parser` does nothing without `--enable-auto-tool-choice`; the switch sets both."
        ),
        explains=lambda one: one.flag == "--enable-auto-tool-choice" and _added(one),
    ),
    Reason(
        title="One seed",
        why="One command uses 42, all others 1024 or none; the panel keeps 1024 where documents have it.",
        explains=lambda one: one.flag == "--seed",
    ),
    Reason(
        title="Tuned for one shape",
        why=(
            "Commands for one model on the same devices differ in graph sizes, prefix cache and fusion because they "
            "were tuned for different lengths; the panel plans the recommended table of the tutorial."
        ),
        explains=lambda one: (
            one.situation.launch.document == "Qwen3-Dense.md"
            or _place("Qwen3.5-27B-Qwen3.6-27B.md:844", "DeepSeek-V4-Flash.md:201")(one)
        ),
    ),
    Reason(
        title="310P needs npugraph_ex off",
        why=(
            "The quick start of the release demands `enable_npugraph_ex: false` on 310P; the tutorial of "
            "PaddleOCR-VL leaves it out."
        ),
        explains=_place("PaddleOCR-VL.md:136"),
    ),
    Reason(
        title="MTP on 310P stays eager",
        why=(
            "vllm-ascend 0.21.0rc1 to 0.23.0 fail to capture MTP on 310P (vllm-ascend#12983), so the panel adds "
            "`--enforce-eager`; the tutorials describe the development branch."
        ),
        explains=lambda one: (
            one.flag == "--enforce-eager" and one.situation.platform == "ascend-310p"
        ),
    ),
)


def reason_for(one: Compared) -> Reason | None:
    """The first reason that explains a difference."""
    return next((reason for reason in REASONS if reason.explains(one)), None)


def differences() -> tuple[Compared, ...]:
    """Every flag on which plan and document differ, whoever lacks it."""
    return tuple(one for one in compared() if not one.agrees)
