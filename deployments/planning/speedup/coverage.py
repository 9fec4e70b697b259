"""Where the measurements behind the model end, in sentences."""

from deployments.planning.methods import Method
from deployments.planning.speedup.shape import ModelShape
from deployments.planning.speedup.step_time import Serving
from deployments.planning.text import Text, listed, text

LARGEST_MEASURED_CONCURRENCY = 64
LARGE_MIXTURE_PARAMETERS = 100e9
LARGE_MIXTURE_CONCURRENCY = 16
LONG_CONTEXT = 16_000
MEASURED_METHODS = (Method.MTP, Method.EAGLE3, Method.EAGLE, Method.SUFFIX)


def covered(shape: ModelShape, serving: Serving, method: Method) -> int:
    """Return up to which concurrency published measurements resemble this case; 0 for none."""
    if method not in MEASURED_METHODS:
        return 0
    if (
        serving.accelerator.platform.startswith("ascend")
        and method is not Method.SUFFIX
    ):
        return 0
    if _large_mixture(shape):
        return LARGE_MIXTURE_CONCURRENCY
    return LARGEST_MEASURED_CONCURRENCY


def warnings(
    shape: ModelShape, serving: Serving, method: Method, highest: int
) -> tuple[Text, ...]:
    """Return what the measurements do not tell about this case."""
    device = serving.accelerator
    named = {
        text(
            "No published measurement with its acceptance has more than 64 concurrent sequences: "
            "measure first above that."
        ): highest > LARGEST_MEASURED_CONCURRENCY,
        text(
            "Large mixture-of-experts models under load are hardly measured, and single reports "
            "lose from about 32 concurrent sequences on: measure first above 16."
        ): _large_mixture(shape) and highest > LARGE_MIXTURE_CONCURRENCY,
        text(
            "Ascend is measured with suffix on one model only; this is an estimate."
        ): device.platform.startswith("ascend"),
        text(
            "Public figures of {device} disagree or are missing ({source}): use a measured "
            "bandwidth if there is one.",
            device=device.title,
            source=device.source,
        ): not device.reliable,
        text(
            "No usable published pair of measurements drafts with {method}.",
            method=method.value,
        ): method not in MEASURED_METHODS,
        text(
            "Only three published rows have contexts above 16,000 tokens."
        ): serving.context_tokens > LONG_CONTEXT,
        text(
            "Derived from the model's size, for want of a document: {names}.",
            names=listed(shape.assumed),
        ): bool(shape.assumed),
    }
    return tuple(warning for warning, holds in named.items() if holds)


def _large_mixture(shape: ModelShape) -> bool:
    return shape.mixture and shape.parameters > LARGE_MIXTURE_PARAMETERS
