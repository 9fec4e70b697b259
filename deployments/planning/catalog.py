"""TargetModel, Checkpoint, Drafter: what is known about a model, and who says so."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import ConfigDict

from deployments.planning.canonical import Json
from deployments.planning.errors import PlanningError
from deployments.planning.features import Feature
from deployments.planning.methods import Method, normalise_method
from deployments.planning.plan import Role
from deployments.planning.reading import read_document
from deployments.planning.serving import ServingProfile
from deployments.planning.text import Text, listed, text

_STRICT = ConfigDict(extra="forbid")
_DIRECTORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """What the KV cache of one token is made of; ``kind`` is mla, gqa, dsa_mla, hybrid_gdn, ..."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    kind: str
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    kv_lora_rank: int | None = None
    qk_rope_head_dim: int | None = None
    sliding_window: int | None = None
    index_topk: int | None = None
    full_attention_interval: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """Routed experts of a mixture-of-experts model, and how many work on one token."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    total: int
    active: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareNeed:
    """A documented minimum: that many hosts of a platform with that many devices each."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    platform: str
    hosts: int
    devices_per_host: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One set of a target model's weights.

    ``directory`` is its name under the host's model root. ``quantization_flag`` is the value of
    ``--quantization`` that the engine needs, ``None`` when it reads it from the weights.
    ``holds_mtp`` says whether the weights really hold the MTP layers, ``None`` when nobody looked.
    ``memory_minimum_bytes`` is the documented sum of device memory that serves it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    key: str
    repository: str
    directory: str
    platforms: tuple[str, ...]
    source: str
    quantisation: str | None = None
    quantization_flag: str | None = None
    size_bytes: int | None = None
    memory_minimum_bytes: int | None = None
    holds_mtp: bool | None = None
    minimum: tuple[HardwareNeed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafter:
    """Weights that draft for this target model with one method.

    ``checkpoints`` limits it to some checkpoints of the model, ``max_model_len`` to a context.
    ``inside_checkpoint`` means that the named checkpoints hold the drafter themselves.
    ``draft_tensor_parallel_size`` is documented only where it differs from the target's.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    key: str
    method: Method
    repository: str
    directory: str
    platforms: tuple[str, ...]
    source: str
    size_bytes: int | None = None
    num_speculative_tokens: int | None = None
    max_model_len: int | None = None
    draft_tensor_parallel_size: int | None = None
    checkpoints: tuple[str, ...] = ()
    inside_checkpoint: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedCount:
    """Somebody's published num_speculative_tokens.

    Empty ``platforms`` or ``roles`` mean all. ``followed`` is false for a claim that the engine's
    own documents contradict: it is shown, never used. ``draft_eager`` is the documented
    ``enforce_eager`` inside the speculative config, ``None`` where the documents leave it out.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    method: Method
    num_speculative_tokens: int
    source: str
    platforms: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    draft_eager: bool | None = None
    followed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetModel:
    """A model whose output is served.

    Parameters are counts, ``context_length`` is in tokens. ``has_mtp`` says whether the engine can
    draft with MTP layers of this model, ``mtp_layers`` how many it was trained with.
    ``equal_counts_across_roles`` is true where prefill and decode must draft the same number
    (state of hybrid models). ``sources`` names who stated each fact.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    key: str
    name: str
    family: str
    sources: dict[str, str]
    checkpoints: tuple[Checkpoint, ...]
    model_type: str | None = None
    architecture: str | None = None
    parameters: int | None = None
    active_parameters: int | None = None
    context_length: int | None = None
    layers: int | None = None
    hidden_size: int | None = None
    vocabulary_size: int | None = None
    attention: Attention | None = None
    experts: Experts | None = None
    has_mtp: bool | None = None
    mtp_layers: int | None = None
    eagle3_interface: bool | None = None
    equal_counts_across_roles: bool = False
    minimum_engines: dict[str, str] = field(default_factory=dict)
    drafters: tuple[Drafter, ...] = ()
    counts: tuple[DocumentedCount, ...] = ()
    serving: tuple[ServingProfile, ...] = ()
    features: tuple[Feature, ...] = ()

    def checkpoint(self, key: str) -> Checkpoint:
        """Return one checkpoint.

        Raises:
            PlanningError: the model has no such checkpoint.
        """
        for checkpoint in self.checkpoints:
            if checkpoint.key == key:
                return checkpoint
        known = listed(checkpoint.key for checkpoint in self.checkpoints)
        raise PlanningError(
            text(
                "{model} has no checkpoint {key} in the catalog; choose one of: {known}.",
                model=self.name,
                key=repr(key),
                known=known,
            )
        )

    def drafter(self, key: str) -> Drafter:
        """Return one drafter by key or repository.

        Raises:
            PlanningError: the catalog binds no such drafter to this model.
        """
        for drafter in self.drafters:
            if key in (drafter.key, drafter.repository):
                return drafter
        known = listed(drafter.key for drafter in self.drafters) or text("none")
        raise PlanningError(
            text(
                "The catalog binds no drafter {key} to {model}; it knows: {known}.",
                key=repr(key),
                model=self.name,
                known=known,
            )
        )


def parse_target_model(document: Json) -> TargetModel:
    """Read one catalog entry.

    Raises:
        PlanningError: a key is missing, unknown or of the wrong kind, a method is misspelt, two
            checkpoints or drafters share a key, or a drafter names a checkpoint that is not there.
    """
    name = document.get("key") if isinstance(document, dict) else None
    model = read_document(
        TargetModel,
        _with_normal_methods(document),
        text("catalog entry {name}", name=str(name)),
    )
    keys = [checkpoint.key for checkpoint in model.checkpoints]
    _refuse_repeated(keys, text("checkpoint of {model}", model=model.key))
    _refuse_repeated(
        [drafter.key for drafter in model.drafters],
        text("drafter of {model}", model=model.key),
    )
    _refuse_outside(model)
    for drafter in model.drafters:
        for checkpoint in drafter.checkpoints:
            if checkpoint not in keys:
                raise PlanningError(
                    text(
                        "The drafter {drafter} of {model} names the checkpoint {checkpoint}, which the entry "
                        "does not have.",
                        drafter=drafter.key,
                        model=model.key,
                        checkpoint=checkpoint,
                    )
                )
    return model


def _refuse_outside(model: TargetModel) -> None:
    names = [checkpoint.directory for checkpoint in model.checkpoints]
    names += [drafter.directory for drafter in model.drafters]
    for name in names:
        if _DIRECTORY.fullmatch(name) is None:
            raise PlanningError(
                text(
                    "The directory {name} of {model} is not one plain name under the model root; use "
                    "letters, digits, dots, dashes and underscores.",
                    name=repr(name),
                    model=model.key,
                )
            )


def _with_normal_methods(document: Json) -> Json:
    if not isinstance(document, dict):
        return document
    changed = dict(document)
    for group in ("drafters", "counts"):
        entries = changed.get(group)
        if isinstance(entries, list):
            changed[group] = [_with_normal_method(entry) for entry in entries]
    return changed


def _with_normal_method(entry: Json) -> Json:
    if isinstance(entry, dict) and isinstance(entry.get("method"), str):
        return {**entry, "method": normalise_method(str(entry["method"])).value}
    return entry


def _refuse_repeated(keys: list[str], what: Text) -> None:
    for key in sorted(set(keys)):
        if keys.count(key) > 1:
            raise PlanningError(
                text("The {what} named {key} appears twice.", what=what, key=key)
            )


def find_target_model(documents: Iterable[Json], name: str) -> TargetModel:
    """Return the entry whose key, or whose last part of the key, is ``name`` in any case.

    Raises:
        PlanningError: no entry, or several, answer to the name.
    """
    wanted = name.lower()
    keys: dict[str, Json] = {}
    for document in documents:
        if isinstance(document, dict):
            keys[str(document.get("key"))] = document
    found = [key for key in keys if wanted in (key.lower(), key.lower().split("/")[-1])]
    if len(found) == 1:
        return parse_target_model(keys[found[0]])
    near = difflib.get_close_matches(name, keys, n=3, cutoff=0.4)
    if near:
        raise PlanningError(
            text(
                "The catalog has no model {name}; did you mean {near}.",
                name=repr(name),
                near=listed(near),
            )
        )
    raise PlanningError(text("The catalog has no model {name}.", name=repr(name)))
