"""SpeculativeConfig: the typed value of ``--speculative-config``."""

from dataclasses import dataclass

from deployments.planning.canonical import Json
from deployments.planning.engines.profile import EngineProfile
from deployments.planning.methods import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculativeConfig:
    """How one replica drafts.

    ``model`` is the drafter's path in the container, ``None`` where the drafter is the target
    itself or nothing. ``draft_eager`` keeps the drafter out of graph capture; the target keeps its
    graph. ``None`` leaves a key out. ``target_model_type`` is that of the target's ``config.json``:
    before vLLM 0.11.0 it decides how MTP is spelt.
    """

    method: Method
    num_speculative_tokens: int
    model: str | None = None
    draft_eager: bool | None = None
    draft_tensor_parallel_size: int | None = None
    max_model_len: int | None = None
    prompt_lookup_max: int | None = None
    target_model_type: str | None = None

    def document(self, profile: EngineProfile) -> dict[str, Json]:
        """Return the JSON object in the spelling of an engine version, unknown keys left out."""
        values: dict[str, Json] = {
            "method": profile.spell(self.method, self.target_model_type),
            "model": self.model,
            "num_speculative_tokens": self.num_speculative_tokens,
            "enforce_eager": self.draft_eager or None,
            "draft_tensor_parallel_size": self.draft_tensor_parallel_size,
            "max_model_len": self.max_model_len,
            "prompt_lookup_max": self.prompt_lookup_max,
        }
        return {
            key: value
            for key, value in values.items()
            if value is not None and key in profile.speculative_keys
        }
