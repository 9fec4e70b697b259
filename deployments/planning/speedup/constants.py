"""The fitted constants of the speed model, with the file that says how they were fitted."""

import functools
import json
from dataclasses import dataclass, fields
from importlib import resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Times in milliseconds, shares between 0 and 1. ``benchmarks/fit_speedup.py`` fits them.

    ``bandwidth_share`` and ``compute_share`` are the reached parts of the published peaks,
    ``prefill_compute_share`` the same for prompts. ``layer_ms`` is one layer's launch and
    synchronisation, ``step_ms`` the host's part of every step, ``collective_ms`` one all-reduce.
    ``window_spread`` is how many independently routed tokens one drafted token counts for: tokens
    of one sequence share experts. ``launch_ms`` is the shortest draft pass, ``host_ms`` and
    ``request_ms`` what a speculative step adds and adds per sequence (rejection sampling, batch
    metadata); the ``early`` ones are for engines of 2024 and early 2025, and ``early_launch_ms``
    also for a drafter that runs without a captured graph. ``unhidden_host_ms`` is added where a
    method turns asynchronous scheduling off, ``parallel_ms`` where all tokens are drafted in one
    pass, ``recurrent_layer_ms`` for each layer of a model with linear attention.
    ``lookup_share`` is the part of the asked tokens that n-gram and suffix really draft.
    """

    bandwidth_share: float
    compute_share: float
    prefill_compute_share: float
    layer_ms: float
    step_ms: float
    collective_ms: float
    window_spread: float
    launch_ms: float
    early_launch_ms: float
    host_ms: float
    early_host_ms: float
    request_ms: float
    early_request_ms: float
    unhidden_host_ms: float
    parallel_ms: float
    recurrent_layer_ms: float
    lookup_share: float


CONSTANT_NAMES = tuple(field.name for field in fields(Constants))


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """How far predictions were from measurements that the constants had not seen.

    ``median`` and ``ninety`` are relative errors; nine of ten measurements lay within ``ninety``.
    """

    name: str
    rows: int
    median: float
    ninety: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The shipped constants, their error bands and what they were fitted on."""

    constants: Constants
    bands: dict[str, Band]
    rows: int
    sources: int
    points_sha256: str


@functools.cache
def shipped_fit() -> Fit:
    """Return the fit that ships with the panel; constant data of this package."""
    folder = resources.files("deployments.planning.speedup") / "data"
    document = json.loads((folder / "constants.json").read_text(encoding="utf-8"))
    values = {
        name: float(entry["value"]) for name, entry in document["constants"].items()
    }
    bands = {
        name: Band(name=name, **entry) for name, entry in document["bands"].items()
    }
    return Fit(
        constants=Constants(**values),
        bands=bands,
        rows=document["fitted_on"]["rows"],
        sources=document["fitted_on"]["sources"],
        points_sha256=document["fitted_on"]["points_sha256"],
    )


def shipped_constants() -> Constants:
    """Return the constants that ship with the panel."""
    return shipped_fit().constants
