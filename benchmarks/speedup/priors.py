"""What is believed about each constant before any point is looked at, and how firmly."""

from dataclasses import dataclass

from deployments.planning.speedup.constants import Constants


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """A constant's value beforehand; ``spread`` is the standard deviation of its logarithm."""

    value: float
    spread: float
    unit: str
    basis: str


PRIORS = {
    "bandwidth_share": Prior(
        value=0.80,
        spread=0.1,
        unit="of peak",
        basis="AIConfigurator uses 0.8 for every NVIDIA system",
    ),
    "compute_share": Prior(
        value=0.45,
        spread=0.4,
        unit="of peak",
        basis="assumed: small matrices between tiles",
    ),
    "prefill_compute_share": Prior(
        value=0.50,
        spread=0.3,
        unit="of peak",
        basis="assumed: large matrices",
    ),
    "layer_ms": Prior(
        value=0.045,
        spread=0.3,
        unit="ms",
        basis="assumed: about ten kernels of 3 to 5 microseconds that no roof covers",
    ),
    "step_ms": Prior(
        value=0.3, spread=0.7, unit="ms", basis="assumed: sampling and scheduling"
    ),
    "collective_ms": Prior(
        value=0.012,
        spread=0.5,
        unit="ms",
        basis="AIConfigurator: 10 microseconds point to point",
    ),
    "window_spread": Prior(
        value=0.5,
        spread=0.4,
        unit="independent tokens",
        basis="assumed: between all shared (0) and independent (1)",
    ),
    "launch_ms": Prior(
        value=0.25, spread=0.4, unit="ms", basis="assumed: a captured pass"
    ),
    "early_launch_ms": Prior(
        value=0.9,
        spread=0.4,
        unit="ms",
        basis="assumed: uncaptured, about three times as long (trace in vllm#17504)",
    ),
    "host_ms": Prior(
        value=0.5,
        spread=0.6,
        unit="ms",
        basis="assumed: half of the early one, since scheduling overlaps",
    ),
    "early_host_ms": Prior(
        value=0.6,
        spread=0.6,
        unit="ms",
        basis="assumed; SpecDecode-Bench's simulator has 1.2 ms for the whole host",
    ),
    "request_ms": Prior(
        value=0.015, spread=0.7, unit="ms", basis="assumed: batch metadata"
    ),
    "early_request_ms": Prior(
        value=0.03, spread=0.7, unit="ms", basis="assumed: a loop over requests"
    ),
    "unhidden_host_ms": Prior(
        value=1.2,
        spread=0.7,
        unit="ms",
        basis="SpecDecode-Bench's simulator: 1.207 ms host time per step",
    ),
    "parallel_ms": Prior(
        value=0.5, spread=0.7, unit="ms", basis="assumed: masks and metadata rebuilt"
    ),
    "recurrent_layer_ms": Prior(
        value=0.1,
        spread=0.7,
        unit="ms",
        basis="assumed: states of every position are written and one is chosen",
    ),
    "lookup_share": Prior(
        value=0.75,
        spread=0.15,
        unit="of asked tokens",
        basis="assumed: a look-up without a match drafts nothing",
    ),
}


def prior_constants() -> Constants:
    """Return the model before any fit."""
    return Constants(**{name: prior.value for name, prior in PRIORS.items()})
