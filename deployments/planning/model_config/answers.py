"""A reading with the answers that a person gave to its open questions."""

from collections.abc import Mapping
from dataclasses import replace

from deployments.planning.catalog import Attention, Experts
from deployments.planning.model_config.reading import ModelReading

Answer = str | int | bool | Attention | Experts


def answered(reading: ModelReading, answers: Mapping[str, Answer]) -> ModelReading:
    """Fill in what was asked for; what the files said cannot be overruled here.

    An answer to whether the weights hold MTP layers settles the same for the model.
    """
    asked = {one.name for one in reading.asked}
    told = {name: value for name, value in answers.items() if name in asked}
    if told.get("holds_mtp") is True and reading.has_mtp is None:
        told.setdefault("has_mtp", True)
    left = tuple(one for one in reading.asked if one.name not in told)
    return replace(reading, asked=left, **told)  # type: ignore[arg-type]
