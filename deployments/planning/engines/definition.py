"""EngineProfile: what one version of an engine accepts."""

import functools
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from deployments.planning.engines.accepted import (
    Flag,
    Metric,
    SpeculativeKey,
    Spelling,
    UnknownKeys,
)
from deployments.planning.methods import Method
from deployments.planning.versions import Version, parse_version

VLLM = "vllm"
VLLM_ASCEND = "vllm-ascend"
ENGINES = (VLLM, VLLM_ASCEND)
DEEPSEEK_MTP = "deepseek_mtp"
MTP_WORDS = {
    "deepseek_v3": DEEPSEEK_MTP,
    "ernie4_5_moe": "ernie_mtp",
    "mimo": "mimo_mtp",
    "qwen3_next": "qwen3_next_mtp",
    "glm4_moe": "glm4_moe_mtp",
}
"""Spellings before vLLM 0.11.0, by ``model_type`` of the target (sources, 0.9.0 to 0.10.2)."""


@dataclass(frozen=True, kw_only=True)
class EngineProfile:
    """One version of an engine.

    ``vllm_version`` is the vLLM release underneath, the version itself for ``vllm``.
    ``entrypoint`` is that of the official image: ``()`` for none, ``None`` for not known.
    ``dashed_keys`` is true where ``-`` may stand for ``_`` in keys of the speculative config.
    ``max_tokens_per_step`` limits num_speculative_tokens + 1, ``None`` for no known limit.
    ``capture_limit_tokens`` is the largest graph that the engine captures unasked.
    ``draft_eager_effective`` is false where ``enforce_eager`` for the drafter does nothing.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    engine: str
    version: str
    vllm_version: str
    source: str
    arguments: tuple[Flag, ...]
    keys: tuple[SpeculativeKey, ...]
    spellings: tuple[Spelling, ...]
    unknown_keys: UnknownKeys
    metrics: tuple[Metric, ...]
    capture_limit_tokens: int
    entrypoint: tuple[str, ...] | None = None
    dashed_keys: bool = False
    max_tokens_per_step: int | None = None
    draft_eager_effective: bool = True

    @property
    def name(self) -> str:
        """The way a revision names it: ``vllm==0.32.0``."""
        return f"{self.engine}=={self.version}"

    @functools.cached_property
    def vllm(self) -> Version:
        """The vLLM release underneath, to compare with."""
        return parse_version(self.vllm_version)

    @functools.cached_property
    def flags(self) -> tuple[str, ...]:
        """Every spelling of the flags that have no ``--no-`` form."""
        return tuple(
            name
            for flag in self.arguments
            if flag.negated is None
            for name in flag.names
        )

    @functools.cached_property
    def switches(self) -> tuple[str, ...]:
        """Every spelling of the flags that have a ``--no-`` form."""
        return tuple(
            name for flag in self.arguments if flag.negated for name in flag.names
        )

    @functools.cached_property
    def negated(self) -> tuple[str, ...]:
        """The ``--no-`` forms of the switches."""
        return tuple(flag.negated for flag in self.arguments if flag.negated)

    @functools.cached_property
    def speculative_keys(self) -> tuple[str, ...]:
        """The names of the keys of ``--speculative-config``."""
        return tuple(key.name for key in self.keys)

    @functools.cached_property
    def methods(self) -> tuple[Method, ...]:
        """The methods that run, in the order in which they are weighed."""
        running = {one.method for one in self.spellings if one.runs}
        return tuple(method for method in Method if method in running)

    def flag(self, name: str) -> Flag | None:
        """The flag that a spelling names, aliases and ``--no-`` forms included."""
        return self._flags_by_name.get(name)

    def key(self, name: str) -> SpeculativeKey | None:
        """The key of the speculative config, read with dashes where the version does so."""
        plain = name.replace("-", "_") if self.dashed_keys else name
        return next((key for key in self.keys if key.name == plain), None)

    def spelling(self, name: str) -> Spelling | None:
        """The value of ``method``; case matters to the engine."""
        return next((one for one in self.spellings if one.name == name), None)

    def knows(self, flag: str) -> bool:
        """Whether the version accepts the flag, ``--no-`` forms of switches included."""
        return flag in self._flags_by_name

    def knows_key(self, key: str) -> bool:
        """Whether the version accepts the key of the speculative config."""
        return self.key(key) is not None

    def spell(self, method: Method, model_type: str | None = None) -> str:
        """Return how this version wants the method spelt.

        Before vLLM 0.11.0 there is no ``mtp``: the target's ``model_type`` (``config.json``)
        decides, ``deepseek_mtp`` where it has no word of its own.
        """
        if method is not Method.MTP or self.spelling(Method.MTP.value) is not None:
            return method.value
        own = MTP_WORDS.get(model_type or "", DEEPSEEK_MTP)
        return own if self.spelling(own) is not None else DEEPSEEK_MTP

    @functools.cached_property
    def _flags_by_name(self) -> dict[str, Flag]:
        found = {name: flag for flag in self.arguments for name in flag.names}
        found.update({flag.negated: flag for flag in self.arguments if flag.negated})
        return found
