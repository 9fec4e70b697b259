"""What is known of each rule over plans without a plan at hand: its code, its subject, how bad it is."""

from dataclasses import dataclass

from deployments.planning.plan import Severity

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCard:
    """A rule over plans. ``severities`` are those that it can have, the worst first."""

    code: str
    category: str
    severities: tuple[Severity, ...]


_TABLE: dict[str, tuple[str, tuple[Severity, ...]]] = {
    "METHOD_CLOSED": ("unsupported-method", (ERROR,)),
    "SPECULATION_OFF": ("other", (INFO,)),
    "MTP_WEIGHTS_UNCHECKED": ("missing-weights", (WARNING,)),
    "DRAFTER_FIT_UNCHECKED": ("missing-drafter", (INFO,)),
    "ASYNC_SCHEDULING_OFF": ("async-scheduling", (INFO,)),
    "DRAFTER_RUNS_EAGER": ("ascend-graph", (INFO,)),
    "COUNT_ABOVE_KERNEL_LIMIT": ("k-limit", (ERROR,)),
    "COUNT_BELOW_METHOD_LIMIT": ("k-limit", (ERROR,)),
    "COUNT_NOT_DIVISIBLE": ("k-limit", (ERROR,)),
    "MTP_LAYER_REUSED": ("k-limit", (WARNING, INFO)),
    "COUNT_CLAIM_NOT_FOLLOWED": ("k-limit", (INFO,)),
    "CAPTURE_SIZES_NOT_MULTIPLES": ("cudagraph", (ERROR, WARNING)),
    "CAPTURE_COVERAGE_SHORT": ("cudagraph", (WARNING,)),
    "BATCHED_TOKENS_SHORT": ("token-budget", (ERROR, WARNING)),
    "BATCH_BELOW_CONCURRENCY": ("batch-limit", (WARNING,)),
    "LENGTH_ABOVE_CONTEXT": ("token-budget", (ERROR,)),
    "LENGTH_BELOW_WORKLOAD": ("token-budget", (WARNING,)),
    "BELOW_DOCUMENTED_HARDWARE": ("memory", (ERROR,)),
    "MEMORY_BELOW_MINIMUM": ("memory", (ERROR,)),
    "MEMORY_DOES_NOT_FIT": ("memory", (ERROR,)),
    "MEMORY_TIGHT": ("memory", (WARNING,)),
    "MEMORY_UNKNOWN": ("memory", (INFO,)),
    "CONTEXT_SHORTENED": ("memory", (WARNING, INFO)),
    "LAYOUT_WIDENED": ("tensor-parallel", (INFO,)),
    "LAYOUT_ASSUMED": ("tensor-parallel", (INFO,)),
    "DEVICES_INSUFFICIENT": ("device", (ERROR,)),
    "PORT_TAKEN": ("port", (ERROR,)),
    "DRAFTER_ON_ONE_SIDE": ("disaggregation", (ERROR, WARNING)),
    "COUNTS_DIFFER_ACROSS_ROLES": ("disaggregation", (ERROR,)),
    "PREFILL_DRAFTS_IN_VAIN": ("disaggregation", (WARNING,)),
    "PREFILL_TENSOR_PARALLEL": ("disaggregation", (ERROR,)),
    "ROUTER_PLANNED": ("disaggregation", (INFO,)),
    "KV_CONNECTOR_TOO_NEW": ("disaggregation", (ERROR,)),
    "KV_TRANSFER_OVER_TCP": ("disaggregation", (WARNING,)),
    "NO_KV_CONNECTOR": ("disaggregation", (ERROR,)),
    "ENGINE_TOO_OLD": ("other", (ERROR,)),
    "IMAGE_NOT_PUBLISHED": ("broken-image", (WARNING,)),
    "DRIVER_NEEDED": ("ascend-version", (WARNING, INFO)),
    "CUDA_DRIVER_OLD": ("environment", (WARNING,)),
    "PLATFORM_NOT_DOCUMENTED": ("other", (WARNING,)),
    "LENGTH_NEEDED": ("token-budget", (ERROR,)),
    "PRACTICE_IMAGE": ("control-panel", (INFO,)),
    "IMAGE_UNRESOLVED": ("broken-image", (INFO,)),
    "BEYOND_CONTAINER_FLOOR": ("environment", (INFO,)),
    "WEIGHTS_INCOMPLETE": ("missing-weights", (WARNING,)),
    "WEIGHTS_ABSENT": ("missing-weights", (WARNING,)),
    "MODEL_ROOT_NOT_ALLOWED": ("mount", (ERROR,)),
    "MODEL_ROOT_UNKNOWN": ("mount", (ERROR, WARNING)),
    "HOST_ADDRESS_UNKNOWN": ("environment", (ERROR, WARNING)),
    "HEAD_ADDRESS_UNKNOWN": ("environment", (ERROR, WARNING)),
    "HOST_INTERFACE_UNKNOWN": ("environment", (ERROR, WARNING)),
    "API_KEY_UNKNOWN": ("environment", (ERROR,)),
    "PUBLIC_PORT_WITHOUT_KEY": ("port", (WARNING,)),
    "ROUTER_ASKS_NO_KEY": ("disaggregation", (WARNING,)),
    "API_KEY_STOPS_AT_ROUTER": ("disaggregation", (ERROR,)),
    "ENVIRONMENT_FORBIDDEN": ("environment", (ERROR,)),
    "ENVIRONMENT_MANAGED": ("environment", (ERROR,)),
    "ENVIRONMENT_HOLDS_SECRET": ("environment", (ERROR,)),
    "ENVIRONMENT_HAS_DOLLAR": ("environment", (ERROR,)),
    "PIPELINE_WITH_DRAFTING": ("pipeline-parallel", (ERROR,)),
    "PIPELINE_ON_DECODE": ("pipeline-parallel", (ERROR,)),
    "FLAG_UNKNOWN": ("unknown-flag", (ERROR,)),
    "FLAG_NOT_IN_RELEASE": ("unknown-flag", (ERROR,)),
    "FLAG_MANAGED": ("unknown-flag", (ERROR,)),
    "FLAG_FORBIDDEN": ("unknown-flag", (ERROR,)),
    "FLAG_VALUE_HAS_DOLLAR": ("unknown-flag", (ERROR,)),
    "FLAG_VALUE_IS_FLAG": ("unknown-flag", (ERROR,)),
}
PLAN_CARDS: tuple[PlanCard, ...] = tuple(
    PlanCard(code=code, category=category, severities=severities)
    for code, (category, severities) in _TABLE.items()
)
"""Every code that a finding of a plan can have, for the reference pages."""
