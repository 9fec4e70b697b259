"""Exact size of a checkpoint from its ``model.safetensors.index.json``."""

from dataclasses import replace

from deployments.planning.canonical import Json
from deployments.planning.catalog import TargetModel
from deployments.planning.errors import PlanningError
from deployments.planning.text import text


def total_size(document: Json) -> int:
    """Return ``metadata.total_size`` in bytes.

    Raises:
        PlanningError: the document has none.
    """
    metadata = document.get("metadata") if isinstance(document, dict) else None
    size = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(size, bool) or not isinstance(size, int | float) or size <= 0:
        raise PlanningError(
            text(
                "The weights' index has no metadata.total_size; give model.safetensors.index.json as "
                "it was published."
            )
        )
    return int(size)


def with_size(model: TargetModel, key: str, size_bytes: int) -> TargetModel:
    """Return the model with the size of one checkpoint known.

    Raises:
        PlanningError: the model has no such checkpoint.
    """
    wanted = model.checkpoint(key)
    return replace(
        model,
        checkpoints=tuple(
            replace(one, size_bytes=size_bytes) if one.key == wanted.key else one
            for one in model.checkpoints
        ),
    )
