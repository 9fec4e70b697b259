"""How long a replica may take to answer: one number for engine, health check and panel."""

from deployments.planning.context import PlanContext, RoleSettings
from deployments.planning.sizing.quantisation import UNQUANTISED, weight_sizes

READ_BYTES_PER_S = 400_000_000
"""Assumed rate of reading weights from shared storage into devices; local NVMe is several times faster."""
START_S = 300
"""Imports, process groups and profiling (assumed)."""
CAPTURE_S = 600
"""Compilation and graph capture with empty caches (assumed; vLLM recipes allow 1800 to 3600 s in all)."""
SHORTEST_S = 900
LONGEST_S = 4 * 3600
PRACTICE_READY_DEADLINE_S = 300
READY_TIMEOUT = "VLLM_ENGINE_READY_TIMEOUT_S"
MINUTE_S = 60


def ready_deadline(context: PlanContext, settings: RoleSettings) -> int:
    """Return the seconds that loading and graph capture may take, in whole minutes.

    Weights over the read rate, plus start and capture; a longer documented
    VLLM_ENGINE_READY_TIMEOUT_S wins. Weights of unknown size count as the parameters in their
    quantisation, then as the memory that the documents ask for.
    """
    if context.practice:
        return PRACTICE_READY_DEADLINE_S
    seconds = START_S + CAPTURE_S + -(-_bytes_to_read(context) // READ_BYTES_PER_S)
    documented = settings.layout.serving.environment.get(READY_TIMEOUT, "")
    if documented.isdigit():
        seconds = max(seconds, int(documented))
    whole = -(-seconds // MINUTE_S) * MINUTE_S
    return min(max(whole, SHORTEST_S), LONGEST_S)


def _bytes_to_read(context: PlanContext) -> int:
    checkpoint = context.checkpoint
    sizes = weight_sizes(checkpoint.quantisation)
    routed = sizes.routed if sizes else UNQUANTISED
    weights = (
        checkpoint.size_bytes
        or int(routed * (context.model.parameters or 0))
        or checkpoint.memory_minimum_bytes
        or 0
    )
    drafter = context.drafter
    return weights + ((drafter.size_bytes or 0) if drafter else 0)
