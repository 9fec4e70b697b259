"""The guide: its chapters in their order, and what leads where in it.

The text of a chapter is a template per language, ``guide/<language>/<slug>.html``, with the
partials ``title``, ``summary`` and ``body``. This module names chapters and anchors only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from deployments.planning.methods import Method

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

LANGUAGES = {"en": "en", "zh-hans": "zh_Hans"}
SLUGS = (
    "why",
    "methods",
    "choosing",
    "parameters",
    "disaggregation",
    "ascend",
    "verification",
    "tuning",
    "pitfalls",
    "rules",
)


@dataclass(frozen=True, slots=True)
class Place:
    """A section of a chapter."""

    chapter: str
    anchor: str


@dataclass(frozen=True, slots=True)
class FieldHelp:
    """Where a field of the wizard is explained, and who says what its help text says."""

    place: Place
    source: "StrOrPromise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """One chapter in one language, by the names of its templates."""

    slug: str
    number: int
    folder: str

    @property
    def title(self) -> str:
        """The template that holds the title alone."""
        return f"guide/{self.folder}/{self.slug}.html#title"

    @property
    def summary(self) -> str:
        """The template that holds one sentence about the chapter."""
        return f"guide/{self.folder}/{self.slug}.html#summary"

    @property
    def body(self) -> str:
        """The template that holds the text."""
        return f"guide/{self.folder}/{self.slug}.html#body"


def chapters(language: str | None = None) -> tuple[Chapter, ...]:
    """Every chapter in a language, else in the one of the page; English where there is no other."""
    folder = LANGUAGES.get(language or get_language() or "en", "en")
    return tuple(
        Chapter(slug=slug, number=number, folder=folder)
        for number, slug in enumerate(SLUGS, start=1)
    )


RULES = (
    "METHOD_CLOSED",
    "SPECULATION_OFF",
    "MTP_WEIGHTS_UNCHECKED",
    "DRAFTER_FIT_UNCHECKED",
    "ASYNC_SCHEDULING_OFF",
    "DRAFTER_RUNS_EAGER",
    "COUNT_ABOVE_KERNEL_LIMIT",
    "COUNT_BELOW_METHOD_LIMIT",
    "COUNT_NOT_DIVISIBLE",
    "MTP_LAYER_REUSED",
    "COUNT_CLAIM_NOT_FOLLOWED",
    "CAPTURE_SIZES_NOT_MULTIPLES",
    "CAPTURE_COVERAGE_SHORT",
    "BATCHED_TOKENS_SHORT",
    "BATCH_BELOW_CONCURRENCY",
    "LENGTH_ABOVE_CONTEXT",
    "LENGTH_BELOW_WORKLOAD",
    "BELOW_DOCUMENTED_HARDWARE",
    "MEMORY_BELOW_MINIMUM",
    "MEMORY_DOES_NOT_FIT",
    "MEMORY_TIGHT",
    "MEMORY_UNKNOWN",
    "CONTEXT_SHORTENED",
    "LAYOUT_WIDENED",
    "LAYOUT_ASSUMED",
    "DEVICES_INSUFFICIENT",
    "PORT_TAKEN",
    "DRAFTER_ON_ONE_SIDE",
    "COUNTS_DIFFER_ACROSS_ROLES",
    "PREFILL_DRAFTS_IN_VAIN",
    "PREFILL_TENSOR_PARALLEL",
    "KV_TRANSFER_OVER_TCP",
    "NO_KV_CONNECTOR",
    "ROUTER_PLANNED",
    "KV_CONNECTOR_TOO_NEW",
    "ENGINE_TOO_OLD",
    "IMAGE_NOT_PUBLISHED",
    "DRIVER_NEEDED",
    "CUDA_DRIVER_OLD",
    "PLATFORM_NOT_DOCUMENTED",
    "LENGTH_NEEDED",
    "PRACTICE_IMAGE",
    "IMAGE_UNRESOLVED",
    "BEYOND_CONTAINER_FLOOR",
    "WEIGHTS_INCOMPLETE",
    "WEIGHTS_ABSENT",
    "MODEL_ROOT_NOT_ALLOWED",
    "MODEL_ROOT_UNKNOWN",
    "HOST_ADDRESS_UNKNOWN",
    "HEAD_ADDRESS_UNKNOWN",
    "HOST_INTERFACE_UNKNOWN",
    "API_KEY_UNKNOWN",
    "PUBLIC_PORT_WITHOUT_KEY",
    "ROUTER_ASKS_NO_KEY",
    "API_KEY_STOPS_AT_ROUTER",
    "ENVIRONMENT_FORBIDDEN",
    "ENVIRONMENT_MANAGED",
    "ENVIRONMENT_HOLDS_SECRET",
    "ENVIRONMENT_HAS_DOLLAR",
    "PIPELINE_WITH_DRAFTING",
    "PIPELINE_ON_DECODE",
    "FLAG_UNKNOWN",
    "FLAG_NOT_IN_RELEASE",
    "FLAG_MANAGED",
    "FLAG_FORBIDDEN",
    "FLAG_VALUE_HAS_DOLLAR",
    "FLAG_VALUE_IS_FLAG",
)
"""Codes of findings; each has an entry in the chapter ``rules``."""

_REFUSED = Place("pitfalls", "refused")
_STOPPED = Place("pitfalls", "stopped")
_RUNS_BADLY = Place("pitfalls", "runs-badly")
_QUOTING = Place("parameters", "quoting")
_CONFIG = Place("parameters", "speculative-config")
_COUNT = Place("parameters", "count")
_MTP = Place("methods", "method-mtp")
_DRAFT_MODEL = Place("methods", "method-draft_model")
_MEMORY = Place("parameters", "memory")
DIAGNOSES: Mapping[str, Place] = {
    "SPEC_JSON_INVALID": _QUOTING,
    "ARGUMENTS_UNKNOWN": _CONFIG,
    "ARGUMENT_INVALID": _CONFIG,
    "SPEC_METHOD_UNKNOWN": Place("methods", "table"),
    "SPEC_METHOD_UNSUPPORTED": Place("methods", "table"),
    "MTP_MISSING": _MTP,
    "MTP_WEIGHTS_MISSING": _MTP,
    "SPEC_KEY_UNKNOWN": _CONFIG,
    "SPEC_COUNT_MISSING": _COUNT,
    "SPEC_COUNT_INVALID": _COUNT,
    "SPEC_COUNT_NOT_DIVISIBLE": _COUNT,
    "DRAFTER_NOT_GIVEN": _CONFIG,
    "MODEL_PATH_MISSING": _REFUSED,
    "VOCABULARY_MISMATCH": _DRAFT_MODEL,
    "DRAFT_PARALLEL_SIZE": _DRAFT_MODEL,
    "LOOKUP_RANGE": Place("methods", "method-ngram"),
    "CONTEXT_TOO_LONG": Place("parameters", "batch"),
    "SUFFIX_PACKAGE_MISSING": Place("methods", "method-suffix"),
    "DEVICE_OUT_OF_MEMORY": _MEMORY,
    "SHARED_MEMORY_TOO_SMALL": _STOPPED,
    "KV_CACHE_TOO_SMALL": _MEMORY,
    "HOST_OUT_OF_MEMORY": _STOPPED,
    "PORT_IN_USE": Place("disaggregation", "connector"),
    "DEVICE_NOT_FOUND": Place("ascend", "platform"),
    "CUDA_GRAPH_CAPTURE_FAILED": Place("parameters", "graphs"),
    "COMPILER_MISSING": _STOPPED,
    "DRAFTER_SHAPE_MISMATCH": Place("methods", "method-eagle3"),
    "PIPELINE_PARALLEL_UNSUPPORTED": Place("parameters", "scheduling"),
    "KV_TRANSFER_FAILED": Place("disaggregation", "connector"),
    "MIN_P_REFUSED": Place("parameters", "scheduling"),
    "WORKER_STUCK": _STOPPED,
    "WORKER_FAILED": _STOPPED,
    "CONFIG_REFUSED": _REFUSED,
    "ENGINE_START_FAILED": _STOPPED,
    "ENGINE_DIED": _STOPPED,
    "ZERO_ACCEPTANCE": _RUNS_BADLY,
    "LOW_ACCEPTANCE": Place("tuning", "thresholds"),
    "ACCEPTANCE_FELL": Place("tuning", "over-time"),
}
"""Where the guide explains what a log was diagnosed with."""

CATEGORIES: Mapping[str, Place] = {
    "ascend-graph": Place("parameters", "enforce-eager"),
    "ascend-version": Place("parameters", "engine"),
    "async-scheduling": Place("parameters", "scheduling"),
    "batch-limit": Place("parameters", "batch"),
    "broken-image": _STOPPED,
    "control-panel": Place("parameters", "engine"),
    "crash": _STOPPED,
    "cudagraph": Place("parameters", "graphs"),
    "data-parallel": Place("disaggregation", "layout"),
    "device": Place("ascend", "platform"),
    "disaggregation": Place("disaggregation", "role-counts"),
    "draft-loading": Place("parameters", "checkpoint"),
    "environment": Place("ascend", "platform"),
    "k-limit": _COUNT,
    "lora": Place("parameters", "batch"),
    "low-acceptance": Place("tuning", "thresholds"),
    "memory": _MEMORY,
    "missing-drafter": _CONFIG,
    "missing-package": Place("methods", "method-suffix"),
    "missing-weights": _MTP,
    "mount": Place("ascend", "kimi"),
    "no-metrics": Place("verification", "counters"),
    "other": _REFUSED,
    "pipeline-parallel": Place("parameters", "scheduling"),
    "port": Place("disaggregation", "connector"),
    "quoting": _QUOTING,
    "slower-than-baseline": Place("why", "load"),
    "structured-output": _RUNS_BADLY,
    "tensor-parallel": Place("disaggregation", "layout"),
    "token-budget": Place("parameters", "batch"),
    "tool-calls": _RUNS_BADLY,
    "unknown-flag": Place("parameters", "extra-flags"),
    "unsupported-method": Place("methods", "table"),
    "zero-acceptance": _RUNS_BADLY,
}
"""What a whole category of findings leads to, where the code has no entry of its own."""

_PANEL = _("this panel")
_CATALOG = _("the catalog, which names a source for each fact")
_VLLM = _("vLLM 0.32.0, engine arguments")
_ASCEND = _("vllm-ascend 0.23.0 documentation")
_PARALLEL = FieldHelp(Place("disaggregation", "layout"), _VLLM)
_ROLE_COUNT = FieldHelp(Place("disaggregation", "role-counts"), _ASCEND)
_HOSTS = FieldHelp(Place("disaggregation", "roles"), _PANEL)
_DEVICES = FieldHelp(Place("ascend", "platform"), _ASCEND)
_PORT = FieldHelp(Place("disaggregation", "connector"), _PANEL)
_WORKLOAD = FieldHelp(Place("why", "load"), _("arXiv 2503.01840, table 5"))
FIELDS: Mapping[str, FieldHelp] = {
    "q": FieldHelp(Place("choosing", "counts"), _CATALOG),
    "has": FieldHelp(Place("choosing", "tree"), _CATALOG),
    "model": FieldHelp(Place("why", "draft-and-verify"), _CATALOG),
    "checkpoint": FieldHelp(Place("parameters", "checkpoint"), _CATALOG),
    "place": FieldHelp(Place("parameters", "engine"), _PANEL),
    "find": FieldHelp(Place("rules", "rules-hosts"), _PANEL),
    "cluster": FieldHelp(Place("rules", "rules-hosts"), _PANEL),
    "host": FieldHelp(Place("rules", "rules-memory"), _PANEL),
    "platform": _DEVICES,
    "platform_hosts": FieldHelp(Place("parameters", "memory"), _PANEL),
    "platform_devices": _DEVICES,
    "platform_device": FieldHelp(Place("parameters", "memory"), _PANEL),
    "platform_memory": FieldHelp(Place("parameters", "memory"), _PANEL),
    "platform_architecture": FieldHelp(Place("ascend", "platform"), _ASCEND),
    "preset": FieldHelp(Place("why", "load"), _PANEL),
    "input_tokens": FieldHelp(Place("why", "memory-bound"), _PANEL),
    "output_tokens": FieldHelp(Place("why", "memory-bound"), _PANEL),
    "concurrency": _WORKLOAD,
    "goal": _WORKLOAD,
    "method": FieldHelp(Place("methods", "table"), _("vLLM 0.8.5 to 0.33.0, sources")),
    "drafter": FieldHelp(Place("parameters", "checkpoint"), _CATALOG),
    "pin": FieldHelp(Place("methods", "table"), _PANEL),
    "name": FieldHelp(Place("verification", "start-line"), _PANEL),
    "served_model_name": FieldHelp(Place("verification", "throughput"), _VLLM),
    "tokens": FieldHelp(
        Place("parameters", "count"), _("vLLM 0.32.0, speculative config")
    ),
    "topology": FieldHelp(Place("disaggregation", "roles"), _ASCEND),
    "prefill_host": _HOSTS,
    "decode_host": _HOSTS,
    "image_source": FieldHelp(Place("parameters", "engine"), _PANEL),
    "image": FieldHelp(Place("parameters", "engine"), _PANEL),
    "engine": FieldHelp(
        Place("parameters", "engine"), _("the sources of each engine version")
    ),
    "max_model_len": FieldHelp(Place("parameters", "batch"), _VLLM),
    "max_num_seqs": FieldHelp(
        Place("parameters", "batch"), _("vLLM 0.32.0, scheduler")
    ),
    "max_num_batched_tokens": FieldHelp(
        Place("parameters", "batch"), _("vLLM 0.32.0, scheduler")
    ),
    "memory_percent": FieldHelp(Place("parameters", "memory"), _VLLM),
    "features": FieldHelp(Place("parameters", "extra-flags"), _PANEL),
    "api_key": FieldHelp(Place("parameters", "endpoint-key"), _VLLM),
    "canary": FieldHelp(Place("choosing", "counts"), _PANEL),
    "environment": FieldHelp(Place("parameters", "extra-flags"), _PANEL),
    "extra_flags": FieldHelp(Place("parameters", "extra-flags"), _PANEL),
    "devices": _DEVICES,
    "tp": _PARALLEL,
    "dp": _PARALLEL,
    "pp": _PARALLEL,
    "port": _PORT,
    "prefill_devices": _DEVICES,
    "prefill_tp": _PARALLEL,
    "prefill_dp": _PARALLEL,
    "prefill_pp": _PARALLEL,
    "prefill_port": _PORT,
    "prefill_tokens": _ROLE_COUNT,
    "decode_devices": _DEVICES,
    "decode_tp": _PARALLEL,
    "decode_dp": _PARALLEL,
    "decode_pp": _PARALLEL,
    "decode_port": _PORT,
    "decode_tokens": _ROLE_COUNT,
}
"""By the field's name, ``combined_`` left out."""

_METHODS = {
    member.value: Place("methods", f"method-{member.value}") for member in Method
}
_FINDINGS = {code: Place("rules", f"rule-{code}") for code in RULES}


def place_of(code: str, category: str = "") -> Place | None:
    """Where the guide explains a finding, a diagnosis or a method, else what its category is about.

    ``None`` where the guide has nothing to say.
    """
    exact = _FINDINGS.get(code) or DIAGNOSES.get(code) or _METHODS.get(code)
    return exact or CATEGORIES.get(category)
