"""The longest context of a model, as vLLM derives it from its config.json."""

from deployments.planning.canonical import Json
from deployments.planning.model_config.values import Config

KEYS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "max_sequence_length",
)
"""Spellings that vLLM 0.32.0 reads."""
UNSCALED = frozenset({"su", "longrope", "llama3", "mrope", "default", "proportional"})


def context_length(config: Config) -> tuple[int, str] | None:
    """(tokens, where read); rope scaling counts as in vLLM: yarn from the original length."""
    found = config.number(*KEYS)
    if found is None or found[0] == 0:
        return None
    length, place = found
    scaling = config.inner("rope_scaling", "rope_parameters")
    kind = (scaling.name("rope_type", "type") or "default") if scaling else "default"
    factor = _factor(scaling.values.get("factor")) if scaling else None
    if scaling is None or kind in UNSCALED or factor is None:
        return length, place
    original = scaling.count("original_max_position_embeddings")
    if "yarn" in kind and original:
        return int(original * factor), scaling.path("factor")
    return int(length * factor), scaling.path("factor")


def _factor(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 1 <= value <= 4096 else None
