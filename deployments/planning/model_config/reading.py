"""A config.json, with the index of its weights if there is one, as facts and open questions."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from pydantic import ConfigDict

from deployments.planning.canonical import Json
from deployments.planning.catalog import Attention, Experts
from deployments.planning.methods import Method
from deployments.planning.model_config.attention import read_attention
from deployments.planning.model_config.drafter import DrafterReading, read_drafter
from deployments.planning.model_config.length import context_length
from deployments.planning.model_config.mtp import MtpReading, read_mtp
from deployments.planning.model_config.quantisation import read_quantisation
from deployments.planning.model_config.values import Config, text_config
from deployments.planning.sizing.index import total_size
from deployments.planning.text import Text, text

EAGLE3_INTERFACE = frozenset(
    [
        "AfmoeForCausalLM",
        "ApertusForCausalLM",
        "DeepseekV2ForCausalLM",
        "DeepseekV3ForCausalLM",
        "DeepseekV32ForCausalLM",
        "DeepseekV4ForCausalLM",
        "GptOssForCausalLM",
        "GraniteForCausalLM",
        "KimiK25ForConditionalGeneration",
        "LlamaForCausalLM",
        "Llama4ForConditionalGeneration",
        "MiniCPMForCausalLM",
        "MiniMaxM2ForCausalLM",
        "MiniMaxM3SparseForConditionalGeneration",
        "MiMoV2FlashForCausalLM",
        "Mistral3ForConditionalGeneration",
        "NemotronHForCausalLM",
        "Qwen2ForCausalLM",
        "Qwen2_5_VLForConditionalGeneration",
        "Qwen3ForCausalLM",
        "Qwen3MoeForCausalLM",
        "Qwen3NextForCausalLM",
        "Qwen3_5ForConditionalGeneration",
        "Qwen3_5MoeForConditionalGeneration",
        "Qwen3VLForConditionalGeneration",
    ]
)
NO_EAGLE3_INTERFACE = frozenset({"Glm4MoeForCausalLM"})
"""Architectures whose class has, or lacks, the EAGLE-3 interface in vLLM 0.32.0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A fact that the files do not give: its name and why it has to be asked for."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    why: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReading:
    """What the files say. ``None`` is unknown; ``asked`` says of what and why.

    ``method`` is that of a drafter, ``None`` for a target. Sizes are bytes, parameters counts.
    ``places`` names the key that a fact was read from, by the fact's name. ``source`` names the
    host whose files were read, ``None`` for files that somebody gave.
    """

    target: bool
    because: Text
    architecture: str | None = None
    model_type: str | None = None
    layers: int | None = None
    hidden_size: int | None = None
    vocabulary_size: int | None = None
    context_length: int | None = None
    attention: Attention | None = None
    experts: Experts | None = None
    parameters: int | None = None
    quantisation: str | None = None
    quantization_flag: str | None = None
    size_bytes: int | None = None
    mtp_layers: int | None = None
    has_mtp: bool | None = None
    holds_mtp: bool | None = None
    eagle3_interface: bool | None = None
    method: Method | None = None
    draft_vocabulary_size: int | None = None
    num_speculative_tokens: int | None = None
    verifier: str | None = None
    verifier_architectures: tuple[str, ...] = ()
    places: dict[str, str]
    asked: tuple[Open, ...] = ()
    source: str | None = None

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def question(self, name: str) -> Open | None:
        """Why a fact is asked for, ``None`` where it was read."""
        return next((one for one in self.asked if one.name == name), None)


def read_model(
    config: dict[str, Json],
    index: dict[str, Json] | None = None,
    *,
    source: str | None = None,
) -> ModelReading:
    """Read a config.json and the index of the same directory, which lies at ``source``."""
    whole = Config(config)
    inner = text_config(whole)
    architectures = whole.names("architectures") or inner.names("architectures")
    drafter = read_drafter(whole, architectures)
    if drafter is not None:
        reading = _drafter(whole, architectures, drafter, index)
    else:
        reading = _Target(whole, inner, architectures, index).reading()
    return replace(reading, source=source)


@dataclass(frozen=True, slots=True)
class _Target:
    """The pieces of a target model; ``places`` and ``asked`` fill up as they are read."""

    whole: Config
    inner: Config
    architectures: tuple[str, ...]
    index: dict[str, Json] | None
    places: dict[str, str] = field(default_factory=dict)
    asked: list[Open] = field(default_factory=list)

    def reading(self) -> ModelReading:
        """All facts together."""
        name, flag = self._quantisation()
        declared, has_mtp, holds = self._mtp()
        experts, unknown = _experts(self.inner)
        self.asked.extend(unknown)
        size, unknown = _size(self.index)
        self.asked.extend(unknown)
        if not self.architectures:
            self.asked.append(_missing("architecture", "architectures"))
        return ModelReading(
            target=True,
            because=text("No sign of a drafter in the file."),
            architecture=next(iter(self.architectures), None),
            model_type=self.inner.name("model_type") or self.whole.name("model_type"),
            layers=self._read("layers", "num_hidden_layers", "n_layer", "num_layers"),
            hidden_size=self._read("hidden_size", "hidden_size", "n_embd", "d_model"),
            vocabulary_size=self._read("vocabulary_size", "vocab_size"),
            context_length=self._context(),
            attention=self._attention(),
            experts=experts,
            parameters=self._parameters(),
            quantisation=name,
            quantization_flag=flag,
            size_bytes=size,
            mtp_layers=declared,
            has_mtp=has_mtp,
            holds_mtp=holds,
            eagle3_interface=_eagle3(self.architectures),
            places=self.places,
            asked=tuple(self.asked),
        )

    def _read(self, name: str, *keys: str) -> int | None:
        found = self.inner.number(*keys) or self.whole.number(*keys)
        if found is None or found[0] == 0:
            self.asked.append(_missing(name, *keys))
            return None
        self.places[name] = found[1]
        return found[0]

    def _context(self) -> int | None:
        length = context_length(self.inner)
        if length is None:
            self.asked.append(_missing("context_length", "max_position_embeddings"))
            return None
        self.places["context_length"] = length[1]
        return length[0]

    def _attention(self) -> Attention | None:
        found = read_attention(self.inner)
        if found.why is not None:
            self.asked.append(Open(name="attention", why=found.why))
        if found.place:
            self.places["attention"] = found.place
        return found.attention

    def _quantisation(self) -> tuple[str | None, str | None]:
        found = read_quantisation(self.whole, self.inner)
        if found.name is None:
            why = found.why or text("The files do not name it.")
            self.asked.append(Open(name="quantisation", why=why))
        elif found.place:
            self.places["quantisation"] = found.place
        return found.name, found.flag

    def _mtp(self) -> tuple[int | None, bool | None, bool | None]:
        found = read_mtp(self.whole, self.inner, self.architectures, self.index)
        if found.place:
            self.places["mtp_layers"] = found.place
        has_mtp, holds, unknown = _mtp(found)
        self.asked.extend(unknown)
        return found.declared, has_mtp, holds

    def _parameters(self) -> int | None:
        found = _parameters(self.index)
        if found is None:
            why = text("No file states how many parameters the model has.")
            self.asked.append(Open(name="parameters", why=why))
        return found


def _drafter(
    whole: Config,
    architectures: tuple[str, ...],
    found: DrafterReading,
    index: dict[str, Json] | None,
) -> ModelReading:
    asked: list[Open] = []
    if found.method is None:
        asked.append(
            Open(
                name="method",
                why=text(
                    "The panel does not know this type ({why}).", why=found.because
                ),
            )
        )
    if found.hidden_size is None:
        asked.append(_missing("hidden_size", "target_hidden_size", "hidden_size"))
    if found.vocabulary_size is None:
        asked.append(_missing("vocabulary_size", "vocab_size"))
    size, open_size = _size(index)
    layer = whole.inner("transformer_layer_config") or whole
    return ModelReading(
        target=False,
        because=found.because,
        architecture=next(iter(architectures), None),
        model_type=whole.name("model_type", "speculators_model_type"),
        layers=layer.count("num_hidden_layers"),
        hidden_size=found.hidden_size,
        vocabulary_size=found.vocabulary_size,
        size_bytes=size,
        method=found.method,
        draft_vocabulary_size=found.draft_vocabulary_size,
        num_speculative_tokens=found.num_speculative_tokens,
        verifier=found.verifier,
        verifier_architectures=found.verifier_architectures,
        places={},
        asked=(*asked, *open_size),
    )


def _missing(name: str, *keys: str) -> Open:
    return Open(name=name, why=text("The file has no {keys}.", keys=" / ".join(keys)))


def _experts(config: Config) -> tuple[Experts | None, list[Open]]:
    total = config.count(
        "n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts"
    )
    if not total or total == 1:
        return None, []
    active = config.count(
        "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "top_k"
    )
    if active:
        return Experts(total=total, active=active), []
    return None, [_missing("experts", "num_experts_per_tok")]


def _mtp(mtp: MtpReading) -> tuple[bool | None, bool | None, list[Open]]:
    """(whether an engine drafts with it, whether the weights hold it, what is open)."""
    if mtp.declared == 0 and not mtp.held:
        return False, False, []
    if mtp.declared is None and not mtp.held and not mtp.routed:
        return False, False, []
    if not mtp.routed:
        why = text(
            "MTP layers are there, but the panel knows no engine that uses them."
        )
        return None, mtp.held, [Open(name="has_mtp", why=why)]
    if mtp.held is None:
        why = text(
            "Only the index of the weights shows whether they hold the MTP layers; the "
            "config.json alone does not count."
        )
        has = True if mtp.declared else None
        asked = [Open(name="holds_mtp", why=why)]
        if has is None:
            asked.append(_missing("has_mtp", "num_nextn_predict_layers"))
        return has, None, asked
    return True, mtp.held, []


def _size(index: dict[str, Json] | None) -> tuple[int | None, list[Open]]:
    metadata = index.get("metadata") if index is not None else None
    if isinstance(metadata, dict) and Config(metadata).count("total_size"):
        return total_size(index), []
    why = text(
        "The exact size stands in the index of the weights (metadata.total_size)."
    )
    return None, [Open(name="size_bytes", why=why)]


def _parameters(index: dict[str, Json] | None) -> int | None:
    metadata = index.get("metadata") if index is not None else None
    if not isinstance(metadata, dict):
        return None
    return Config(metadata).count("total_parameters") or None


def _eagle3(architectures: tuple[str, ...]) -> bool | None:
    if not EAGLE3_INTERFACE.isdisjoint(architectures):
        return True
    return None if NO_EAGLE3_INTERFACE.isdisjoint(architectures) else False
