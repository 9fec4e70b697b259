"""A reading, with what people add to it, as an entry of the catalog; and refining a known entry."""

from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from deployments.planning.canonical import Json
from deployments.planning.catalog import (
    Checkpoint,
    Drafter,
    TargetModel,
    parse_target_model,
)
from deployments.planning.documents import to_document
from deployments.planning.errors import PlanningError
from deployments.planning.model_config.documents import CONFIG, INDEX
from deployments.planning.model_config.reading import ModelReading
from deployments.planning.platforms import PLATFORMS
from deployments.planning.text import text

FROM_CONFIG = "imported config.json"
FROM_INDEX = "imported model.safetensors.index.json"
FROM_PERSON = "stated at the import"
_FACTS = (
    "architecture",
    "model_type",
    "layers",
    "hidden_size",
    "vocabulary_size",
    "context_length",
    "attention",
    "experts",
    "mtp_layers",
    "has_mtp",
    "parameters",
)
_LAID = ("hidden_size", "layers", "vocabulary_size", "context_length", "architecture")


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What no file says: what the weights are called, where they lie and where they may run."""

    key: str
    name: str
    family: str
    checkpoint: str
    repository: str
    directory: str
    platforms: tuple[str, ...]
    stated: tuple[str, ...] = field(default=())
    active_parameters: int | None = None


def entry_of(reading: ModelReading, naming: Naming) -> TargetModel:
    """Make the entry of a target model with one checkpoint.

    Raises:
        PlanningError: the reading is a drafter's, or a name cannot be used.
    """
    _refuse_drafter(reading)
    sources = {
        name: FROM_PERSON if name in naming.stated else reading.source or FROM_CONFIG
        for name in _FACTS
        if getattr(reading, name) is not None
    }
    if naming.active_parameters is not None:
        sources["active_parameters"] = FROM_PERSON
    model = TargetModel(
        key=naming.key,
        name=naming.name,
        family=naming.family,
        sources=sources,
        checkpoints=(checkpoint_of(reading, naming),),
        active_parameters=naming.active_parameters,
        eagle3_interface=reading.eagle3_interface,
        **{name: getattr(reading, name) for name in _FACTS},
    )
    return parse_target_model(to_document(model))


def checkpoint_of(reading: ModelReading, naming: Naming) -> Checkpoint:
    """The checkpoint whose files were read."""
    looked = reading.holds_mtp is not None and "holds_mtp" not in naming.stated
    return Checkpoint(
        key=naming.checkpoint,
        repository=naming.repository,
        directory=naming.directory,
        platforms=naming.platforms,
        quantisation=reading.quantisation,
        quantization_flag=reading.quantization_flag,
        size_bytes=reading.size_bytes,
        holds_mtp=reading.holds_mtp,
        source=reading.source
        or (FROM_INDEX if looked and reading.has_mtp else FROM_CONFIG),
    )


def with_checkpoint(model: TargetModel, checkpoint: Checkpoint) -> TargetModel:
    """The entry with the checkpoint added, or in the place of the one with its key."""
    others = [one for one in model.checkpoints if one.key != checkpoint.key]
    changed = replace(model, checkpoints=(*others, checkpoint))
    return parse_target_model(to_document(changed))


def with_drafter(model: TargetModel, drafter: Drafter) -> TargetModel:
    """The entry with the drafter bound to it, or in the place of the one with its key."""
    others = [one for one in model.drafters if one.key != drafter.key]
    return parse_target_model(to_document(replace(model, drafters=(drafter, *others))))


def entry_of_path(
    path: str, reading: ModelReading, checkpoint: str | None = None
) -> TargetModel:
    """The entry of weights that only a path and their files describe.

    Raises:
        PlanningError: the reading is a drafter's, or the path ends in no plain name.
    """
    name = PurePosixPath(path).name
    return entry_of(
        reading,
        Naming(
            key=path,
            name=name,
            family=reading.model_type or "",
            checkpoint=checkpoint or reading.quantisation or "default",
            repository=path,
            directory=name,
            platforms=tuple(sorted(PLATFORMS)),
        ),
    )


def refined(model: TargetModel, key: str, reading: ModelReading) -> TargetModel:
    """A known entry with what the files of one of its checkpoints show.

    Raises:
        PlanningError: the reading is a drafter's or of another architecture, or there is no such
            checkpoint.
    """
    refuse_other_model(model, reading)
    old = model.checkpoint(key)
    new = replace(
        old,
        quantisation=old.quantisation or reading.quantisation,
        size_bytes=reading.size_bytes or old.size_bytes,
        holds_mtp=old.holds_mtp if reading.holds_mtp is None else reading.holds_mtp,
        source=old.source if reading.holds_mtp is None else INDEX,
    )
    told = {
        name: getattr(reading, name)
        for name in (*_LAID, "attention", "experts")
        if getattr(reading, name) is not None
    }
    checkpoints = tuple(new if one.key == key else one for one in model.checkpoints)
    return replace(model, checkpoints=checkpoints, **told)


def refuse_other_model(model: TargetModel, reading: ModelReading) -> None:
    """Refuse files that contradict what the catalog says of the model.

    Raises:
        PlanningError: the reading is a drafter's or of another model.
    """
    _refuse_drafter(reading)
    for name in ("hidden_size", "vocabulary_size", "layers"):
        known, read = getattr(model, name), getattr(reading, name)
        if known is not None and read is not None and known != read:
            raise PlanningError(
                text(
                    "The {file} is not of {model}: its {name} is {read}, the catalog says {known}.",
                    file=CONFIG,
                    model=model.name,
                    name=name,
                    read=read,
                    known=known,
                )
            )


def documents_of(models: tuple[TargetModel, ...]) -> list[Json]:
    """Entries as documents without what is unknown or empty, for files that people edit."""
    return [_lean(to_document(model)) for model in models]


def _lean(value: Json) -> Json:
    if isinstance(value, dict):
        lean = {key: _lean(item) for key, item in value.items()}
        return {
            key: item
            for key, item in lean.items()
            if item is not None and item not in ([], {})
        }
    return [_lean(item) for item in value] if isinstance(value, list) else value


def _refuse_drafter(reading: ModelReading) -> None:
    if not reading.target:
        raise PlanningError(
            text(
                "The {file} is a drafter's ({why}), not a target model's; give that of the model "
                "whose output is served.",
                file=CONFIG,
                why=reading.because,
            )
        )
