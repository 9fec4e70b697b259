"""The config.json and index of a model that a command was given."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from deployments.planning.canonical import Json
from deployments.planning.catalog import TargetModel, find_target_model
from deployments.planning.errors import PlanningError
from deployments.planning.model_config.documents import (
    CONFIG,
    INDEX,
    LARGEST_CONFIG_BYTES,
    LARGEST_INDEX_BYTES,
    read_config,
    read_index,
)
from deployments.planning.model_config.entry import entry_of_path, refined
from deployments.planning.model_config.reading import ModelReading, Open, read_model
from deployments.planning.sizing.index import total_size, with_size
from deployments.planning.snapshot import HostSnapshot
from deployments.services.catalog import shipped_documents


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Paths of the files, ``None`` for those not given."""

    config: str | None
    index: str | None

    def target(
        self, name: str, checkpoint: str | None
    ) -> tuple[TargetModel, tuple[Open, ...]]:
        """The target model of that name or path, with what the files leave open.

        Raises:
            PlanningError: the catalog does not know it and there is no config.json, or a file
                cannot be read or is of another model.
        """
        if self.config is None:
            return self._of_catalog(name, checkpoint), ()
        reading = self._reading(self.config)
        known = _known(name)
        if known is None:
            return entry_of_path(name, reading, checkpoint), reading.asked
        if checkpoint is None:
            raise PlanningError(
                f"--config-json needs the checkpoint of {known.name} that it belongs to; name one."
            )
        return refined(known, checkpoint, reading), ()

    def _of_catalog(self, name: str, checkpoint: str | None) -> TargetModel:
        try:
            model = find_target_model(shipped_documents(), name)
        except PlanningError as error:
            raise PlanningError(
                f"{error} For a model outside the catalog give its config.json with --config-json."
            ) from error
        if self.index is None:
            return model
        if checkpoint is None:
            raise PlanningError("--index-json needs a checkpoint; name one.")
        return with_size(model, checkpoint, total_size(self._index()))

    def _reading(self, config: str) -> ModelReading:
        content = _content(config, CONFIG, LARGEST_CONFIG_BYTES)
        index = self._index() if self.index is not None else None
        return read_model(read_config(content), index)

    def _index(self) -> dict[str, Json]:
        return read_index(_content(str(self.index), INDEX, LARGEST_INDEX_BYTES))


def with_root(hosts: tuple[HostSnapshot, ...], model: str) -> tuple[HostSnapshot, ...]:
    """Hosts without a model directory of their own take the one that an absolute path names."""
    path = PurePosixPath(model)
    if not path.is_absolute() or path.parent == path:
        return hosts
    root = str(path.parent)
    return tuple(
        host if host.model_root else replace(host, model_root=root) for host in hosts
    )


def asked_answer(asked: Iterable[Open]) -> Json:
    """The open questions for ``--json``."""
    return [{"name": one.name, "why": str(one.why)} for one in asked]


def asked_lines(asked: Iterable[Open]) -> list[str]:
    """The open questions for people."""
    return [f"not known: {one.name}. {one.why}" for one in asked]


def _known(name: str) -> TargetModel | None:
    try:
        return find_target_model(shipped_documents(), name)
    except PlanningError:
        return None


def _content(name: str, what: str, most: int) -> bytes:
    try:
        with Path(name).open("rb") as file:
            return file.read(most + 1)
    except OSError as error:
        raise PlanningError(
            f"The {what} {name} cannot be read: {error.strerror}."
        ) from error
