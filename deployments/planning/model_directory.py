"""Model directories of a host as a look found them: whether they are complete, and what they hold."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from deployments.planning.canonical import Json, digest_of
from deployments.planning.documents import to_document
from deployments.planning.errors import PlanningError
from deployments.planning.model_config.documents import CONFIG, read_config
from deployments.planning.model_config.reading import ModelReading, read_model
from deployments.planning.reading import read_document
from deployments.planning.text import NOTHING, Text, text

_STRICT = ConfigDict(extra="forbid")
Size = Annotated[int, Field(ge=0, le=1 << 53)]
Name = Annotated[str, Field(max_length=600, pattern=r"^[^\x00-\x1f\x7f]*$")]
File = tuple[Name, Size | None, Size | None, Name]
"""Name, bytes, bytes that its header implies (``None`` for no safetensors file), code of a trouble."""


class DirectoryState(StrEnum):
    """Whether an engine could load what lies in a directory."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    UNREADABLE = "unreadable"
    UNCHECKED = "unchecked"


class Cut(StrEnum):
    """What ended a look before everything was seen."""

    ENTRIES = "entries"
    DIRECTORIES = "directories"
    TIME = "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundIndex:
    """The file that names every shard; sizes are in bytes."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: Name
    sha256: Name
    files: tuple[Name, ...]
    problem: Name
    total_size: Size | None
    total_parameters: Size | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDirectory:
    """One directory. ``odd`` says that its name is no plain text, so that no plan can use it.

    ``tensors`` are bytes by tensor, the experts of a layer together; ``None`` unless every header
    was read. Codes of troubles are those of ``services.directory_script``.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: Name
    odd: bool
    problem: Name
    config: str | None
    config_problem: Name
    index: FoundIndex | None
    files: tuple[File, ...]
    tensors: dict[Name, Size] | None

    @property
    def weight_bytes(self) -> int | None:
        """Bytes of all weight files together, ``None`` as long as one is not known."""
        sizes = [size for _name, size, _wanted, _problem in self.files]
        known = [size for size in sizes if size is not None]
        return sum(known) if known and len(known) == len(sizes) else None

    @property
    def digest(self) -> str:
        """Digest of what lies there, to tell a directory that changed from one seen again."""
        return digest_of(to_document(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What one root holds. ``others`` are its entries that hold no model."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    entries: Size
    others: Size
    cut: Cut | None
    problem: Name
    directories: tuple[FoundDirectory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether a directory can be served; ``problem`` and ``fix`` are empty where it can."""

    state: DirectoryState
    problem: Text = NOTHING
    fix: Text = NOTHING


def read_listing(document: Json) -> Listing:
    """Read the answer of a look, which came out of somebody else's image.

    Raises:
        PlanningError: it is none.
    """
    if isinstance(document, dict) and document.get("cut") == "":
        document = {**document, "cut": None}
    try:
        return read_document(Listing, document, text("answer of the container"))
    except UnicodeEncodeError as error:
        raise PlanningError(text("The answer of the container is no text.")) from error


def judge(found: FoundDirectory, path: str) -> Judgement:
    """Say whether a directory of the host can be served, and what to mend first."""
    if found.problem:
        return _directory_trouble(found.problem, path)
    if found.config is None and not _needs_no_config(found.files):
        return _file_trouble(found.config_problem, CONFIG, path)
    if found.index is not None and found.index.problem:
        return _file_trouble(found.index.problem, found.index.name, path)
    if not found.files:
        return Judgement(
            state=DirectoryState.INCOMPLETE,
            problem=text("{path} holds a config.json and no weights", path=path),
            fix=text("Copy the weights there."),
        )
    return _weights(found.files, path)


def reading_of(found: FoundDirectory, source: str) -> ModelReading | None:
    """What config.json and the headers of the weights say, ``None`` without a usable config.json.

    ``source`` names the host and the day, for everybody who meets the entry later.
    """
    if found.config is None:
        return None
    try:
        config = read_config(found.config.encode())
    except (PlanningError, UnicodeEncodeError):
        return None
    return read_model(config, _index(found), source=source)


def _index(found: FoundDirectory) -> dict[str, Json] | None:
    metadata: dict[str, Json] = {}
    index = found.index
    if index is not None and index.total_parameters:
        metadata["total_parameters"] = index.total_parameters
    if found.tensors is None:
        if index is not None and index.total_size:
            metadata["total_size"] = index.total_size
        return {"metadata": metadata} if metadata else None
    metadata["total_size"] = sum(found.tensors.values())
    return {
        "metadata": metadata,
        "weight_map": dict.fromkeys(found.tensors, ""),
    }


def _needs_no_config(files: Iterable[File]) -> bool:
    return any(name.endswith(".gguf") for name, *_rest in files)


def _weights(files: tuple[File, ...], path: str) -> Judgement:
    worst = next((file for file in files if file[3] and file[3] != "large"), None)
    missing = [name for name, _size, _wanted, problem in files if problem == "missing"]
    if worst is not None and worst[3] == "missing" and len(missing) > 1:
        return Judgement(
            state=DirectoryState.INCOMPLETE,
            problem=text(
                "{file} and {more} more of {total} weight files are missing in {path}",
                file=worst[0],
                more=len(missing) - 1,
                total=len(files),
                path=path,
            ),
            fix=text("Copy them there, or download the checkpoint again."),
        )
    if worst is not None:
        return _file_trouble(worst[3], worst[0], path)
    for name, size, wanted, problem in files:
        if size is not None and wanted is not None and size != wanted:
            return _length(name, size, wanted, path)
        if wanted is None:
            return Judgement(
                state=DirectoryState.UNCHECKED,
                problem=text(
                    "The header of {file} in {path} is larger than is read",
                    file=name,
                    path=path,
                )
                if problem
                else text(
                    "{file} in {path} does not say how long it should be",
                    file=name,
                    path=path,
                ),
                fix=text("Compare it with where it came from, by its checksum."),
            )
    return Judgement(state=DirectoryState.COMPLETE)


def _length(name: str, size: int, wanted: int, path: str) -> Judgement:
    if size < wanted:
        problem = text(
            "{file} in {path} is cut off: it has {size} of {wanted} bytes",
            file=name,
            path=path,
            size=size,
            wanted=wanted,
        )
    else:
        problem = text(
            "{file} in {path} is damaged: it has {size} bytes, its header says {wanted}",
            file=name,
            path=path,
            size=size,
            wanted=wanted,
        )
    return Judgement(
        state=DirectoryState.INCOMPLETE,
        problem=problem,
        fix=text("Copy that file again."),
    )


def _directory_trouble(problem: str, path: str) -> Judgement:
    if problem == "missing":
        return Judgement(
            state=DirectoryState.INCOMPLETE,
            problem=text("{path} is not there", path=path),
            fix=text("Copy the checkpoint there."),
        )
    if problem == "link_out":
        return Judgement(
            state=DirectoryState.UNREADABLE,
            problem=text(
                "{path} is a link that leads out of the model directory", path=path
            ),
            fix=text(
                "Move the files below the model directory, or name their own place as one."
            ),
        )
    return Judgement(
        state=DirectoryState.UNREADABLE,
        problem=text("{path} may not be read by the user of the containers", path=path),
        fix=_grant(path),
    )


def _file_trouble(problem: str, name: str, path: str) -> Judgement:
    hidden = problem in {"unreadable", "link_out"}
    return Judgement(
        state=DirectoryState.UNREADABLE if hidden else DirectoryState.INCOMPLETE,
        problem=_said(problem, name, path),
        fix=_fix(problem, path),
    )


def _said(problem: str, name: str, path: str) -> Text:
    known = {
        "missing": text("{file} is missing in {path}", file=name, path=path),
        "unreadable": text(
            "{file} in {path} may not be read by the user of the containers",
            file=name,
            path=path,
        ),
        "link_out": text(
            "{file} in {path} is a link that leads out of the directory, which is all that a "
            "container sees",
            file=name,
            path=path,
        ),
        "pointer": text(
            "{file} in {path} is a pointer of Git LFS and holds no weights",
            file=name,
            path=path,
        ),
        "no_file": text("{file} in {path} is no plain file", file=name, path=path),
        "odd_name": text(
            "The index in {path} names {file}, which is no plain file name",
            file=name,
            path=path,
        ),
        "header": text(
            "{file} in {path} is damaged: its header cannot be read",
            file=name,
            path=path,
        ),
        "large": text("{file} in {path} is larger than is read", file=name, path=path),
    }
    return known.get(problem) or text(
        "{file} in {path} cannot be read as what it should be", file=name, path=path
    )


def _fix(problem: str, path: str) -> Text:
    known = {
        "missing": text("Copy that file there."),
        "unreadable": _grant(path),
        "link_out": text(
            "Put the file itself in its place: cp -L, or download without links."
        ),
        "pointer": text("Run git lfs pull there, or download the file."),
        "odd_name": text("Copy the index again."),
    }
    return known.get(problem) or text("Copy that file again.")


def _grant(path: str) -> Text:
    return text("Grant it on the host: chmod -R a+rX {path}", path=path)
